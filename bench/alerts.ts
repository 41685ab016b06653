/**
 * `npm run bench:alerts [-- --changes 2000]` measures the cost of the triggers of alerts. It runs the statement that ends a
 * transfer, the statement that confirms a batch (which calls no trigger) and a change of status, alternately with and without
 * their trigger. It also measures how long a worker needs to check connections whose transfers ended, with few rules and with the
 * maximum number of rules of an organization.
 */
import { parseArgs } from 'node:util'
import { limits } from '@penstock/wire'
import { lookAtAll } from '../packages/server/src/alerts/keep.ts'
import { createCatalogue } from '../packages/server/src/connectors/catalogue.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { median } from './measure.ts'
import { startService } from './service.ts'

const { values: options } = parseArgs({ options: { changes: { type: 'string', default: '2000' } } })
const changes = Number(options.changes)
const connections = 10_000

await using cleanup = cleanupOfRun()
const environment = await startPostgres(cleanup)
const size = { accounts: 100, connectionsPerAccount: connections / 100 }
const service = await startService(environment, 'alerts', size, { PENSTOCK_WORKER: '0' })
cleanup.defer(() => service.stop())
const database = openDatabase({ url: service.databaseUrl, poolSize: 2 })
cleanup.defer(() => database.close())
const { pool } = database
await pool.query(
  `update connections set status = 'active', previous_status = null, deleted_time = null, created_time = now()`,
)
await pool.query(
  `insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger, started_time)
   select substr(md5(id || 'running'), 1, 16), organization_id, account_id, id, src_connector_id, dest_connector_id, 'running', 'manual', now()
   from connections`,
)
await pool.query('vacuum (analyze)')
const { rows: ids } = await pool.query<{ id: string; transfer: string }>(
  `select connection_id as id, id as transfer from transfers order by id`,
)

/** Each is rolled back, so that all find the same. */
const kinds = [
  {
    name: 'a batch is confirmed',
    trigger: 'transfers_check_alerts on transfers',
    text: `update transfers set read = read + 1000, accepted = accepted + 1000 where id = $1 and status = 'running'`,
    idOf: (n: number) => ids[n % ids.length]?.transfer,
  },
  {
    name: 'a transfer ends',
    trigger: 'transfers_check_alerts on transfers',
    text: `update transfers set status = 'succeeded', finished_time = now() where id = $1`,
    idOf: (n: number) => ids[n % ids.length]?.transfer,
  },
  {
    name: 'a connection becomes broken',
    trigger: 'connections_check_alerts on connections',
    text: `update connections set status = 'broken' where id = $1`,
    idOf: (n: number) => ids[n % ids.length]?.id,
  },
] as const

/** Milliseconds that a statement takes in the server, with and without the trigger. */
async function costOf({ trigger, text, idOf }: (typeof kinds)[number]): Promise<Record<'with' | 'without', number>> {
  const [name, table] = trigger.split(' on ')
  const took = { with: [] as number[], without: [] as number[] }
  const client = await pool.connect()
  // As in a worker's connection: the plan of the statement is reused.
  const block = 100
  try {
    for (let n = 0; n < changes * 2; n += block) {
      const way = (n / block) % 2 === 0 ? 'with' : 'without'
      await client.query(`alter table ${table} ${way === 'with' ? 'enable' : 'disable'} trigger ${name}`)
      for (let i = 0; i < block; i++) {
        await client.query('begin')
        const fromMs = performance.now()
        await client.query({ name: text.slice(0, 40), text, values: [idOf(n + i)] })
        // The first runs create the plan.
        if (i >= 10) took[way].push(performance.now() - fromMs)
        await client.query('rollback')
      }
    }
    await client.query(`alter table ${table} enable trigger ${name}`)
  } finally {
    client.release()
  }
  return { with: median(took.with), without: median(took.without) }
}

for (const kind of kinds) {
  const { with: there, without } = await costOf(kind)
  console.log(`${kind.name}: ${there.toFixed(3)} ms with the trigger, ${without.toFixed(3)} ms without`)
}

const deps = { database, catalogue: createCatalogue(service.url), mailer: { isSetUp: true } as never }
const noteAll = () => pool.query('insert into alert_checks (connection_id) select id from connections')
/** Milliseconds for all connections. */
async function look(): Promise<number> {
  await pool.query(`update alert_sweeps set next_time = now() + interval '1 day'`)
  await noteAll()
  const fromMs = performance.now()
  await lookAtAll(deps)
  return performance.now() - fromMs
}
await look()
console.log(`${connections} connections looked at, 1 rule: ${Math.round(await look())} ms`)
await pool.query(
  `insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, no_success_hours, volume_percent, emails, email_roles)
   select 'rule' || n, $1, 'Rule ' || n, true, true, 24, 50, '{}', '{}' from generate_series(2, $2::int) as n`,
  [service.organizationId, limits.alertRulesMax],
)
await look()
console.log(`… ${limits.alertRulesMax} rules of everything: ${Math.round(await look())} ms`)
await pool.query(`update alert_sweeps set next_time = now() where name = 'open and idle'`)
const fromMs = performance.now()
await lookAtAll(deps)
console.log(`… swept for those without a success: ${Math.round(performance.now() - fromMs)} ms`)
