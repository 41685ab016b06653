import { connectors } from '@penstock/connectors'
import type pg from 'pg'

/**
 * Hundreds of thousands of accounts and connections, created by set-based SQL. The content of an account depends only on its
 * number, so it is the same however many other accounts exist.
 */

/** Every tenth account is of the other organization. */
export const organizationIds = { most: 'organization0001', other: 'organization0002' } as const

/** The connectors that connections use. No connection uses any other connector. */
export const usedConnectors = connectors.filter(({ slug }) => slug.startsWith('amazon-') || slug.startsWith('google-'))

export const accountId = (number: number) => `account${String(number).padStart(9, '0')}`

/** Makes the organizations, and the connections quick to load. To be called once, on an empty database. */
export async function prepareToLoad(client: pg.Client): Promise<void> {
  await client.query(
    `insert into environments (name, id, host) values ('production', 'environment00001', 'penstock.test')`,
  )
  await client.query(
    `insert into organizations (id, name, owner_id, owner_email)
     select id, id, 'owner', 'owner@example.com' from unnest($1::text[]) as new (id)`,
    [Object.values(organizationIds)],
  )
  // Checked for each row, the foreign keys take longer than everything else. They stay: backups read the order of tables from them.
  await client.query('alter table connections disable trigger all')
  await client.query('alter table connections enable trigger user')
  // Nothing reads the history of these.
  await client.query('alter table connections disable trigger connections_record_created')
}

/** Loads while `connections` has no index except its key. The indexes are built afterwards, which takes a third of the time. */
export async function withoutIndexes(client: pg.Client, load: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select quote_ident(indexname) as name, indexdef as definition from pg_indexes
     where tablename = 'connections' and indexname <> 'connections_pkey'`,
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await load()
  for (const { definition } of rows) await client.query(definition)
}

/**
 * Adds the accounts with the numbers from `first` to `last`, of `connectionsEach` connections. Their creations are
 * interleaved: the accounts of one call take turns.
 */
export async function loadAccounts(
  client: pg.Client,
  { first, last, connectionsEach }: { first: number; last: number; connectionsEach: number },
): Promise<void> {
  const ids = (role: 'source' | 'destination') => usedConnectors.filter((one) => one[role]).map(({ id }) => id)
  const numbers = [first, last]
  await client.query(
    `insert into accounts (id, organization_id, name, enabled, env, created_time)
     select 'account' || lpad(number::text, 9, '0'), case when number % 10 = 9 then $4 else $3 end,
       'Account ' || number, true, 'production', timestamptz '2026-01-01' + number * interval '1 minute'
     from generate_series($1::int, $2::int) as number`,
    [...numbers, organizationIds.most, organizationIds.other],
  )
  await client.query(
    `with added as (
       insert into added_connectors (account_id, connector_id, env)
       select a.id, connector_id, 'production'
       from generate_series($1::int, $2::int) as number
       join accounts a on a.id = 'account' || lpad(number::text, 9, '0')
       cross join unnest($3::text[]) as connector_id
       returning account_id, connector_id
     )
     insert into configurations (account_id, connector_id, id, first, configured, name, secret_name)
     select account_id, connector_id, substr(md5(account_id || connector_id), 1, 16), true, true, 'Default', 'secret'
     from added`,
    [...numbers, usedConnectors.map(({ id }) => id)],
  )
  await client.query(
    `insert into connections
       (id, organization_id, account_id, name, status, previous_status, src_connector_id, dest_connector_id,
        src_configuration_id, dest_configuration_id, env, created_time, deleted_time)
     select substr(md5(number || '-' || n), 1, 16), a.organization_id, a.id,
       ($4::text[])[1 + n % cardinality($4::text[])] || ' to partner ' || number || '-' || n,
       status, case when status in ('disabled', 'deleted') then 'active' end,
       src, dest, substr(md5(a.id || src), 1, 16), substr(md5(a.id || dest), 1, 16), 'production',
       timestamptz '2026-02-01' + n * interval '1 hour' + number * interval '1 second',
       case when status = 'deleted' then now() end
     from generate_series($1::int, $2::int) as number
     cross join generate_series(1, $3::int) as n
     cross join lateral (select ($7::text[])[1 + (number + n * 7) % cardinality($7::text[])] as status,
       ($5::text[])[1 + n % cardinality($5::text[])] as src,
       ($6::text[])[1 + n / 7 % cardinality($6::text[])] as dest
     ) as chosen
     join accounts a on a.id = 'account' || lpad(number::text, 9, '0')`,
    [
      ...numbers,
      connectionsEach,
      ['Customers', 'Orders', 'Leads', 'Events', 'Visitors', 'Members', 'Payments'],
      ids('source'),
      ids('destination'),
      [
        'active',
        'active',
        'active',
        'active',
        'active',
        'In-progress',
        'disabled',
        'deleted',
        'broken',
        'active',
        'active',
      ],
    ],
  )
}

/** Lets PostgreSQL know what there is, and finish what it put off while loading. */
export async function settle(client: pg.Client): Promise<void> {
  await client.query('vacuum (analyze)')
}
