import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { runsWithChanges, testsAffectedBy } from './harness/changed.ts'
import { readDurations } from './harness/durations.ts'
import { importsOf, readImports, resolveImport, testFiles, unitTests } from './harness/imports.ts'
import { guardProcessorSecondsMax, isLarge } from './harness/tiers.ts'
import { closureOf } from './harness/uses.ts'

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

test('the tests that guard every change are few enough, by what was recorded of them', () => {
  const { guardProcessorSeconds } = readDurations()
  const files = testFiles().filter((file) => !isLarge(file))
  const costs = files
    .map((file) => ({ file, seconds: guardProcessorSeconds[file] ?? 1 }))
    .sort((a, b) => b.seconds - a.seconds)
  const sum = costs.reduce((total, { seconds }) => total + seconds, 0)
  const first = costs.slice(0, 5).map(({ file, seconds }) => `${file} (${seconds} s)`)
  const cure =
    'Make the first ones cheaper, mark tests as `large`, or record them again on a quiet machine: `npm test -- --record`.'
  assert(
    sum <= guardProcessorSecondsMax,
    `${sum.toFixed(0)} s of ${guardProcessorSecondsMax} s: ${first.join(', ')}. ${cure}`,
  )
})

test('imports are followed over several files', () => {
  const ofTransfers = importsOf('test/transfers.test.ts')
  assert(ofTransfers.has('test/harness/database.ts') && !ofTransfers.has('test/harness/browser.ts'))
  assert(importsOf('test/console.large.test.ts').has('test/harness/browser.ts'))
})

test('no test file imports another one, whose tests would run again', () => {
  const importing = testFiles().filter((file) =>
    readImports(read(file)).some(({ specifier }) => resolveImport(file, specifier)?.endsWith('.test.ts')),
  )
  assert.deepEqual(importing, [])
})

test('a change of any module runs a test that guards every change', () => {
  const guarding = testFiles().filter((file) => !isLarge(file))
  const used = new Set(guarding.flatMap((file) => [...closureOf(file)]))
  // Tests of the console use the builds of these two.
  const sources = globSync('packages/*/src/**/*.ts', { cwd: root, exclude: ['packages/{console,connect}/**'] })
  const runs = /^(?:export )?(?:async function|function|const|let|class|enum|await|throw|if|for|process|new)\b/m
  assert(used.size > 1_000 && sources.length > 1_000)
  assert.deepEqual(
    sources.filter((file) => !file.endsWith('.test.ts') && !used.has(file) && runs.test(read(file))),
    [],
  )
})

test('what runs with a change follows the boundaries', () => {
  const selected = (file: string) => {
    const changed = new Set([file])
    return testsAffectedBy(changed).filter((test) => runsWithChanges(test, changed))
  }
  const assertSelected = (file: string, those: readonly string[], others: readonly string[]) => {
    const found = selected(file)
    assert.deepEqual(
      those.filter((test) => !found.includes(test)),
      [],
      `they depend on ${file}`,
    )
    assert.deepEqual(
      others.filter((test) => found.includes(test)),
      [],
      `they do not depend on ${file}`,
    )
  }
  const ofService = ['test/tokens.test.ts', 'test/webhooks.test.ts', 'test/connection-labels.test.ts']
  const ofAllConnectors = [
    'packages/connectors/src/catalogue.test.ts',
    'packages/connectors/src/previews-reject-as-transfers.large.test.ts',
    'test/people-conversions.large.test.ts',
    'test/server-echoes-platforms.large.test.ts',
    'test/documents.test.ts',
  ]
  const metaTests = 'packages/connectors/src/meta-ads/meta-conversions.test.ts'
  assertSelected(
    'packages/connectors/src/meta-ads/meta-conversions.ts',
    [metaTests, 'test/connectors.test.ts', ...ofAllConnectors],
    [...ofService, 'test/transfers.test.ts', 'packages/connectors/src/snapchat-ads/snapchat-conversions.test.ts'],
  )
  assertSelected('packages/connectors/src/kit/run/events.ts', [metaTests], [...ofService, 'test/documents.test.ts'])
  assertSelected('packages/connectors/src/postgresql/write.ts', ['test/transfers.test.ts'], ofService)
  assertSelected(
    'packages/engine/src/preview.ts',
    ['test/transfer-previews.test.ts', 'test/access.test.ts'],
    [...ofService, 'test/transfers-log.test.ts'],
  )
  assertSelected(
    'packages/engine/src/transfer/batches.ts',
    ['test/transfers.test.ts', 'test/transfers-log.test.ts'],
    ofService,
  )
  assertSelected('packages/server/src/http/serve.ts', ofService, [metaTests])
  assertSelected(
    'packages/console/src/screens/accounts/accounts.tsx',
    ['test/console-accounts.large.test.ts'],
    [...ofService, 'test/console-people.large.test.ts'],
  )
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
    'test/campaigns-transfers.large.test.ts': 'kills in the middle of the work',
    'test/commands-worker.large.test.ts': 'sends signals some milliseconds apart, as a terminal and npm do',
    'test/console-accounts.large.test.ts': 'is a network that answers slowly',
    'test/control-groups.large.test.ts': 'kills in the middle of the work',
    'test/harness/bystander.ts': 'calls at a steady rate',
    'test/harness/console.ts': 'is a database that answers slowly',
    'test/harness/flaky-endpoint.ts': 'is a server that answers too late',
    'test/harness/lane.ts': 'polls',
    'test/harness/stray-errors.ts': 'fails some milliseconds later',
    'test/harness/until.ts': 'polls',
    'test/http-api-destination.large.test.ts': 'kills at a random time',
    'test/samples.large.test.ts': 'has statements that never end',
    'test/transfers-changed.large.test.ts': 'kills at a random time',
    'test/transfers-crash.large.test.ts': 'kills at a random time',
    'test/transfers-duplicates.large.test.ts': 'kills at a random time',
    'test/transfers-errors.large.test.ts': 'kills at a random time',
    'test/transfers-mirror.large.test.ts': 'kills at a random time',
    'test/transfers-parts.large.test.ts': 'kills at a random time',
    'test/transfers-ranges.large.test.ts': 'kills at a random time',
    'test/transfers-tables.large.test.ts': 'kills at a random time',
    'test/transfers-turns.large.test.ts': 'delivers for a while, so that transfers could overlap',
  }
  const found = [...new Set(files.map((file) => file.replaceAll('\\', '/')))].filter((file) => wait.test(read(file)))
  assert.deepEqual(found.filter((file) => file !== 'test/selections.test.ts').sort(), Object.keys(exceptions).sort())
})

test('each decision record has a date and a status, and a line in the index', () => {
  const records = globSync('docs/decisions/*.md', { cwd: root, exclude: ['**/README.md'] })
  assert(records.length >= 10)
  const head = /^# .+\n\nDate: \d{4}-\d{2}-\d{2}(?:, changed \d{4}-\d{2}-\d{2})?\. Status: (?:proposed|accepted)\.\n/
  assert.deepEqual(
    records.filter((file) => !head.test(read(file))),
    [],
  )
  const titles = records.map((file) => `- [${/^# (.+)$/m.exec(read(file))?.[1]}](${basename(file)}): `)
  const index = read('docs/decisions/README.md')
  assert.deepEqual(
    titles.filter((line) => !index.includes(line)),
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
