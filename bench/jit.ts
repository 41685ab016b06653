/**
 * `npm run bench:jit [-- --server /usr/lib/postgresql/15] [--transfers 100000]`: the processor time of an installed PostgreSQL
 * with LLVM for statements of the service: with JIT compilation (the default of the server), and without it (as in all sessions
 * of Penstock). One session runs all statements, so that only one process of the server is measured.
 */
import { parseArgs } from 'node:util'
import { transferStatuses } from '@penstock/wire'
import { attentionOf } from '../packages/server/src/attention/queries.ts'
import { connectionList } from '../packages/server/src/connections/list-queries.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { volumeOfAccounts } from '../packages/server/src/reports/queries.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { findToken } from '../packages/server/src/tokens/queries.ts'
import { transferList } from '../packages/server/src/transfers/list-queries.ts'
import { takeDue } from '../packages/server/src/transfers/supervisor/due-schedule-queries.ts'
import { requeueLost, someQueued } from '../packages/server/src/transfers/supervisor/upkeep-queries.ts'
import { startOtherPostgres } from '../test/harness/other-postgres.ts'
import { cleanupOfRun } from './environment.ts'
import { addOrganization, load } from './load.ts'
import { processorMs } from './processor.ts'
import { fillTransfers } from './scaling/fill.ts'
import { type Connection, claim, connectionColumns, openTransfer, queue } from './scaling/work.ts'

const { values: options } = parseArgs({
  options: {
    server: { type: 'string', default: '/usr/lib/postgresql/15' },
    transfers: { type: 'string', default: '100000' },
  },
})
const size = { accounts: 1_000, connectionsPerAccount: 10 }
const smallTransfers = 9
const organizationId = 'organization0001'
/** How often each statement is repeated after its first run. Claims are the statements that are slow with JIT. */
const times = { claim: 7, other: 50 }

await using cleanup = cleanupOfRun()
const server = await startOtherPostgres(options.server, {})
cleanup.defer(server.stop)
await migrate(server.url)
const client = await openSession(server.url, 'bench')
cleanup.defer(() => client.end())
await addOrganization(client, organizationId)
await load(server.url, organizationId, 'production', size)
await fillTransfers(client, { transfers: Number(options.transfers), entriesEach: 3 }, 1_000)
const { rows: connections } = await client.query<Connection>(
  `select distinct on (account_id) ${connectionColumns} from connections where status = 'active' order by account_id, id`,
)
const { rows: versions } = await client.query<{ version: string }>('select version()')
const masterKey = parseMasterKey(generateMasterKey())
if (!masterKey) throw new Error('A generated master key is not valid')

const [compiled, ours] = [await measure('on'), await measure('off')]
process.stdout.write(`${versions[0]?.version}\nms of a processor${' '.repeat(45)}JIT on    JIT off\n`)
for (const [title, ms] of ours) {
  process.stdout.write(`${title.padEnd(56)}${number(compiled.get(title) ?? 0)} ${number(ms)}\n`)
}

/** The cost of each part for one session, in milliseconds of processor time. */
async function measure(jit: 'on' | 'off'): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const database = openDatabase({ url: server.url, poolSize: 1 })
  await database.pool.query(`set jit = ${jit}; set statement_timeout = 0`)
  const { rows } = await database.pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  const once = async (title: string, work: () => Promise<unknown>, runs = 1) => {
    const before = await processorMs(pid)
    for (let run = 0; run < runs; run++) await work()
    found.set(title, ((await processorMs(pid)) - before) / runs)
  }
  const often = async (title: string, work: () => Promise<unknown>, runs = times.other) => {
    await work()
    await once(title, work, runs)
  }

  const keyring = await openKeyring(database, masterKey as NonNullable<typeof masterKey>)
  await once(`${smallTransfers} small transfers, from queue to end`, async () => {
    const some = connections.slice(0, smallTransfers)
    for (const connection of some) await queue(database, connection)
    for (const _ of some) {
      const id = await claim(database)
      if (id === undefined) throw new Error('No transfer was claimed')
      const transfer = await openTransfer(database, keyring, id)
      await transfer.begin()
      await transfer.deliver()
      await transfer.end()
    }
  })
  for (const connection of connections.slice(10, 10 + times.claim + 1)) await queue(database, connection)
  await often('A claim', () => claim(database), times.claim)
  await client.query(`update transfers set status = 'cancelled' where status = 'running'`)
  await often('A claim that finds nothing', () => claim(database))
  await often('Looking whether any transfer waits', () => someQueued.first(database, {}))
  await often('Schedules that are due', () => takeDue.all(database, { limit: 100 }))
  const none = { ids: [], parts: [], attempts: [] }
  await often('Transfers of dead workers', () => requeueLost.all(database, { heartbeatTimeoutSeconds: 20, ...none }))
  await often('A token', () => findToken.first(database, { digest: Buffer.alloc(32) }))
  const page = { size: 50, offset: 0 }
  const all = {
    organizationId,
    accountId: null,
    accountIds: null,
    like: null,
    connectorIds: null,
    namedAccountIds: null,
  }
  const filter = { ...all, status: null, tags: null, owner: null, sort: '-created' as const }
  await often('Connections of the organization', () =>
    connectionList(filter).list.all(database, { ...filter, ...page }),
  )
  const searching = { ...filter, like: '%load%' }
  await often('… with a search, and the count', async () => {
    const { list, count } = connectionList(searching)
    await list.all(database, { ...searching, ...page })
    await count?.first(database, searching)
  })
  const attention = { organizationId, accountId: null, accountIds: null, failing: null, reason: null, ...page }
  await often('Connections that need attention', () => attentionOf.organization.all(database, attention))
  const ofOne = {
    connectionId: connections[0]?.id ?? '',
    status: null,
    statuses: transferStatuses,
    sort: '-created' as const,
  }
  await often('Transfers of a connection', () => transferList(ofOne).list.all(database, { ...ofOne, ...page }))
  const ids = connections.slice(0, 50).map(({ accountId }) => accountId)
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  const range = { organizationId, ids, startDate: day(31), endDate: day(0) }
  await often('Report of 50 accounts by day, a month', () => volumeOfAccounts.all(database, range))
  await database.close()
  return found
}

function number(ms: number): string {
  return ms.toFixed(1).padStart(9)
}
