/**
 * `npm run bench:scaling [-- --transfers 1000000 --entries 5 --partitioned]`: the load that one PostgreSQL can handle. Fills a
 * database with a month of transfers, then does the work of workers and callers with the statements of the program.
 * docs/scaling.md draws the conclusions from the figures. `--partitioned` runs the SQL of that page first.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { transferStatuses } from '@penstock/wire'
import pg from 'pg'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { volumeOfAccounts } from '../packages/server/src/reports/queries.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { transferList } from '../packages/server/src/transfers/list-queries.ts'
import { purgeRejects } from '../packages/server/src/transfers/purge-queries.ts'
import { someQueued } from '../packages/server/src/transfers/supervisor/upkeep-queries.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { addOrganization, load } from './load.ts'
import { median } from './measure.ts'
import { fillTransfers } from './scaling/fill.ts'
import { type Connection, claim, connectionColumns, openTransfer, queue } from './scaling/work.ts'

const { values: options } = parseArgs({
  options: {
    transfers: { type: 'string', default: '500000' },
    entries: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    partitioned: { type: 'boolean', default: false },
  },
})
const transfers = Number(options.transfers)
const seconds = Number(options.seconds)
const entriesEach = Number(options.entries)
const size = { accounts: 1_000, connectionsPerAccount: 10 }
const busyTransfers = 10_000
const workers = 8
const organizationId = 'organization0001'

await using cleanup = cleanupOfRun()

const environment = await startPostgres(cleanup)
const client = new pg.Client({ connectionString: environment.serverUrl, application_name: 'penstock bench' })
await client.connect()
cleanup.defer(() => client.end())
await migrate(environment.serverUrl)
await addOrganization(client, organizationId)
await load(environment.serverUrl, organizationId, 'production', size)
const begun = performance.now()
await fillTransfers(client, { transfers, entriesEach }, busyTransfers)
if (options.partitioned) await partition()
say(
  `${number(transfers)} transfers and ${number(transfers * entriesEach)} ledger entries of ${number(size.accounts)} accounts, filled in ${number((performance.now() - begun) / 1000)} s.`,
)
const database = openDatabase({ url: environment.serverUrl, poolSize: workers })
cleanup.defer(() => database.close())
const masterKey = parseMasterKey(generateMasterKey())
if (!masterKey) throw new Error('A generated master key is none')
const keyring = await openKeyring(database, masterKey)
const connections = (
  await client.query<Connection>(
    `select distinct on (account_id) ${connectionColumns} from connections where status = 'active' order by account_id, id`,
  )
).rows
const connectionsOfOne = (
  await client.query<Connection>(
    `select ${connectionColumns} from connections where status = 'active' and account_id = $1 and id <> $2`,
    [connections[0]?.accountId, connections[0]?.id],
  )
).rows

heading('Bytes', 'bytes', 'with indexes')
await sizes()
heading('Work, with 8 at once', 'a second')
await work()
heading('Claims, one at a time', 'a second')
await claiming()
heading('Questions', 'ms')
await asking()

/** The partitions from docs/scaling.md. */
async function partition(): Promise<void> {
  const text = await readFile(join(import.meta.dirname, '../docs/scaling.md'), 'utf8')
  for (const [, sql = ''] of text.matchAll(/^```sql\n(.*?)^```$/gms)) await client.query(sql)
  await client.query('vacuum (analyze)')
}

async function sizes(): Promise<void> {
  for (const table of ['transfers', 'ledger', 'rejects']) {
    const { rows } = await client.query<{ rows: number; heap: number; total: number }>(
      `select (select count(*) from ${table})::float8 as rows, sum(pg_table_size(relid))::float8 as heap,
         sum(pg_total_relation_size(relid))::float8 as total
       from (select '${table}'::regclass union all select inhrelid from pg_inherits where inhparent = '${table}'::regclass)
         as part (relid)`,
    )
    const [found] = rows
    if (found) row(`A row of ${table}`, found.heap / found.rows, found.total / found.rows)
  }
}

/** Work of the workers, at maximum speed. The limit is the rate of commits of this disk. */
async function work(): Promise<void> {
  await client.query('create table bare (id bigint generated always as identity, at timestamptz default now())')
  row('Commits of one small row, the limit', await rate(() => database.pool.query('insert into bare default values')))
  const apart = await Promise.all(connections.slice(0, workers).map(begin))
  const together = await Promise.all(connectionsOfOne.slice(0, workers).map(begin))
  const turns = (some: typeof apart, rejected = 0) =>
    rate(async (worker) => some[worker]?.deliver(rejected), some.length)
  row('Batches, announced and confirmed, of 8 accounts', await turns(apart))
  row('… with 10 rejected records each', await turns(apart, 10))
  row(`… of ${together.length} connections of one account`, await turns(together))
  for (const transfer of [...apart, ...together]) await transfer.end()
  let next = workers
  row(
    'Whole transfers of one batch, from queue to end',
    await rate(async () => {
      const connection = connections[next++ % connections.length]
      if (!connection) return
      await queue(database, connection)
      const id = await claim(database)
      if (id === undefined) return
      const transfer = await openTransfer(database, keyring, id)
      await transfer.begin()
      await transfer.deliver()
      await transfer.end()
    }),
  )
}

