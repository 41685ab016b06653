import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { connectors } from '@penstock/connectors'
import { errorActions, errors, findingWarnings, transferErrors } from '@penstock/wire'
import { readConfig } from '../packages/server/src/config.ts'

/** The documents agree with the program: settings, errors, commands, and every link. */

const run = promisify(execFile)
const root = dirname(import.meta.dirname)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = globSync('**/*.md', { cwd: root, exclude: (name) => /(?:^|\/)(?:node_modules|\.\w+)$/.test(name) })
const settingPattern = /\b(?:PENSTOCK_[A-Z_]*[A-Z]|DATABASE_URL)\b/g
const named = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([all, part]) => part ?? all))
const settings = named(
  ['config.ts', 'egress-settings.ts', 'secret-manager-settings.ts', 'stream-settings.ts']
    .map((file) => read(`packages/server/src/${file}`))
    .join('\n'),
  settingPattern,
)

/** Fails with all lines, each of which says what is wrong and where. */
function assertNone(wrong: readonly string[]): void {
  assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`)
}

test('operating.md describes every setting, and none that does not exist', () => {
  assert(settings.size > 15 && settings.has('DATABASE_URL'))
  assert.deepEqual([...named(read('docs/operating.md'), settingPattern)].sort(), [...settings].sort())
})

/** Variables that are no settings of the service: of commands that call it, of the Compose file, and of the tests and tools of this repository. */
const otherVariables =
  /^PENSTOCK_(?:URL|TOKEN|DEMO_DIR|SCREENSHOTS|PICTURES|FILM|SIMULATION_STEPS|CANARY|BATCHES|WINDOW_KEYS|DOMAIN|LOAD\w*|(?:TEST|BENCH)(?:_\w+)?)$/

test('no document, test, benchmark or script names a setting that does not exist', () => {
  const code = globSync('{test,bench,demo,scripts,packages/*/src,packages/*/test,.ci,.vscode}/**/*', {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => name === 'node_modules',
  }).flatMap((entry) => (entry.isFile() ? [relative(root, join(entry.parentPath, entry.name))] : []))
  // One file lists names of earlier versions, the other tests messages about wrong ones.
  const excepted = ['test/failed-start.large.test.ts']
  const files = [...documents, ...code, 'package.json'].filter((file) => !excepted.includes(file))
  assert(files.includes('test/harness/worker-processes.ts') && files.includes('bench/service.ts'))
  assertNone(
    files.flatMap((file) =>
      [...named(read(file), settingPattern)]
        .filter((name) => !settings.has(name) && !otherVariables.test(name))
        .map((name) => `${file} names ${name}`),
    ),
  )
})

test('authorizations.md names every platform at which connectors are authorized, and the scopes', () => {
  const text = read('docs/authorizations.md')
  const authorizations = connectors.flatMap(({ authorization }) => authorization ?? [])
  const named = authorizations.flatMap(({ server, scopes }) => [server.slug, ...scopes])
  assertNone([...new Set(named)].filter((name) => !text.includes(`\`${name}\``)))
  const listed = [...text.matchAll(/^\| [^|]+ \| `([\w-]+)` \|/gm)].map(([, slug = '']) => slug)
  assertNone(listed.filter((slug) => !authorizations.some(({ server }) => server.slug === slug)))
})

test('the settings have the defaults that operating.md names', () => {
  const reported = [...read('docs/operating.md').matchAll(/^\| `([A-Z_]+)` \| `([^`|]+)` \|/gm)]
  assert(reported.length >= 8, `only ${reported.length} defaults were found`)
  for (const [, name = '', value = ''] of reported) {
    assert.deepEqual(readConfig({ [name]: value }), readConfig({}), `${name} is not ${value} by default`)
  }
})

test('errors.md has every error, under its status, in its words, and no other', () => {
  const [text = ''] = read('docs/errors.md').split('## Errors of transfers')
  const sections = text.split(/^## (?=\d{3}$)/m).slice(1)
  const reported = sections.flatMap((section) =>
    section
      .split(/^### /m)
      .slice(1)
      .map((entry) => ({
        code: /^`(\w+)`/.exec(entry)?.[1],
        status: Number(section.slice(0, 3)),
        words: entry.replaceAll(/\s+/g, ' '),
      })),
  )
  assert.deepEqual(reported.map(({ code, status }) => `${status} ${code}`).sort(), statusesOf(Object.entries(errors)))
  for (const { code, words } of reported) {
    const { message, when } = errors[code as keyof typeof errors]
    assert(words.includes(message), `${code}: not its message`)
    assert(words.includes(when), `${code}: not when it is answered`)
  }
})

test('errors.md has every error of a transfer under its action, in its words, and no other', () => {
  const [, text = ''] = read('docs/errors.md').split('## Errors of transfers')
  const reported = text
    .split(/^### Action: /m)
    .slice(1)
    .flatMap((section) =>
      [...(section.split('### ')[0] ?? '').matchAll(/^\| `(\w+)` \| (.*) \| (.*) \|$/gm)].map(
        ([, code = '', when, todo]) => [code, { action: /^\w+/.exec(section)?.[0], when, todo }],
      ),
    )
  assert.deepEqual(Object.fromEntries(reported), { ...transferErrors })
  for (const [action, meaning] of Object.entries(errorActions))
    assert(text.includes(`### Action: ${action}\n\n${meaning}`))
})

