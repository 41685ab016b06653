import type pg from 'pg'
import { withoutIndexes } from '../without-indexes.ts'

/** How many transfers there are, and how many ledger entries each has. */
export type Weight = { readonly transfers: number; readonly entriesEach: number }

/** Rejected records that are kept, of the transfers that have any. */
export const rejectsKept = 100_000
const days = 30

/**
 * A month of transfers, each of 1,000 records a batch, over all connections in turn, so that the transfers of one connection are
 * far apart. One busy connection has as many transfers as a connection that runs every few minutes.
 */
export async function fillTransfers(client: pg.Client, weight: Weight, busy: number): Promise<void> {
  await withoutIndexes(client, ['transfers', 'ledger', 'rejects'], async () => {
    await client.query(insertTransfers, [weight.transfers, weight.entriesEach * 1000, busy, days])
    await client.query(markLatest)
    await client.query(insertLedger, [weight.entriesEach])
    await client.query(insertRejects, [rejectsKept])
  })
  await client.query('vacuum (analyze)')
  await client.query('checkpoint')
}

/** `n` numbers the transfers. The first ones belong to the busy connection. */
const insertTransfers = `
  insert into transfers
    (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger,
     read, sent, accepted, rejected, bytes, progress, attempt, source_columns, columns, data_key_id, created_time,
     started_time, finished_time, latest)
  select substr(md5('transfer:' || n), 1, 16), c.organization_id, c.account_id, c.id, c.src_connector_id, c.dest_connector_id,
    one.status, 'schedule', records, records - rejected, records - rejected, rejected, records * 120, 1, 1,
    '["id", "email", "phone", "first_name", "last_name", "city", "zip", "country", "born", "amount"]',
    '["id", "email", "phone", "first_name", "last_name", "city", "zip", "country", "born", "amount"]',
    case when rejected > 0 and n % 10 = 0 then substr(md5('key:' || n), 1, 16) end, made, made, made + interval '40 seconds', false
  from generate_series(0, $1::int - 1) n
  cross join lateral (
    select case when n % 50 = 49 then 'failed' when n % 10 = 0 then 'partial' else 'succeeded' end as status,
      $2::bigint as records, case when n % 10 = 0 then 17 else 0 end as rejected,
      now() - make_interval(secs => $4::int * 86400.0 * (1 - n::float8 / $1::int)) as made
  ) one
  cross join (select count(*) as total from connections where status = 'active') as all_of_them
  join (
    select id, organization_id, account_id, src_connector_id, dest_connector_id, row_number() over (order by id) - 1 as k
    from connections where status = 'active'
  ) c on c.k = case when n % greatest(1, $1::int / $3::int) = 0 then 0 else 1 + n % (total - 1) end`

const markLatest = `
  update transfers set latest = true
  where id in (select distinct on (connection_id) id from transfers order by connection_id, created_time desc, id desc)`

const insertLedger = `
  insert into ledger
    (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes,
     created_time)
  select id, number, organization_id, account_id, connection_id, (created_time at time zone 'UTC')::date, 1000,
    case when number = 1 then 1000 - rejected else 1000 end, case when number = 1 then rejected else 0 end, 0, 120000,
    created_time + number * interval '8 seconds'
  from transfers cross join generate_series(1, $1::int) number`

const insertRejects = `
  insert into rejects (transfer_id, number, row, count, field, reason_sealed, record, sealed)
  select id, number, number * 61, 1, 'email', decode(repeat(md5(number || id), 3), 'hex'),
    '{"id": "4711", "email": "p…e", "phone": "+…9", "first_name": "A…", "last_name": "B…", "city": "B…n", "country": "DE"}',
    decode(repeat(md5(id || number), 6), 'hex')
  from (select id from transfers where rejected > 0 limit $1::int / 17) t cross join generate_series(1, 17) number`
