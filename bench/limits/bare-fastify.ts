/**
 * The limit of the operations that use PostgreSQL: Fastify, the driver and the very statements of the service,
 * without authentication, validation, transactions that are not needed, views, headers, metrics and log.
 */
import { createHash, randomBytes } from 'node:crypto'
import { fastify } from 'fastify'
import pg from 'pg'
import { insertAccount } from '../../packages/server/src/accounts/queries.ts'
import { connectionList } from '../../packages/server/src/connections/list-queries.ts'
import * as connections from '../../packages/server/src/connections/queries.ts'
import { poolSizeDefault } from '../../packages/server/src/db/database.ts'
import { statement } from '../../packages/server/src/db/statement.ts'
import { newIdentifier } from '../../packages/server/src/identifiers.ts'
import { plain } from './plain.ts'

type AccountQuery = { accountId: string; size: string }
type NewConnection = {
  name: string
  srcConnectorId: string
  destConnectorId: string
  srcConnectionConfig: unknown
  destConnectionConfig: unknown
}

/** Only the insert: this server knows the configurations, which the service looks up in the same statement. */
const insertConnection = statement<Record<string, string>, connections.ConnectionRow>(`
  with c as (
    insert into connections
      (id, organization_id, account_id, name, status, src_connector_id, dest_connector_id,
       src_configuration_id, dest_configuration_id, src_config, dest_config, env)
    values
      (:id, :organizationId, :accountId, :name, 'In-progress', :srcConnectorId, :destConnectorId,
       :srcConfigurationId, :destConfigurationId, :srcConfig, :destConfig, :env)
    returning *
  )
  select ${connections.connectionColumns} from c ${connections.sideTables}
`)

/** Only the insert: the service also checks the client and adds the event of the sign-in in the same statement. */
const insertToken = statement<Record<string, unknown>>(`
  insert into tokens (digest, client_id, expires_time)
  values (:digest, :clientId, now() + make_interval(secs => :lifetimeSeconds))
`)

const { DATABASE_URL = '', PORT = '', ENVIRONMENT = '', ORGANIZATION = '', CLIENT = '' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: poolSizeDefault, application_name: 'penstock bench' })
const filter = {
  organizationId: '',
  accountId: '',
  accountIds: null,
  like: null,
  connectorIds: null,
  namedAccountIds: null,
  status: null,
  tags: null,
  owner: null,
  sort: '-created',
} as const
const page = connectionList(filter)

const find = plain(connections.findConnection)
const list = plain(page.list)
const connection = plain(insertConnection)
const account = plain(insertAccount)
const token = plain(insertToken)
/** The first configuration of each connector of each account, which a connection needs. */
const configurations = new Map<string, string>()
const configured = await pool.query<{ account_id: string; connector_id: string; id: string }>(
  'select account_id, connector_id, id from configurations where first',
)
for (const { account_id, connector_id, id } of configured.rows) configurations.set(`${account_id} ${connector_id}`, id)

const rows = async (query: pg.QueryConfig) => JSON.stringify((await pool.query(query)).rows)

/** Inserts between BEGIN and COMMIT, which any insert of more than one row needs. */
async function insert(query: pg.QueryConfig): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(query)
    await client.query('commit')
  } finally {
    client.release()
  }
}

const app = fastify()
app.get('/', async () => 'ok')

app.get<{ Params: { id: string }; Querystring: AccountQuery }>('/es/v2/connections/:id', async (request, reply) => {
  reply.type('application/json')
  return rows(find({ id: request.params.id, accountId: request.query.accountId }))
})

app.get<{ Querystring: AccountQuery }>('/es/v2/connections', async ({ query: { accountId, size } }, reply) => {
  reply.type('application/json')
  return rows(list({ ...filter, organizationId: ORGANIZATION, accountId, size: Number(size), offset: 0 }))
})

app.post<{ Querystring: AccountQuery; Body: NewConnection }>('/es/v2/connections', async (request, reply) => {
  const { body } = request
  const { accountId } = request.query
  const id = newIdentifier()
  await insert(
    connection({
      id,
      organizationId: ORGANIZATION,
      accountId,
      name: body.name,
      srcConnectorId: body.srcConnectorId,
      destConnectorId: body.destConnectorId,
      srcConfigurationId: configurations.get(`${accountId} ${body.srcConnectorId}`) ?? '',
      destConfigurationId: configurations.get(`${accountId} ${body.destConnectorId}`) ?? '',
      srcConfig: JSON.stringify(body.srcConnectionConfig),
      destConfig: JSON.stringify(body.destConnectionConfig),
      env: ENVIRONMENT,
    }),
  )
  reply.type('application/json').code(201)
  return JSON.stringify({ id })
})

app.post<{ Body: { name: string } }>('/es/v2/accounts', async ({ body: { name } }, reply) => {
  const id = newIdentifier()
  const creator = { creatorId: null, creatorEmail: null }
  await insert(account({ id, organizationId: ORGANIZATION, name, enabled: true, env: ENVIRONMENT, ...creator }))
  reply.type('application/json').code(201)
  return JSON.stringify({ id })
})

app.post('/es/v2/oauth/client-token', async (_, reply) => {
  const accessToken = randomBytes(32).toString('base64url')
  const digest = createHash('sha256').update(accessToken).digest()
  await pool.query(token({ digest, clientId: CLIENT, lifetimeSeconds: 86_400 }))
  reply.type('application/json')
  return JSON.stringify({ accessToken })
})

await app.listen({ host: '127.0.0.1', port: Number(PORT) })
process.on('SIGTERM', () => process.exit(0))
