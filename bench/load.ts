import { connectors } from '@penstock/connectors'
import type { Role } from '@penstock/wire'
import pg from 'pg'
import { withoutIndexes } from './without-indexes.ts'

/** How much a database holds. */
export type Size = { accounts: number; connectionsPerAccount: number }

/** Resources that a measurement picks from. */
export type Loaded = { accountIds: string[]; connections: { id: string; accountId: string }[] }

const words = `audience buyers cart churn daily events geo hourly lapwing leads loyalty orders prospects reach retail
  sales seasonal sessions subscribers trial`.split(/\s+/)

/** A word that one connection in twenty has in its name, and no connector of the catalogue. */
export const rareWord = 'lapwing'

/** A status that one connection in ten has. */
export const rareStatus = 'broken'
const statuses = ['active', 'active', 'active', 'active', 'active', 'active', 'In-progress', 'disabled', 'deleted']

/** A source and a destination that fit, which every account has added. */
export const pairing = { srcConnectorId: idOf('amazon-s3-source'), destConnectorId: idOf('snowflake-destination') }
const connectorsPerRole = 4

const sampled = 20_000

/** Connections that one statement inserts: its triggers keep all of them until it ends. */
const atOnce = 500_000

/** Adds an organization, and the environment `production` of its sub-accounts. */
export async function addOrganization(client: Pick<pg.ClientBase, 'query'>, organizationId: string): Promise<void> {
  await client.query(`insert into environments (name, id, host) values ('production', 'environment00001', 'bench')`)
  await client.query(
    `insert into organizations (id, name, owner_id, owner_email) values ($1, 'Bench', 'owner', 'owner@example.com')`,
    [organizationId],
  )
}

/**
 * Fills an empty organization by a few large statements: accounts, connectors added to each, connections between them. The
 * connections of all accounts are mixed in time, as in a service with many concurrent users.
 */
export async function load(url: string, organizationId: string, env: string, size: Size): Promise<Loaded> {
  const client = new pg.Client({ connectionString: url, application_name: 'penstock bench' })
  await client.connect()
  try {
    // Each insert changes the same row of counts, and all of its versions in one transaction are kept until it ends.
    for (let from = 0; from < size.accounts; from += 1_000) {
      await client.query(insertAccounts, [organizationId, env, from, Math.min(from + 1_000, size.accounts) - 1])
    }
    await client.query(insertAddedConnectors, [[...withRole('Source'), ...withRole('Destination')], env])
    const connections = size.accounts * size.connectionsPerAccount
    const filled = [organizationId, env, size.accounts, connections, words, [...statuses, rareStatus]]
    const fill = async () => {
      for (let from = 0; from < connections; from += atOnce) {
        const part = [from, Math.min(from + atOnce, connections) - 1]
        await client.query(insertConnections, [...filled, withRole('Source'), withRole('Destination'), ...part])
      }
    }
    await withoutIndexes(client, ['connections', 'connection_events'], fill)
    await client.query('vacuum (analyze)')
    await client.query('checkpoint')
    const accounts = await client.query<{ id: string }>('select id from accounts')
    const picked = await client.query<{ id: string; accountId: string }>(
      `select id, account_id as "accountId" from connections order by md5(id) limit ${sampled}`,
    )
    return { accountIds: accounts.rows.map(({ id }) => id), connections: picked.rows }
  } finally {
    await client.end()
  }
}

/** An identifier that follows from its parts: the same in every run. */
const identifier = (...parts: string[]) => `substr(md5(concat_ws(':', ${parts.join(', ')})), 1, 16)`

const insertAccounts = `
  insert into accounts (id, organization_id, name, enabled, env, created_time, updated_time)
  select ${identifier("'account'", 'n')}, $1, 'Account ' || n, true, $2, made, made
  from generate_series($3::int, $4::int) n, lateral (select now() - n * interval '1 minute' as made) m`

const insertAddedConnectors = `
  with added as (
    insert into added_connectors (account_id, connector_id, env)
    select a.id, connector, $2 from accounts a, unnest($1::text[]) connector
    returning account_id, connector_id
  )
  insert into configurations (account_id, connector_id, id, first, configured, name, secret_name)
  select account_id, connector_id, ${identifier("'configuration'", 'account_id', 'connector_id')}, true, true, 'Default',
    'secret/' || account_id
  from added`

/**
 * `a` numbers the accounts and `k` the connections of an account. Words, statuses and ends rotate with different periods, so that
 * they all occur in every account and in every period of time.
 */
const insertConnections = `
  insert into connections
    (id, organization_id, account_id, name, status, previous_status, src_connector_id, dest_connector_id,
     src_configuration_id, dest_configuration_id, src_config, dest_config, env, total_volume, used_volume,
     created_time, updated_time, deleted_time)
  select ${identifier("'connection'", 'n')}, $1, account, initcap(word) || ' number ' || n, status,
    case when status in ('disabled', 'deleted') then 'active' end, src, dest,
    ${identifier("'configuration'", 'account', 'src')}, ${identifier("'configuration'", 'account', 'dest')},
    '{"bucketUri": "s3://bucket/prefix"}', '{"warehouse": "W", "database": "D", "schema": "S", "table": "T"}', $2,
    n, n, made, made, case when status = 'deleted' then made end
  from generate_series($9::int, $10::int) n, lateral (select n % $3::int as a, n / $3::int as k) numbered, lateral (
    select ${identifier("'account'", 'a')} as account,
      ($5::text[])[1 + (a + k) % ${words.length}] as word,
      ($6::text[])[1 + (a + k + k / 10) % ${statuses.length + 1}] as status,
      ($7::text[])[1 + k % ${connectorsPerRole}] as src,
      ($8::text[])[1 + k / ${connectorsPerRole} % ${connectorsPerRole}] as dest,
      now() - interval '20 days' * (1 - n::float8 / $4::int) as made
  ) made`

function idOf(slug: string): string {
  const connector = connectors.find((candidate) => candidate.slug === slug)
  if (!connector) throw new Error(`The catalogue has no ${slug}: name another connector in bench/load.ts.`)
  return connector.id
}

/** Some connectors with a role; the connector of `ends` comes first. */
function withRole(role: Role): string[] {
  const first = role === 'Source' ? pairing.srcConnectorId : pairing.destConnectorId
  const others = connectors.filter(({ id, roles }) => id !== first && roles.includes(role)).map(({ id }) => id)
  // Sources from one end of the catalogue and destinations from the other, so that no connector is both.
  return [first, ...(role === 'Source' ? others : others.reverse()).slice(0, connectorsPerRole - 1)]
}
