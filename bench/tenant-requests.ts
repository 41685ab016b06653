/**
 * `npm run bench:tenants [-- --server /usr/lib/postgresql/15] [--accounts 200] [--transfers 500000]`: the processor time of
 * PostgreSQL for the most expensive requests of a tenant: searches for common letters, distant pages, filters without matches,
 * and reports of everything, in an organization that has filled its quotas.
 */
import { parseArgs } from 'node:util'
import { connectionOrders, type OperationId, transferOrders } from '@penstock/wire'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { startOtherPostgres } from '../test/harness/other-postgres.ts'
import { type CallOptions, startServiceOn } from '../test/harness/service.ts'
import { cleanupOfRun } from './environment.ts'
import { load } from './load.ts'
import { processorMsOfSiblings } from './processor.ts'
import { fillTransfers } from './scaling/fill.ts'

const { values: options } = parseArgs({
  options: {
    server: { type: 'string', default: '/usr/lib/postgresql/15' },
    accounts: { type: 'string', default: '200' },
    transfers: { type: 'string', default: '500000' },
  },
})
const size = { accounts: Number(options.accounts), connectionsPerAccount: 1_000 }

await using cleanup = cleanupOfRun()
const server = await startOtherPostgres(options.server, {})
cleanup.defer(server.stop)
await migrate(server.url)
const service = await startServiceOn(server.url, { PENSTOCK_LOG_LEVEL: 'silent' })
cleanup.defer(service.close)
const { organizationId, token } = await service.addOrganization()
const client = await openSession(server.url, 'bench')
cleanup.defer(() => client.end())
const { rows: environments } = await client.query<{ name: string }>('select name from environments')
const loaded = await load(server.url, organizationId, environments[0]?.name ?? '', size)
// Names of 200 letters, in which the searches below almost match at every place.
await client.query(
  `update connections set name = rpad(substr(name, 1, 20), 150, 'a') || 'c' || rpad('', 48, 'a') || 'd', tags = '{a,b}', tag_keys = '{a,b}'`,
)
await fillTransfers(client, { transfers: Number(options.transfers), entriesEach: 1 }, 20_000)
await client.query(
  `insert into audit_events (organization_id, number, time, actor_kind, actor_id, action, account_id, target_id, outcome, hash)
   select $1, n, now() - make_interval(secs => 1000000 - n), 'client', 'a', 'addAccount', ($2::text[])[n % $3 + 1], 'b', 'done', '\\x00'
   from generate_series(1000, $4::int + 1000) n`,
  [organizationId, loaded.accountIds, loaded.accountIds.length, Number(options.transfers)],
)
await client.query('update audit_heads set number = $2 where organization_id = $1', [
  organizationId,
  Number(options.transfers) + 1_000,
])
await client.query('vacuum (analyze)')
const { rows: busiest } = await client.query<{ id: string; accountId: string }>(
  'select connection_id as id, account_id as "accountId" from transfers group by 1, 2 order by count(*) desc limit 1',
)
const limited = await service.call('createClient', {
  token,
  body: {
    name: 'limited',
    scopes: ['accounts:read', 'connections:read', 'transfers:read', 'reports:read', 'audit:read'],
    accountIds: loaded.accountIds.slice(0, 50),
  },
} as never)
const { clientId, clientSecret } = Object(limited.response)
const limitedToken = Object(
  (await service.call('createToken', { body: { clientId: clientId ?? Object(limited.response).id, clientSecret } }))
    .response,
).accessToken as string

const almost = `${'a'.repeat(49)}d`
const far = 100_000
const accountId = busiest[0]?.accountId ?? ''
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
const days = { startDate: day(360), endDate: day(0) }
type Asked = [title: string, operation: OperationId, options: CallOptions<never>]
const ask = (title: string, operation: OperationId, query: object, more: object = {}): Asked => [
  title,
  operation,
  { query, ...more } as CallOptions<never>,
]
const asked: Asked[] = [
  ask('Connections, a page', 'listConnections', {}),
  ask('… far away', 'listConnections', { offset: far, size: 500 }),
  ...[almost, 'aa', 'd', 'aaa', 'ad'].map((q) => ask(`… with ${q.slice(0, 9)}`, 'listConnections', { q })),
  ...connectionOrders.map((sort) => ask(`… by ${sort}, far away`, 'listConnections', { sort, offset: far, size: 500 })),
  ...connectionOrders.map((sort) =>
    ask(`… by ${sort}, with a text that nothing has`, 'listConnections', { sort, q: almost }),
  ),
  ask('… with tags', 'listConnections', { tags: 'a,b', offset: far }),
  ask('… of an owner that does not exist', 'listConnections', { owner: 'none', tags: 'c' }),
  ask('… of one account, with a text', 'listConnections', { q: almost }, { accountId }),
  ask('… limited to 50 accounts', 'listConnections', { q: almost, offset: 40_000 }, { token: limitedToken }),
  ask('Details of connections, far away', 'listConnectionDetails', { offset: far, size: 500 }),
  ask('… that read the rejected records of one', 'listConnectionDetails', { rejectsOf: busiest[0]?.id }),
  ask('Labels, far away', 'listConnectionLabels', { offset: far, size: 500 }),
  ask('Tags', 'listConnectionTags', { q: 'b' }),
  ask('Attention', 'listAttention', { size: 500 }),
  ask('… far away', 'listAttention', { size: 500, offset: 5_000 }),
  ...transferOrders.flatMap((sort) => [
    ask(`Transfers of the organization by ${sort}`, 'listAllTransfers', { sort }),
    ask(`… far away`, 'listAllTransfers', { sort, offset: 400_000, size: 500 }),
    ask(`… latest, far away`, 'listAllTransfers', { sort, latest: true, offset: far, size: 500 }),
  ]),
  ask('… limited to 50 accounts, far away', 'listAllTransfers', { offset: far, size: 500 }, { token: limitedToken }),
  ...['-created', '-duration', 'rejected'].map((sort) =>
    ask(
      `Transfers of one connection by ${sort}, far away`,
      'listTransfers',
      { sort, offset: 15_000, size: 500 },
      busiest[0],
    ),
  ),
  ask('Accounts with a text', 'listAccounts', { q: almost }),
  ask('Report of 500 accounts, a year', 'reportAccounts', { ...days, size: 500 }),
  ask('… with a text', 'reportAccounts', { ...days, size: 500, q: '1' }),
  ask('Report of 500 connections, a year', 'reportConnections', { ...days, size: 500 }, { accountId }),
  ask('Audit log', 'listAudit', {}),
  ask('… far away', 'listAudit', { offset: 400_000, size: 500 }),
  ask('… of an action', 'listAudit', { action: 'addAccount', offset: 400_000 }),
  ask('… of a target and an actor', 'listAudit', { actorId: 'a', targetId: 'b', action: 'removeConnector' }),
  ask('… limited to 50 accounts', 'listAudit', { offset: far, size: 500 }, { token: limitedToken }),
]

const { rows: pids } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
const pid = pids[0]?.pid ?? 0
for (const [title, operation, given] of asked) {
  await service.call(operation, { token, ...given } as never).catch(() => {})
  const before = await processorMsOfSiblings(pid)
  const begun = performance.now()
  let status: unknown
  try {
    status = (await service.call(operation, { token, ...given } as never)).status
  } catch (error) {
    status = String(error).slice(0, 200)
  }
  const ms = performance.now() - begun
  process.stdout.write(
    `${title.padEnd(60)}${String((await processorMsOfSiblings(pid)) - before).padStart(8)} ms of a processor  ${ms.toFixed(0).padStart(7)} ms  ${status}\n`,
  )
}
