/**
 * `npm run bench:purge [-- --transfers 1000000] [--batches 300]`: the purge of old transfers on a large table, in batches of several sizes,
 * and claims of a worker at the same time. Each transfer has a log, a part and an entry of the ledger.
 */
import { parseArgs } from 'node:util'
import { limits } from '@penstock/wire'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { purgeOldTransfers } from '../packages/server/src/transfers/purge-queries.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { addOrganization, load } from './load.ts'
import { processorMs } from './processor.ts'
import { fillTransfers } from './scaling/fill.ts'
import { type Connection, claim, connectionColumns, queue } from './scaling/work.ts'

const { values: options } = parseArgs({
  options: { transfers: { type: 'string', default: '1000000' }, batches: { type: 'string', default: '300' } },
})
const organizationId = 'organization0001'
const sizes = [50, 200, 1_000]
/** How many transfers each size of a batch removes in all. */
const removedEach = Number(options.batches) * 200

await using cleanup = cleanupOfRun()
const { serverUrl: url } = await startPostgres(cleanup)
await migrate(url)
const client = await openSession(url, 'bench')
cleanup.defer(() => client.end())
await addOrganization(client, organizationId)
await load(url, organizationId, 'production', { accounts: 100, connectionsPerAccount: 10 })
await client.query('set statement_timeout = 0')
await fillTransfers(client, { transfers: Number(options.transfers), entriesEach: 1 }, 1_000)
const line = '{"ms": 1700000000000, "kind": "began", "text": "A worker took the transfer."}'
await client.query(
  `insert into transfer_logs (transfer_id, attempt, lines) select id, 1, ('[' || repeat($1 || ',', 9) || $1 || ']')::jsonb from transfers`,
  [line],
)
await client.query(`insert into transfer_parts (transfer_id, number, share, status, attempt, finished_time)
  select id, 1, 1, 'succeeded', 1, finished_time from transfers`)
await client.query('vacuum (analyze)')
const { rows: connections } = await client.query<Connection>(
  `select ${connectionColumns} from connections where status = 'active' order by id desc limit 50`,
)
const purging = openDatabase({ url, poolSize: 1 })
const bystander = openDatabase({ url, poolSize: 2 })
cleanup.defer(() => purging.close())
cleanup.defer(() => bystander.close())

/** Queues a transfer and claims it, again and again until `stop`: the milliseconds of each claim. */
async function claims(stop: AbortSignal): Promise<number[]> {
  const ms: number[] = []
  for (let n = 0; !stop.aborted; n++) {
    const connection = connections[n % connections.length]
    if (!connection) throw new Error('There is no active connection')
    await queue(bystander, connection)
    const began = performance.now()
    const id = await claim(bystander)
    ms.push(performance.now() - began)
    if (id === undefined) throw new Error('No transfer was claimed')
    await bystander.pool.query(
      `update transfers set status = 'cancelled', finished_time = now(), heartbeat_time = null where id = $1`,
      [id],
    )
  }
  return ms
}

type Batches = { readonly ms: number[]; readonly processor: number; readonly removed: number; readonly ended: boolean }

/** Removes transfers in batches of a size, from where the last call ended. */
let connection: string | null = ''
async function remove(limit: number): Promise<Batches> {
  const ms: number[] = []
  const { rows: sessions } = await purging.pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = sessions[0]?.pid ?? 0
  const before = await processorMs(pid)
  let removed = 0
  while (connection !== null && removed < removedEach) {
    const of = { days: 1, kept: limits.transfersKeptMin, connection, limit }
    const began = performance.now()
    const batch = await purging.transaction((tx) => purgeOldTransfers.first(tx, of))
    ms.push(performance.now() - began)
    removed += batch?.removed ?? 0
    connection = batch?.connection ?? null
  }
  return { ms, processor: (await processorMs(pid)) - before, removed, ended: connection === null }
}

const at = (sorted: readonly number[], part: number) =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)
const describe = (ms: readonly number[]) => {
  const sorted = [...ms].sort((a, b) => a - b)
  return `median ${at(sorted, 0.5)} ms, 99 % ${at(sorted, 0.99)} ms, longest ${at(sorted, 1)} ms (${ms.length})`
}
const say = (text: string) => void process.stdout.write(`${text}\n`)

say(`${options.transfers} transfers of ${(await client.query('select from connections')).rowCount} connections`)
const alone = new AbortController()
setTimeout(() => alone.abort(), 15_000)
say(`claims without a purge: ${describe(await claims(alone.signal))}`)
for (const size of sizes) {
  const stop = new AbortController()
  const beside = claims(stop.signal)
  beside.catch(() => {})
  const { ms, processor, removed, ended } = await remove(size).finally(() => stop.abort())
  say(
    `batches of ${size}: ${describe(ms)}; ${(processor / removed).toFixed(3)} ms of a processor for each of ${removed} transfers`,
  )
  say(`  claims beside them: ${describe(await beside)}`)
  if (ended) break
}
