import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'

const repository = dirname(import.meta.dirname)

/** A copy of what the script reads and writes, in which it can make connectors. */
const copy = mkdtempSync(join(tmpdir(), 'penstock-new-connector-'))
after(() => rmSync(copy, { recursive: true, force: true }))
for (const path of ['package.json', 'scripts/new-connector.ts', 'packages/connectors', 'test/echoes', 'test/harness']) {
  mkdirSync(dirname(join(copy, path)), { recursive: true })
  cpSync(join(repository, path), join(copy, path), { recursive: true })
}
symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'))

const run = (...args: string[]) => {
  // Without it, Node treats the tests as a part of this one, and runs none.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', env })
  return { status, output: `${stdout}${stderr}` }
}
const make = (...args: string[]) => run('scripts/new-connector.ts', ...args)
const connectors: [kind: string, ...slugs: string[]][] = [
  ['event', 'acme-events'],
  ['audience', 'acme-audiences'],
  ['report', 'acme-report'],
  ['entities', 'acme-campaigns'],
  ['files', 'acme-files'],
  ['warehouse', 'acme-house-source', 'acme-house-destination'],
]

describe('npm run new:connector', () => {
  for (const [kind, ...slugs] of connectors) {
    const [first = ''] = slugs
    const slug = first.replace(/-source$/, '')
    const platform = ['files', 'warehouse'].includes(kind) ? slug : 'acme'

    test(`makes a connector (${kind}) that passes its tests`, () => {
      const made = make(kind, platform, slug, 'Acme', kind)
      assert.equal(made.status, 0, made.output)
      const tests = globSync(`packages/connectors/src/${platform}/${slug}*.test.ts`, { cwd: copy })
      assert.ok(tests.length > 0)
      const tested = run('--test', ...tests)
      assert.equal(tested.status, 0, tested.output)
      assert.match(tested.output, /^ℹ pass [1-9]/m)
      const listed =
        "import { connectors } from './packages/connectors/src/index.ts'; console.log(connectors.map(({ slug }) => slug).join())"
      const { output } = run('--input-type=module', '--eval', listed)
      for (const one of slugs)
        assert.ok(output.trim().split(',').includes(one), `${one} is not in the catalogue: ${output}`)
    })
  }

  test('writes nothing over a connector that exists, and nothing of a kind that it does not know', () => {
    for (const args of [
      ['event', 'acme', 'acme-events', 'Acme Events'],
      ['warehouse', 'acme', 'acme-other', 'Acme'],
      ['printer', 'acme', 'acme-printer', 'Acme'],
      ['event', 'acme', 'Acme Events', 'Acme'],
      ['event', 'acme', 'acme-more'],
    ]) {
      assert.equal(make(...args).status, 1)
    }
    assert.deepEqual(globSync('packages/connectors/src/acme/*{other,printer,more}*', { cwd: copy }), [])
  })
})