test('every error of a transfer occurs somewhere in the code', () => {
  const files = globSync('packages/{connector,connectors,engine,server}/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const code = files.map((file) => read(file)).join('\n')
  const missing = Object.keys({ ...transferErrors, ...findingWarnings }).filter((name) => !code.includes(`'${name}'`))
  assert.deepEqual(missing, [])
})

const statusesOf = (entries: [string, { status: number }][]) =>
  entries.map(([code, { status }]) => `${status} ${code}`).sort()

/** Text without code blocks: nothing in them is a link or a heading. */
const prose = (text: string) => text.replaceAll(/^(```+).*\n[\s\S]*?^\1\s*$/gm, '')

/** The anchor that a heading gets where the documents are read. */
const anchorOf = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

test('every relative link leads to a file, and to a heading of it', () => {
  assert(documents.includes('README.md') && documents.includes('docs/operating.md'))
  let links = 0
  const broken = documents.flatMap((document) => {
    const text = prose(read(document)).replaceAll(/`[^`\n]*`(?!\]?\()/g, (code) => (code.includes('](') ? '' : code))
    const targets = [
      ...[...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(([, target = '']) => target),
      ...[...text.matchAll(/^\[[^\]]+\]:\s*<?([^\s>]+)/gm)].map(([, target = '']) => target),
      ...[...text.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, target = '']) => target),
    ]
    return targets
      .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
      .flatMap((target) => {
        links++
        const [path = '', anchor] = target.split('#', 2)
        const file = path === '' ? document : join(dirname(document), decodeURIComponent(path))
        if (file.startsWith('..') || !existsSync(join(root, file))) return [`${document} leads to ${target}`]
        if (anchor === undefined || !file.endsWith('.md')) return []
        const headings = [...prose(read(file)).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
        return headings.includes(anchor) ? [] : [`${document} leads to ${target}, and ${file} has no such heading`]
      })
  })
  assert(links > 20, `only ${links} links were found`)
  assertNone(broken)
})

test('every npm command of the documents is a script', () => {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts)
  const ofNpm = ['ci', 'install', 'pack', 'help', 'exec', 'audit', 'outdated', 'ls']
  const found = documents.flatMap((document) =>
    [...read(document).matchAll(/\bnpm (run )?([a-z][\w:-]*)/g)]
      .filter(([all]) => !/^npm (?:package|packages|scripts?|workspaces?|registry)\b/.test(all))
      .map(([all, run, name = '']) => ({
        document,
        all,
        known: scripts.includes(name) || (!run && ofNpm.includes(name)),
      })),
  )
  assert(found.some(({ document, all }) => document === 'README.md' && all === 'npm start'))
  assert(found.some(({ document, all }) => document === 'README.md' && all === 'npm test'))
  assertNone(found.filter(({ known }) => !known).map(({ document, all }) => `${document}: ${all}`))
})

test('every penstock command of the documents exists, and operating.md describes each one', async () => {
  const table = /^## Commands$([\s\S]*?)^## /m.exec(read('docs/operating.md'))?.[1] ?? ''
  const reported = [...table.matchAll(/(?<=^\|[^|]*)`([a-z-]+(?: [a-z]+(?:-[a-z]+)*)?)\b[^`]*`/gm)].map(
    ([, words = '']) => words,
  )
  const elsewhere = documents.flatMap((document) =>
    [...read(document).matchAll(/(?:npx |`)penstock ([a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)?)(?![\w.-])/g)].map(
      ([, words = '']) => words,
    ),
  )
  const existing = [...read('packages/server/src/cli/program.ts').matchAll(/\.command\('([a-z-]+)/g)].map(
    ([, name]) => name,
  )
  assert(existing.includes('serve') && existing.includes('rotate'))
  const words = reported.join(' ').split(' ')
  assertNone(
    existing.flatMap((name) => (name && name !== 'documents' && !words.includes(name) ? [`penstock ${name}`] : [])),
  )

  // One process asks for the help of them all.
  const commands = [...new Set([...reported, ...elsewhere])]
  const program = JSON.stringify(join(root, 'packages/server/src/cli/program.ts'))
  const script = `const { runCommand } = await import(${program})
for (const command of ${JSON.stringify(commands)}) await runCommand([...command.split(' '), '--help'])`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
  assertNone(commands.filter((command) => command !== 'help' && !stdout.includes(`Usage: penstock ${command} `)))
})

test('the examples of the READMEs of packages compile under strict rules, with error codes that exist', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'penstock-readmes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const compilerOptions = { lib: ['es2024', 'es2025.regexp', 'esnext.disposable', 'dom', 'dom.iterable'] }
  const settings = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  let examples = 0
  // The example of Parquet is a part of a program, which has a file already.
  for (const file of globSync('packages/{client,connect,connector}/README.md', { cwd: root })) {
    for (const [, text = ''] of read(file).matchAll(/```[jt]s\n([\s\S]*?)```/g)) {
      writeFileSync(join(folder, `${file.replaceAll('/', '-')}-${examples++}.ts`), text)
    }
  }
  assert(examples >= 4)
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(({ stdout }) => assert.fail(stdout))
})
