import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { loadConnector } from '@penstock/connectors/load'
import { outcomesConnectorId } from '@penstock/wire'
import pg from 'pg'
import {
  type RedditServer,
  redditRoutes,
  redditSecrets,
  startReddit,
} from '../packages/connectors/test/reddit-server.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { Claims } from '../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../packages/server/src/transfers/supervisor/work.ts'
import { addFolder, localFolder, makeInbox } from './harness/connections.ts'
import { createTestDatabase } from './harness/database.ts'
import { engineOf } from './harness/engine-of.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { noLimits } from './harness/supervision.ts'
import { postgresqlSecrets } from './harness/transfers.ts'

/** The statements of docs/outcomes-in-sql.md in PostgreSQL, with outcomes that transfers to an audience recorded. */

const reddit = connectorBySlug('reddit-audiences')
const postgresql = connectorBySlug('postgresql')
const inbox = await makeInbox()
let api: RedditServer
let service: TestService
let target: pg.Pool
let dropTarget: () => Promise<void>
let caller: Caller
let accountId: string
let members: string
let reader: string

type Settings = Record<string, string | number | boolean>
type Side = { readonly id: string }

async function configure(connector: ReturnType<typeof connectorBySlug>, secretConfig: Settings) {
  await caller.addConnectors(accountId, connector)
  const call = { accountId, id: connector.id, body: { secretConfig } }
  return (await caller.expect(caller.call('configureConnector', call))).configurationId
}

async function connect(name: string, source: Side, from: Settings, destination: Side, to: Settings) {
  const sides = { srcConnectorId: source.id, srcConnectionConfig: from, destConnectorId: destination.id }
  const body = { name, ...sides, destConnectionConfig: to }
  const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
  await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
  return id
}

async function move(id: string, body: object = {}) {
  const { id: transferId } = await caller.expect(caller.call('startTransfer', { accountId, id, body }))
  const log = createLogger('warn', { write: (line) => void service.logLines.push(line) })
  await workOnTransfers(engineOf(service), new Claims(noLimits), log, new AbortController().signal)
  const ended = await caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
  assert.ok(['succeeded', 'partial'].includes(ended.status), JSON.stringify(ended.error))
  return ended
}

/** Changes of members as a file, each an action, an audience and a person, moved as one transfer, and its outcomes. */
async function change(lines: readonly string[], body: object = {}) {
  const rows = lines.map((line) => line.replaceAll(' ', ','))
  await writeFile(join(inbox.folder, 'members.csv'), `action,segment_name,email\n${rows.join('\n')}\n`)
  const moved = await move(members, body)
  await move(reader)
  return moved
}

