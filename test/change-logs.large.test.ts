import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ConnectionState } from '@penstock/wire'
import pg from 'pg'
import { lookAtAll } from '../packages/server/src/alerts/keep.ts'
import { createCatalogue } from '../packages/server/src/connectors/catalogue.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { ChangeLogs } from '../packages/server/src/transfers/supervisor/change-logs.ts'
import { Claims } from '../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../packages/server/src/transfers/supervisor/work.ts'
import { purge } from '../packages/server/src/worker/purge.ts'
import { startLogicalPostgres } from './harness/logical-postgres.ts'
import { noSecretManagers } from './harness/secret-managers.ts'
import { supervision } from './harness/supervision.ts'
import { postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'

/**
 * The log that a server keeps for a connection which reads changes: it is measured whether transfers run or not, warns before it is too much, and
 * its slot is dropped once nobody reads it.
 */

const server = await startLogicalPostgres({ max_slot_wal_keep_size: '256MB' })
after(() => server.stop())
const pool = new pg.Pool({ connectionString: server.url, max: 2 })
pool.on('error', () => {})
after(() => pool.end())
const query = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows
await query('create schema crm')
await query('create table crm.people (id int primary key, name text)')
await query('create publication penstock for table crm.people')

const fixture = await startFixture()
after(() => fixture.close())
const { caller, accountId, service } = fixture
const { database, config, logLines, runners } = service
assert(config.masterKey)
const log = createLogger('info', { write: (line) => void logLines.push(line) })
const deps = {
  database,
  runners,
  keyring: await openKeyring(database, config.masterKey),
  secretManagers: noSecretManagers,
  catalogue: createCatalogue(config.publicUrl),
  settings: supervision,
}
const limits = { perOrganizationHere: 100, perAccountHere: 100, perAccount: 100, perPlatform: 0, perTransfer: 4 }
const { signal } = new AbortController()
const sql = async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows
/** Looks at all logs, as if their time had come. */
const look = async () => {
  await sql('update change_logs set next_time = now() where not stays')
  const logs = new ChangeLogs(deps, log, signal)
  await logs.begin()
  await logs.ended()
}
/** Lets settings be what they are for longer than they can be changed back. */
const passGrace = () => sql(`update change_logs set leaving_since = leaving_since - interval '1 hour'`)
const configure = (address = server.url) => {
  const body = { secretConfig: postgresqlSecrets(address) }
  return caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body }))
}
await configure()
const source = { schema: 'crm', table: 'people', syncMode: 'Changes', publication: 'penstock' }
let tables = 0
const connect = async (slot: string) => {
  tables += 1
  await query(`create table crm.copy_${tables} (id int primary key, name text)`)
  const upsert = { schema: 'crm', table: `copy_${tables}`, writeMode: 'Upsert', keyColumns: 'id' }
  const id = await fixture.connect(postgresql, { ...source, slot }, postgresql, upsert)
  const of = { accountId, id }
  return {
    id,
    state: (): Promise<ConnectionState> => caller.expect(caller.call('getConnectionState', of)),
    run: async () => {
      const { id: transferId } = await fixture.start(id)
      await workOnTransfers(deps, new Claims(limits), log, signal)
      const { status, error } = await fixture.get(id, transferId)
      assert.deepEqual([status, error], ['succeeded', null])
    },
    act: (action: 'enable' | 'disable') =>
      caller.expect(caller.call('updateConnectionStatus', { ...of, body: { action } })),
    set: (srcConnectionConfig: Record<string, string>) =>
      caller.expect(caller.call('updateConnection', { ...of, body: { srcConnectionConfig } })),
    reset: (body: object) => caller.expect(caller.call('resetConnectionState', { ...of, body })),
    remove: () => caller.expect(caller.call('deleteConnection', of)),
    attention: async () =>
      (await caller.expect(caller.call('listAttention', { accountId, query: {} })))
        .filter((entry) => entry.id === id)
        .flatMap(({ reasons }) => reasons),
    incidents: async () => {
      await lookAtAll({ ...deps, mailer: { isSetUp: false } as never })
      const found = await caller.expect(caller.call('listAlertIncidents', { query: { open: true } }))
      return found.filter(({ connectionId }) => connectionId === id).flatMap(({ reasons }) => reasons)
    },
    history: async () =>
      (await caller.expect(caller.call('listConnectionEvents', { ...of, query: {} })))
        .filter(({ kind }) => kind === 'state')
        .map(({ from, to }) => [from, to]),
  }
}
const slots = async () =>
  (await query('select slot_name as name from pg_replication_slots order by 1')).map(({ name }) => name)
