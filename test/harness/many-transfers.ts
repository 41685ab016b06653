import type pg from 'pg'

/** Transfers by the ten thousand, made by set-based SQL: a connection that has run every few minutes for months. */

/** The first transfer. It has all the rejected records. */
export const firstTransferId = 'transfer00000001'
export const ledgerEntriesADay = 200

/** Adds transfers to a connection, one ledger entry each, `ledgerEntriesADay` a day from 1 January 2026. */
export async function loadTransfers(
  client: pg.Client,
  {
    accountId,
    connectionId,
    transfers,
    rejects,
  }: { accountId: string; connectionId: string; transfers: number; rejects: number },
): Promise<void> {
  await client.query(
    `insert into transfers
       (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger,
        read, sent, accepted, rejected, attempt, created_time, started_time, finished_time, data_key_id, latest)
     select 'transfer' || lpad(n::text, 8, '0'), c.organization_id, c.account_id, c.id, c.src_connector_id,
       c.dest_connector_id, case when n % 500 = 0 then 'failed' when n = 1 then 'partial' else 'succeeded' end, 'schedule',
       10, 10, 10, 0, 1, at_time, at_time, at_time, case when n = 1 then 'key' end, n = $3
     from connections c, generate_series(1, $3::int) as n
     cross join lateral (select timestamptz '2026-01-01' + n * interval '1 minute' as at_time) as at
     where c.id = $2 and c.account_id = $1`,
    [accountId, connectionId, transfers],
  )
  await client.query(
    `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
     select 'transfer' || lpad(n::text, 8, '0'), 1, organization_id, account_id, id, date '2026-01-01' + n / $3::int, 10, 10, 0, 0, 100
     from connections, generate_series(1, $2::int) as n where id = $1`,
    [connectionId, transfers, ledgerEntriesADay],
  )
  await client.query(
    `insert into rejects (transfer_id, number, row, record, sealed)
     select $1, n, n, '{"name": "a… (9)"}', decode('00', 'hex') from generate_series(1, $2::int) as n`,
    [firstTransferId, rejects],
  )
}

/**
 * Creates two ended transfers for every connection of an account. For every hundredth connection the newest transfer failed.
 */
export async function loadPairsOfTransfers(client: pg.Client, accountId: string): Promise<void> {
  await client.query(
    `insert into transfers
       (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger,
        created_time, started_time, finished_time, latest)
     select substr(md5(c.id || n), 1, 16), c.organization_id, c.account_id, c.id, c.src_connector_id, c.dest_connector_id,
       case when n = 1 or c.k % 100 = 0 then 'failed' else 'succeeded' end, 'schedule', at_time, at_time, at_time, n = 2
     from (select *, row_number() over (order by id) as k from connections where account_id = $1) c
     cross join generate_series(1, 2) as n
     cross join lateral (select timestamptz '2026-02-01' + n * interval '1 day' + c.k * interval '1 second' as at_time) at`,
    [accountId],
  )
}
