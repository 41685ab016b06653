import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { databaseOfExample, startReleases, startWarehouse } from './harness/guide-servers.ts'
import { startRealProvider } from './harness/identity-provider.ts'
import { prepareStage, type Stage, tokenOf } from './harness/process.ts'

/**
 * The commands of the guides, run as a reader would: the `sh` blocks of a document in order, in one shell, in a separate
 * directory with a new service. The lines that begin with `# ` below a command are its output, with … for parts that vary.
 */

const root = join(import.meta.dirname, '..')

type Block = { readonly lines: readonly string[]; readonly before: string }

function blocksOf(document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(({ 1: lines = '', index }) => ({
    lines: lines.trimEnd().split('\n'),
    before: text.slice(0, index).trimEnd().split('\n').at(-1) ?? '',
  }))
}

const isSkipped = ({ before }: Block) => /^<!-- not run: \S.* -->$/.test(before)
const startsService = ({ before }: Block) => before === '<!-- starts the service -->'

const providerOfExample = 'https://acme.okta.com'
const apiOfExample = 'https://api.github.com'

/** How many rows the tables have at the end, by document. */
const tablesOf: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'docs/http-api.md': { releases: 150 },
  'docs/bring-your-own-connector.md': { squares: 3, hello: 2, singing: 2 },
}

/** Values of the test, by the example that the document shows instead. */
type Shown = Readonly<Record<string, string>>

/** Commands with the answer that is shown below them. */
type Step = { commands: string[]; shown: string[] }

function stepsOf(lines: readonly string[]): Step[] {
  const steps: Step[] = [{ commands: [], shown: [] }]
  let end: string | undefined
  for (const line of lines) {
    const last = steps.at(-1) as Step
    if (end !== undefined || !/^#(?: |$)/.test(line)) {
      if (last.shown.length > 0) steps.push({ commands: [line], shown: [] })
      else last.commands.push(line)
      end = end === undefined ? /<<'(\w+)'$/.exec(line)?.[1] : line === end ? undefined : end
    } else last.shown.push(line.slice(2))
  }
  return steps
}

const mark = '\u0001step\u0001'
/** `npx` runs the checkout's own programs. A plan that finds something does not fail, but a refusal of the API does. */
const prelude = `set -e
curl() { command curl --fail-with-body "$@"; }
npm() { [ "$*" = ci ]; }
npx() { shift; local code=0; penstock "$@" || code=$?; if [ "$1" = plan ] && [ $code = 2 ]; then code=0; fi; return $code; }
trap 'echo "failed in line $LINENO: $BASH_COMMAND" >&2' ERR`

/** Runs steps in one shell. The answers must contain the shown parts, in order. */
async function runSteps(stage: Stage, steps: readonly Step[], change: (text: string) => string): Promise<void> {
  const script = [prelude, ...steps.map(({ commands }) => `${commands.join('\n')}\nprintf '${mark}'`)].join('\n')
  const file = join(stage.base, 'guide.sh')
  await writeFile(file, change(script))
  const { code, stdout, stderr } = await stage.start('bash', [file], { cwd: stage.base }).ended
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  const answers = stdout.replaceAll('\r\n', '\n').split(mark)
  assert.equal(answers.length, steps.length + 1)
  for (const [index, { shown, commands }] of steps.entries()) {
    let from = 0
    const answer = answers[index] ?? ''
    for (const part of change(shown.join('\n')).split('…')) {
      const at = answer.indexOf(part, from)
      assert(at >= 0, `${commands.join('\n')}\nshows\n${shown.join('\n')}\nand answers\n${answer}`)
      from = at + part.length
    }
  }
}

const documents = globSync('docs/*.md', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((document) => blocksOf(document).length > 0)
  .sort()

test('the guides that have commands are among these', () => {
  for (const slug of ['getting-started', 'backup', 'configuration-as-code'])
    assert(documents.includes(`docs/${slug}.md`))
})

describe('the commands of', { concurrency: 2 }, () => {
  for (const document of documents) {
    const blocks = blocksOf(document).filter((block) => !isSkipped(block))
    test(`${document}: ${blocks.length} blocks`, { skip: blocks.length === 0 }, async (t) => {
      const stage = await prepareStage(t, '.penstock')
      const start = blocks.findIndex(startsService)
      const before = start < 0 ? [] : blocks.slice(0, start)
      const run = (some: readonly Block[], change: (text: string) => string) =>
        runSteps(
          stage,
          some.flatMap(({ lines }) => stepsOf(lines)),
          change,
        )
      if (before.length > 0) await run(before, (text) => text)
      const started = blocks[start]?.lines.join('\n') ?? ''
      const env = Object.fromEntries(
        [...started.matchAll(/(PENSTOCK_\w+)=(\S+)/g)].map(([, name, value = '']) => [
          name,
          value.replaceAll('$PWD', stage.base),
        ]),
      )
      const service = await stage.serve({ env })
      const token = await tokenOf(service, stage.dataDirectory)
      const call = async (path: string, body?: object) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
        const answer = await fetch(`${service.url}/es/v2${path}`, init)
        return ((await answer.json()) as { response: Record<string, string> }).response
      }
      // Example values in the documents that are not variables.
      const shown: Shown = { 'http://127.0.0.1:8080': service.url }
      const text = blocks.map(({ lines }) => lines.join('\n')).join('\n')
      const examples: Record<string, () => Promise<string>> = {
        '3f9c2b7a10d4e856': async () => (await call('/accounts', { name: 'Of an example' })).id ?? '',
        '<id>': async () => (await call('/me')).organizationId ?? '',
      }
      const found: [string, string][] = Object.entries(shown)
      for (const [example, real] of Object.entries(examples))
        if (text.includes(example)) found.push([example, await real()])
      if (text.includes(providerOfExample)) found.push([providerOfExample, (await startRealProvider(t, {})).issuer])
      if (text.includes(apiOfExample)) found.push([apiOfExample, await startReleases(t)])
      const warehouse = text.includes(databaseOfExample) ? await startWarehouse(t) : undefined
      if (warehouse) found.push([databaseOfExample, warehouse.variables])
      const given = text.includes('TOKEN=$(') ? '' : `TOKEN=${token}\nCLIENT_SECRET=secret-of-an-example\n`
      const change = (line: string) =>
        found.reduce((changed, [example, real]) => changed.replaceAll(example, real), line)
      const [first, ...others] = blocks.slice(start + 1)
      if (first) await run([{ ...first, lines: [given, ...first.lines] }, ...others], change)
      for (const [table, rows] of Object.entries(tablesOf[document] ?? {}))
        assert.equal(await warehouse?.rowsOf(table), rows, table)
    })
  }
})
