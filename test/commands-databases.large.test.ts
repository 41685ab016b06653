import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildProgram } from '../packages/server/src/cli/program.ts'
import { commandsOn } from './harness/commands.ts'
import { createTestDatabase } from './harness/database.ts'
import { prepareStage } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** Which database each command uses, and that only `serve` and `restore` create one. */

const masterKey = randomBytes(32).toString('base64')

/** A file with what could be a secret. */
const smallFile = join(import.meta.dirname, '../.node-version')

/** Commands that act on no database: these call a service, or nothing. */
const withoutDatabase = [
  ...['help', 'documents', 'export', 'plan', 'apply', 'mcp', 'person', 'import-source'],
  // The last one acts on it only if the connector is there (test/connector-packages.large.test.ts).
  ...[
    'connector new',
    'connector test',
    'connector try',
    'connector import',
    'connector add',
    'connector list',
    'connector remove',
    'connection backfill',
    'connection reset',
  ],
]

/** Values of the arguments that a command checks before it looks for a database. Other arguments have their name as value. */
const accepted: Readonly<Record<string, string>> = { platform: 'google', limit: 'accounts', value: '5' }

/** A call of every command that acts on a database, with the arguments and options that it needs. */
function everyCall(command = buildProgram(), path: string[] = []): string[][] {
  if (withoutDatabase.some((one) => one === path[0] || one === path.slice(0, 2).join(' '))) return []
  if (command.commands.length > 0) return command.commands.flatMap((one) => everyCall(one, [...path, one.name()]))
  const values = command.registeredArguments.map((argument) => accepted[argument.name()] ?? argument.name())
  const needed = command.options.flatMap(({ mandatory, long }) => {
    if (long === '--secret-file') return [long, smallFile]
    return mandatory && long ? [long, 'o@example.com'] : []
  })
  return [[...path, ...values, ...needed]]
}

test('with the embedded PostgreSQL, which only serve creates, commands at once share it, and the last stops it', async (t) => {
  const stage = await prepareStage(t)
  const commands = commandsOn(stage)
  const calls = everyCall().filter(([name = '']) => !['serve', 'restore'].includes(name))
  assert(calls.length > 12)
  for (const call of calls) {
    if (call[0] === 'doctor') {
      assert.match((await commands.run(...call)).stdout, /^FAIL {2}database +There is no database in/m)
      continue
    }
    const said = await commands.fails(1, ...call)
    assert.match(said, /There is no database in .* yet\. Start the service once, set DATABASE_URL/)
  }
  assert.equal(existsSync(stage.dataDirectory), false, 'a command creates nothing')
  // A start creates the database, but this start fails after that.
  assert.equal((await stage.penstock(['serve'], { env: { PENSTOCK_HOST: 'host.invalid' } })).code, 2)
  const names = ['One', 'Two', 'Three']
  await Promise.all(
    names.map((name) => commands.json('org', 'create', '--name', name, '--owner-email', 'owner@example.com')),
  )
  assert.equal(await stage.postmaster(), undefined)
  const named = await stage.penstock(['org', 'list'])
  assert.match(named.stderr, /^Database: postgres:\/\/penstock@127\.0\.0\.1:\d+\/penstock, embedded in \/\S+\n$/)
  assert(named.stderr.includes(stage.dataDirectory))
  const list = await commands.json<{ name: string }[]>('org', 'list')
  assert.deepEqual(list.map(({ name }) => name).sort(), ['First organization', ...names].sort())
  assert.equal(await stage.postmaster(), undefined)
})

test('no command creates a database of one’s own that does not exist', async (t) => {
  const stage = await prepareStage(t)
  const database = await createTestDatabase()
  t.after(database.drop)
  const missing = new URL(database.url)
  missing.pathname = '/not_there'
  const keys = { PENSTOCK_MASTER_KEY: masterKey, PENSTOCK_NEXT_MASTER_KEY: masterKey }
  const commands = commandsOn(stage, { DATABASE_URL: missing.href, ...keys })
  const file = join(stage.base, 'some.backup')
  await commandsOn(stage, { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: masterKey }).done('backup', file)
  for (const call of everyCall()) {
    const { code, stdout, stderr } = await commands.run(...(call[0] === 'restore' ? ['restore', file] : call))
    assert.equal(code, 1, call.join(' '))
    assert.match(`${stdout}${stderr}`, /The database not_there does not exist on \S+ \(3D000\)/, call.join(' '))
  }
  const found = await withSession(database.url, (session) =>
    session.query(`select from pg_database where datname = 'not_there'`),
  )
  assert.equal(found.rowCount, 0)
})
