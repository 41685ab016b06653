import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { importsOf, testFiles, unitTests } from './harness/imports.ts'

/** Assumptions of the commands that run a part of the tests. */

const root = dirname(import.meta.dirname)
const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('unit tests are found, and open no database', () => {
  const files = unitTests()
  assert(files.includes('packages/engine/src/mapping/hash.test.ts'))
  assert(files.length > 20, `only ${files.length} unit tests were found`)
  const opening = files.filter((file) => /from '(?:pg|mysql2|ssh2)\b|embedded-postgres\.ts'/.test(read(file)))
  assert.deepEqual(opening, ['packages/server/src/db/types.test.ts'], 'it compares with the parser of the driver')
})

test('imports are followed over several files', () => {
  const ofTransfers = importsOf('test/transfers.test.ts')
  assert(ofTransfers.has('test/harness/database.ts') && !ofTransfers.has('test/harness/browser.ts'))
  assert(importsOf('test/console.large.test.ts').has('test/harness/browser.ts'))
})

test('random choices of tests follow from the seed', () => {
  const files = globSync(['test/**/*.ts', 'packages/*/test/**/*.ts'], { cwd: root }).concat(testFiles())
  const source = /from 'fast-check'|Math\.random\(\)|Date\.now\(\) %/
  const exceptions: Readonly<Record<string, string>> = {
    'test/harness/property.ts': 'gives fast-check the seed',
    'test/harness/endless/busy.ts': 'is busy',
    'test/selections.test.ts': 'looks for it',
    'packages/connector/src/files/read.test.ts': 'needs bytes that do not compress, whatever they are',
    'packages/connectors/src/postgresql/rogue.large.test.ts': 'makes an identifier',
    'packages/connectors/src/redshift/rogue.large.test.ts': 'makes an identifier',
  }
  const found = [...new Set(files.map((file) => file.replaceAll('\\', '/')))].filter((file) => source.test(read(file)))
  assert.deepEqual(found.sort(), Object.keys(exceptions).sort())
})

test('no test waits for a time to pass, but where that time is what it tries', () => {
  const files = globSync(['test/**/*.ts', 'packages/*/test/**/*.ts'], { cwd: root }).concat(testFiles())
  const wait = /await (?:delay|sleep)\(|setTimeout\(resolve|pg_sleep\(|scheduler\.wait/
  const exceptions: Readonly<Record<string, string>> = {
    'packages/connectors/src/postgresql/discover.test.ts': 'has a view that answers slowly',
    'packages/connectors/src/postgresql/read.test.ts': 'tries the limit on the time of a statement',
    'packages/connectors/test/mariadb.ts': 'polls',
    'packages/connectors/test/rogue-behaviours.ts': 'is a server that answers slowly',
    'test/commands-worker.large.test.ts': 'sends signals some milliseconds apart, as a terminal and npm do',
    'test/console-accounts.large.test.ts': 'is a network that answers slowly',
    'test/harness/bystander.ts': 'calls at a steady rate',
    'test/harness/console.ts': 'is a database that answers slowly',
    'test/harness/flaky-endpoint.ts': 'is a server that answers too late',
    'test/harness/lane.ts': 'polls',
    'test/harness/machine-speed.ts': 'measures from time to time',
    'test/harness/until.ts': 'polls',
    'test/transfers-changed.large.test.ts': 'kills at a random time',
    'test/transfers-crash.large.test.ts': 'kills at a random time',
    'test/transfers-duplicates.large.test.ts': 'kills at a random time',
    'test/transfers-errors.large.test.ts': 'kills at a random time',
    'test/transfers-mirror.large.test.ts': 'kills at a random time',
    'test/transfers-parts.large.test.ts': 'kills at a random time',
    'test/transfers-ranges.large.test.ts': 'kills at a random time',
    'test/transfers-turns.large.test.ts': 'delivers for a while, so that transfers could overlap',
  }
  const found = [...new Set(files.map((file) => file.replaceAll('\\', '/')))].filter((file) => wait.test(read(file)))
  assert.deepEqual(found.filter((file) => file !== 'test/selections.test.ts').sort(), Object.keys(exceptions).sort())
})

test('each decision record says when it was made, and whether it still holds', () => {
  const records = globSync('docs/decisions/0*.md', { cwd: root })
  assert(records.length >= 10)
  const line = /^# .+\n\nDate: \d{4}-\d{2}-\d{2}\. Status: (?:proposed|accepted|superseded by \[.+\]\(.+\))\.\n/
  assert.deepEqual(
    records.filter((file) => !line.test(read(file))),
    [],
  )
})

test('Node is of one version: that of .node-version, of the dependency and of its types', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  assert.equal(read('.node-version').trim(), dependencies.node)
  assert.equal(devDependencies['@types/node'].split('.')[0], dependencies.node.split('.')[0])
})

test('workflows use actions of one commit only, and no more permissions than they need', () => {
  const files = globSync('.github/workflows/*.yml', { cwd: root })
  assert(files.length > 0)
  for (const file of files) {
    const text = read(file)
    assert.match(text, /^permissions:\n {2}contents: read\n\n/m, file)
    const uses = [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action)
    assert.deepEqual(
      uses.filter((action) => !/@[0-9a-f]{40}$/.test(action)),
      [],
      file,
    )
  }
})