const audited = async (action: string) =>
  (
    await sql(
      `select details from audit_queue where action = $1 union all select details from audit_events where action = $1`,
      action,
    )
  ).map(({ details }) => details)
const metrics = async () => (await service.send({ method: 'GET', path: '/metrics' })).text
/** Makes the server write this many segments of 16 MiB to its log. */
const writeLog = async (segments: number) => {
  for (let done = 0; done < segments; done++) {
    await query(`select pg_logical_emit_message(false, 'test', 'x')`)
    await query('select pg_switch_wal()')
  }
}

test('the log of a connection is measured after a transfer, and while it is disabled', async () => {
  const { id, run, state, act, attention, incidents, reset } = await connect('kept')
  assert.equal((await state()).changeLog, undefined)
  await query(`insert into crm.people values (1, 'Ada')`)
  await run()
  assert.deepEqual([(await state()).changeLog?.slot, (await state()).changeLog?.measuredTime], ['kept', null])
  await look()
  const first = (await state()).changeLog
  assert.deepEqual(
    [first?.status, first?.limitBytes, first?.warns, first?.problem, first?.server],
    ['reserved', 256 << 20, false, null, new URL(server.url).host + new URL(server.url).pathname],
  )
  assert(first?.deliveredTime && first.measuredTime && first.measuredTime - first.deliveredTime < 600)
  assert.deepEqual([await attention(), await incidents()], [[], []])

  await act('disable')
  await writeLog(14)
  await look()
  const second = (await state()).changeLog
  assert((second?.keptBytes ?? 0) > 200 << 20, JSON.stringify(second))
  assert.equal(second?.warns, true)
  assert.deepEqual(await attention(), ['log_kept'])
  // The default rule looks for 10 GiB, or changes that are about to be lost.
  assert.deepEqual(await incidents(), [])
  await sql('update change_logs set kept_bytes = 10::bigint << 30 where connection_id = $1', id)
  await sql('insert into alert_checks (connection_id) values ($1)', id)
  assert.deepEqual(await incidents(), ['log_kept'])
  const found = await metrics()
  assert.match(found, new RegExp(`penstock_change_log_kept_bytes\\{connection="${id}",slot="kept"\\} 10737418240`))
  assert.match(found, new RegExp(`penstock_change_log_behind_seconds\\{connection="${id}",slot="kept"\\} \\d`))
  assert.match(found, /penstock_change_logs_warning 1/)

  // It is dropped if a person asks for it, and made again by the next transfer.
  const { cursor, leftSlots } = await reset({ slot: true })
  assert.deepEqual([cursor, leftSlots?.[0]?.slot, leftSlots?.[0]?.stays], [false, 'kept', false])
  assert.match(leftSlots?.[0]?.statement ?? '', /pg_drop_replication_slot\('kept'\)/)
  await look()
  assert.deepEqual([await slots(), (await state()).leftSlots, await attention()], [[], undefined, []])
  await sql(`update alert_sweeps set next_time = now() where name = 'open and idle'`)
  assert.deepEqual(await incidents(), [])
  assert.deepEqual(await audited('slotDropped'), [{ slot: 'kept', server: first?.server }])
  await act('enable')
  await run()
  await look()
  assert.deepEqual([await slots(), (await state()).changeLog?.status], [['kept'], 'reserved'])
})