async function begin(connection: Connection) {
  const id = await queue(database, connection)
  for (const [table, key] of [
    ['transfers', 'id'],
    ['transfer_parts', 'transfer_id'],
  ])
    await database.pool.query(`update ${table} set status = 'running', attempt = 1 where ${key} = $1`, [id])
  const transfer = await openTransfer(database, keyring, id)
  await transfer.begin()
  return transfer
}

async function claiming(): Promise<void> {
  const queued = `insert into transfers
      (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger)
    select substr(md5('queued:' || id), 1, 16), organization_id, account_id, id, src_connector_id, dest_connector_id,
      'queued', 'schedule'
    from connections c
    where status = 'active' and not exists
      (select from transfers t where t.connection_id = c.id and t.status in ('queued', 'running'))
    order by md5(account_id) limit $1`
  for (const [waiting, title] of [
    [1_000, 'With 1,000 that wait'],
    [5_000, 'With 5,000 that wait'],
  ] as const) {
    const { rows } = await client.query(`select count(*)::int as n from transfers where status = 'queued'`)
    await client.query(queued, [waiting - rows[0].n])
    await client.query('analyze transfers')
    const timesMs: number[] = []
    for (let i = 0; i < 200; i++) timesMs.push(await timeMs(() => claim(database)))
    row(title, 1000 / median(timesMs))
    for (const table of ['transfers', 'transfer_parts'])
      await client.query(`update ${table} set status = 'queued' where status = 'running'`)
  }
  row('Looking whether any waits, with 5,000', 1000 / (await typicalMs(() => someQueued.first(database, {}))))
  await client.query(`delete from transfers where status in ('queued', 'running')`)
}

async function asking(): Promise<void> {
  const busy = (
    await client.query<{ connection_id: string }>(
      'select connection_id from transfers group by 1 order by count(*) desc limit 1',
    )
  ).rows[0]?.connection_id
  const lists = async (connectionId: string, status: 'failed' | null) => {
    const filter = { connectionId, status, statuses: status ? [status] : transferStatuses, sort: '-created' as const }
    const { list, count } = transferList(filter)
    await list.all(database, { ...filter, size: 50, offset: 0 })
    await count.first(database, filter)
  }
  const anyConnection = () => connections[Math.floor(Math.random() * connections.length)]?.id ?? ''
  row('Transfers of a connection, a page and its count', await typicalMs(() => lists(anyConnection(), null)))
  if (busy) {
    row(`… that has ${number(busyTransfers)}`, await typicalMs(() => lists(busy, null)))
    row('… of these, those that failed', await typicalMs(() => lists(busy, 'failed')))
  }
  const ids = connections.slice(0, 50).map(({ accountId }) => accountId)
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  const report = (accounts: readonly string[]) =>
    volumeOfAccounts.all(database, { organizationId, ids: accounts, startDate: day(31), endDate: day(0) })
  row('Report of one account by day, a month', await typicalMs(() => report(ids.slice(0, 1))))
  row('Report of 50 accounts by day, a month', await typicalMs(() => report(ids), 10))
  row(
    'Looking for rejected records to purge',
    await typicalMs(() => purgeRejects.run(database, { days: 60, limit: 1 })),
  )
  row(
    '… of transfers that ended long ago',
    await typicalMs(() => purgeRejects.run(database, { days: 1, limit: 1 }), 10),
  )
}

/** Runs a second with a number of concurrent workers. */
async function rate(once: (worker: number) => Promise<unknown>, atOnce = workers): Promise<number> {
  let done = 0
  const from = performance.now()
  const until = from + seconds * 1000
  await Promise.all(
    Array.from({ length: atOnce }, async (_, worker) => {
      while (performance.now() < until) {
        await once(worker)
        done++
      }
    }),
  )
  return done / ((performance.now() - from) / 1000)
}

async function timeMs(once: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await once()
  return performance.now() - from
}

async function typicalMs(once: () => Promise<unknown>, times = 50): Promise<number> {
  const timesMs: number[] = []
  for (let i = 0; i < times; i++) timesMs.push(await timeMs(once))
  return median(timesMs)
}

function heading(title: string, ...columns: string[]): void {
  say(`\n${title.padEnd(52)}${columns.map((text) => text.padStart(14)).join('')}`)
}

function row(name: string, ...figures: number[]): void {
  const shown = figures.map((figure) => (figure < 100 ? figure.toFixed(1) : number(figure)).padStart(14))
  say(`${name.padEnd(52)}${shown.join('')}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en')
}