/** The statements of the guide that are for PostgreSQL, in their order. */
async function statements(): Promise<string[]> {
  const guide = await readFile(new URL('../docs/outcomes-in-sql.md', import.meta.url), 'utf8')
  const found = [...guide.matchAll(/```sql\n-- (PostgreSQL|Any).*\n([^`]+)```/g)].map(
    ([, , statement = '']) => statement,
  )
  assert.equal(found.length, 9)
  return found
}

const sql = async (text: string) => (await target.query(text)).rows

before(async () => {
  api = await startReddit()
  const runners = createInProcessRunners({ localFolders: [inbox.folder], loadConnector }, redditRoutes(api.url))
  service = await startTestService(inbox.env, {}, runners)
  const database = await createTestDatabase()
  dropTarget = () => database.drop()
  target = new pg.Pool({ connectionString: database.url, max: 2 })
  for (const statement of (await statements()).slice(0, 5)) await sql(statement)
  caller = callerOf(service, await service.addOrganization())
  accountId = (await caller.addAccount()).id
  await addFolder(caller, accountId, inbox.folder)
  await configure(reddit, redditSecrets)
  await configure(postgresql, postgresqlSecrets(database.url))
  const outcomes = await configure(connectorBySlug('outcomes'), {})
  await writeFile(join(inbox.folder, 'members.csv'), 'action,segment_name,email\n')
  members = await connect('Members', localFolder, { files: 'members.csv' }, reddit, {
    advertiserId: 'a2_loyal',
    outcomes,
    outcomeColumns: 'email, segment_name',
  })
  reader = await connect('Outcomes', { id: outcomesConnectorId }, { startAt: 'oldest' }, postgresql, {
    table: 'outcomes',
    writeMode: 'Insert',
  })
})
after(async () => {
  await target.end()
  await dropTarget()
  await service.close()
  await api.close()
  await inbox.remove()
})

test('the views are right after additions, removals, repetitions, rejections and a test', async () => {
  const transfers = [
    await change([
      'add Loyal ada@example.com',
      'add Loyal bob@example.com',
      'add Loyal dan@example.com',
      'add New bob@example.com',
    ]),
    await change([
      'remove Loyal ada@example.com',
      'add Loyal bob@example.com',
      'add Loyal nobody',
      'drop Loyal eve@example.com',
    ]),
    // A test of one row changes the audience, too.
    await change(['remove Loyal bob@example.com', 'remove Loyal dan@example.com'], { test: { rows: 1 } }),
    await change(['REMOVE New bob@example.com', 'add Loyal ada@example.com']),
    await change(['add Loyal ada@example.com', 'remove New cyd@example.com']),
  ]
  const runs = await sql(`
    select transfer_id, test, accepted::int, removed::int, rejected::int, skipped::int, uncertain::int, not_recorded::int
    from runs order by first_time`)
  const none = { skipped: 0, uncertain: 0, not_recorded: 0 }
  assert.deepEqual(
    runs,
    [
      { test: false, accepted: 4, removed: 0, rejected: 0 },
      { test: false, accepted: 1, removed: 1, rejected: 2 },
      { test: true, accepted: 0, removed: 1, rejected: 0 },
      { test: false, accepted: 1, removed: 1, rejected: 0 },
      { test: false, accepted: 1, removed: 1, rejected: 0 },
    ].map((counts, n) => ({ transfer_id: transfers[n]?.id, ...counts, ...none })),
  )
  assert.deepEqual(
    runs.map(({ accepted, removed, rejected }) => [accepted + removed, rejected]),
    transfers.map(({ records }) => [records.accepted, records.rejected]),
  )

  // Outcomes contain the times of runs: this converts them to the number of the run in which a stay began and ended.
  const inRun = (time: string) => `(select count(*)::int from runs where first_time <= ${time})`
  assert.deepEqual(
    await sql(`
      select audience, person, ${inRun('joined_time')} as joined, nullif(${inRun('left_time')}, 0) as left
      from membership order by audience, person, joined_time`),
    [
      { audience: 'Loyal', person: 'ada@example.com', joined: 1, left: 2 },
      { audience: 'Loyal', person: 'ada@example.com', joined: 4, left: null },
      { audience: 'Loyal', person: 'bob@example.com', joined: 1, left: 3 },
      { audience: 'Loyal', person: 'dan@example.com', joined: 1, left: null },
      { audience: 'New', person: 'bob@example.com', joined: 1, left: 4 },
    ],
  )
  const current = await sql('select audience, person, outcome from current_outcomes order by audience, person')
  assert.deepEqual(
    current.map(({ audience, person, outcome }) => `${audience} ${person} ${outcome}`),
    [
      'Loyal ada@example.com accepted',
      'Loyal bob@example.com removed',
      'Loyal dan@example.com accepted',
      'Loyal eve@example.com rejected',
      'Loyal nobody rejected',
      'New bob@example.com removed',
      'New cyd@example.com removed',
    ],
  )

  const [members, onDay, byDay, reasons] = await Promise.all((await statements()).slice(5).map(sql))
  assert.deepEqual(
    members?.map(({ audience, members: count }) => [audience, Number(count)]),
    api.audiences.filter(({ members: all }) => all.size > 0).map(({ name, members: all }) => [name, all.size]),
    'the platform has the same members',
  )
  assert.ok(onDay)
  const count = (kind: string) =>
    byDay?.filter(({ outcome }) => outcome === kind).reduce((sum, { records }) => sum + Number(records), 0)
  assert.deepEqual(['accepted', 'removed', 'rejected'].map(count), [7, 4, 2])
  assert.deepEqual(
    new Set(reasons?.map(({ field, records }) => `${field} ${records}`)),
    new Set(['action 1', 'email_sha256 1']),
  )
})