test('a slot is dropped that other settings do not read, once they cannot be changed back', async () => {
  const { run, state, set, history } = await connect('before')
  await run()
  await look()
  await set({ ...source, slot: 'after' })
  await look()
  assert.deepEqual(
    (await state()).leftSlots?.map(({ slot, stays }) => [slot, stays]),
    [['before', false]],
  )
  assert((await slots()).includes('before'))
  // Changed back in time.
  await set({ ...source, slot: 'before' })
  await look()
  assert.equal((await state()).leftSlots, undefined)
  await run()
  await look()
  await set({ ...source, slot: 'after' })
  await look()
  await passGrace()
  await look()
  assert(!(await slots()).includes('before'))
  assert.deepEqual((await history())[0], ['before', 'slot dropped'])
  // The state that described it is forgotten with it, so that nothing continues in vain.
  assert.equal((await state()).cursor, false)
  await run()
  await set({ schema: 'crm', table: 'people', syncMode: 'Full' })
  await look()
  await passGrace()
  await look()
  assert(!(await slots()).includes('after'))
  assert.equal((await state()).leftSlots, undefined)
  await run()
})

test('a slot that cannot be dropped is named with its statement', async () => {
  const read = await connect('read_elsewhere')
  await read.run()
  await look()
  await query(`insert into crm.people values (2, 'Bob')`)
  await query(`select pg_replication_slot_advance('read_elsewhere', pg_current_wal_lsn())`)
  await read.set({ schema: 'crm', table: 'people', syncMode: 'Full' })
  await look()
  await passGrace()
  await look()
  const [left] = (await read.state()).leftSlots ?? []
  assert.deepEqual([left?.slot, left?.stays, left?.problem], ['read_elsewhere', true, 'Something else reads from it.'])
  assert((await slots()).includes('read_elsewhere'))
  assert.match(JSON.stringify(await audited('slotStays')), /read_elsewhere.*pg_drop_replication_slot/)

  // A server that is away is asked again. Another server is not.
  const away = await connect('away')
  await away.run()
  await look()
  await away.set({ schema: 'crm', table: 'people', syncMode: 'Full' })
  await look()
  await passGrace()
  await configure(server.url.replace(/:[^:@/]+@/, ':wrong@'))
  await look()
  const [waits] = (await away.state()).leftSlots ?? []
  assert.equal(waits?.stays, false)
  assert.match(waits?.problem ?? '', /\S/)
  const moved = new URL(server.url)
  moved.hostname = 'localhost'
  await configure(moved.href)
  await look()
  const [stays] = (await away.state()).leftSlots ?? []
  assert.deepEqual([stays?.slot, stays?.stays], ['away', true])
  assert.match(stays?.problem ?? '', /configured for localhost:\d+/)
  await configure()
})

test('a slot goes with a connection that is deleted permanently, unless another one reads it', async () => {
  const shared = await connect('shared')
  const gone = await connect('gone')
  for (const { run } of [shared, gone]) await run()
  await look()
  await shared.remove()
  await gone.remove()
  await look()
  assert.equal((await gone.state()).changeLog?.slot, 'gone')
  assert((await gone.state()).changeLog?.measuredTime)
  const again = await connect('shared')
  await again.run()
  await look()
  await sql(`update connections set deleted_time = now() - interval '31 days' where status = 'deleted'`)
  await purge(database, { rejectDays: 30, ledgerDays: 30, auditDays: 0 })
  assert.deepEqual(await sql('select from connections where id = any($1)', [shared.id, gone.id]), [])
  await look()
  assert((await slots()).includes('shared') && !(await slots()).includes('gone'))
  await again.run()
  assert.deepEqual(await sql('select from change_logs where connection_id = any($1)', [shared.id, gone.id]), [])

  // The secrets of a deleted sub-account stay until its slots are dropped. Nothing is dropped while a backup is restored.
  await caller.expect(caller.call('deleteAccount', { id: accountId }))
  await sql(`update connections set deleted_time = now() - interval '31 days'`)
  await sql(`update accounts set deleted_time = now() - interval '31 days' where id = $1`, accountId)
  await sql(`insert into schedule_pauses (reason) values ('restore')`)
  await look()
  await purge(database, { rejectDays: 30, ledgerDays: 30, auditDays: 0 })
  assert((await slots()).includes('shared'))
  assert.equal((await sql('select from accounts where id = $1', accountId)).length, 1)
  await sql('delete from schedule_pauses')
  await look()
  assert(!(await slots()).includes('shared'))
  await purge(database, { rejectDays: 30, ledgerDays: 30, auditDays: 0 })
  assert.deepEqual(await sql('select from accounts where id = $1', accountId), [])
})
