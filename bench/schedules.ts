/**
 * `npm run bench:schedules [-- --schedules 20000] [--seconds 60] [--workers 1]`: how fast schedules that are due in the same
 * minute start their transfers, on the PostgreSQL that Penstock includes. It runs the code of a worker, but no transfers.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Catalogue, createCatalogue } from '../packages/server/src/connectors/catalogue.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { Claims } from '../packages/server/src/transfers/supervisor/claim.ts'
import type { SupervisorDeps } from '../packages/server/src/transfers/supervisor/deps.ts'
import { keepUp } from '../packages/server/src/transfers/supervisor/upkeep.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { addOrganization, load, pairing } from './load.ts'

const { values: options } = parseArgs({
  options: {
    schedules: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '60' },
    workers: { type: 'string', default: '1' },
  },
})
const schedules = Number(options.schedules)
const seconds = Number(options.seconds)
const workers = Number(options.workers)
const connectionsPerAccount = 20
const organizationId = 'organization0001'

/** One transfer of each schedule: the previous one, or the one that is due. */
const insertTransfers = (status: 'succeeded' | 'queued') => `
  insert into transfers
    (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger)
  select substr(md5('${status}' || c.id), 1, 16), organization_id, account_id, c.id, src_connector_id, dest_connector_id,
    '${status}', 'schedule'
  from connections c where exists (select from schedules s where s.connection_id = c.id)`

await using cleanup = cleanupOfRun()

const { serverUrl } = await startPostgres(cleanup)
const client = new pg.Client({ connectionString: serverUrl, application_name: 'penstock bench' })
await client.connect()
cleanup.defer(() => client.end())
await migrate(serverUrl)
await addOrganization(client, organizationId)
// Seven of ten connections are active once they are loaded.
const accounts = Math.ceil((schedules * 2) / connectionsPerAccount)
await load(serverUrl, organizationId, 'production', { accounts, connectionsPerAccount })
await client.query(`update connections set src_connector_id = $1, dest_connector_id = $2 where status = 'active'`, [
  pairing.srcConnectorId,
  pairing.destConnectorId,
])
await client.query(
  `insert into schedules (connection_id, cron, timezone, enabled, next_time)
   select id, '0 6 * * *', 'Europe/Berlin', true, null from connections where status = 'active' order by md5(id) limit $1`,
  [schedules],
)
// First a few transfers, so that PostgreSQL knows the table when it plans the others.
await client.query(`${insertTransfers('succeeded')} limit 1000`)
await client.query('analyze transfers')
await client.query(`${insertTransfers('succeeded')} on conflict do nothing`)
await client.query('vacuum (analyze)')
await client.query('checkpoint')
process.stdout.write(`${schedules} schedules of ${accounts} sub-accounts, ${workers} worker(s)\n`)

// The limit: the same rows, with everything that their triggers and keys cost, by one statement.
const inserted = await timeMs(() => client.query(insertTransfers('queued')))
const limit = schedules / (inserted / 1000)
await client.query(`delete from transfers where status = 'queued'`)
await client.query(`update transfers set latest = true`)
await client.query('vacuum (analyze)')

const queued = `select count(*)::int as n from transfers where status = 'queued'`
const count = async () => (await client.query<{ n: number }>(queued)).rows[0]?.n ?? 0
const stopping = new AbortController()
const log = createLogger('warn')
await client.query(`update schedules set next_time = now()`)
const from = performance.now()
const running = Array.from({ length: workers }, () => work(stopping.signal))
let started = 0
while (started < schedules && performance.now() - from < seconds * 1000) {
  await delay(100)
  started = await count()
}
const tookMs = performance.now() - from
stopping.abort()
await Promise.all(running)
say('Rows inserted by one statement, the limit', limit)
say(`Started a second (${started} in ${(tookMs / 1000).toFixed(1)} s)`, started / (tookMs / 1000))
say('… part of the limit, in percent', (started / (tookMs / 1000) / limit) * 100)

/** The upkeep of one worker. */
async function work(signal: AbortSignal): Promise<void> {
  const database = openDatabase({ url: serverUrl, poolSize: 7 })
  const deps = {
    database,
    catalogue: createCatalogue(new URL('http://localhost').origin) as Catalogue,
    settings: { heartbeatTimeoutMs: 20_000 },
  } as SupervisorDeps
  const most = Number.MAX_SAFE_INTEGER
  const claims = new Claims({
    perOrganizationHere: most,
    perAccountHere: most,
    perAccount: most,
    perPlatform: 0,
    perTransfer: 4,
  })
  await keepUp(deps, { claims, wake: () => {} }, log, signal)
  await database.close()
}

async function timeMs(once: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await once()
  return performance.now() - begun
}

function say(name: string, figure: number): void {
  process.stdout.write(`${name.padEnd(52)}${figure.toFixed(figure < 100 ? 1 : 0).padStart(10)}\n`)
}
