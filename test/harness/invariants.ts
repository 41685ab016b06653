import assert from 'node:assert/strict'
import type pg from 'pg'

/**
 * Invariants of the database, also after a race or a crash. Each returned row names a broken rule and its place. $1 is
 * the account to look at, or null for all.
 */
const brokenRules = `
  with accounts as (select * from accounts where $1::text is null or id = $1),
  connections as (select * from connections where $1::text is null or account_id = $1),
  of_transfers as (select * from transfers where $1::text is null or account_id = $1),
  entries as (select * from ledger where $1::text is null or account_id = $1),
  counted_entries as (select * from entries where not test),
  of_accounts as (select account_id, sum(accepted) as accepted from counted_entries group by account_id),
  of_connections as (
    select connection_id, sum(case when replay then 0 else read end) as read, sum(accepted) as accepted from counted_entries
    group by connection_id
  ),
  counted as (
    select a.id as account_id,
      count(c.id) filter (where c.status = 'In-progress') as in_progress,
      count(c.id) filter (where c.status = 'active') as active,
      count(c.id) filter (where c.status = 'disabled') as disabled,
      count(c.id) filter (where c.status = 'deleted') as deleted,
      count(c.id) filter (where c.status = 'broken') as broken,
      count(c.id) filter (where c.status = 'offline') as offline
    from accounts a left join connections c on c.account_id = a.id group by a.id
  )
  select 'connection_counts differ from a real count' as rule, r.account_id as id
  from counted r left join connection_counts k on k.account_id = r.account_id
  where (k.in_progress, k.active, k.disabled, k.deleted, k.broken, k.offline)
    is distinct from (r.in_progress, r.active, r.disabled, r.deleted, r.broken, r.offline)
  union all
  select 'organization_counts differ from a real count', o.id
  from organizations o
  left join (
    select organization_id, sum(accounts) as accounts, sum(kept_accounts) as kept_accounts, sum(in_progress) as in_progress,
      sum(active) as active, sum(disabled) as disabled, sum(deleted) as deleted, sum(broken) as broken,
      sum(offline) as offline
    from organization_counts group by 1
  ) k on k.organization_id = o.id
  left join (
    select a.organization_id, count(*) filter (where a.deleted_time is null) as accounts, count(*) as kept_accounts
    from accounts a group by 1
  ) a on a.organization_id = o.id
  left join (
    select c.organization_id, count(*) filter (where status = 'In-progress') as in_progress,
      count(*) filter (where status = 'active') as active, count(*) filter (where status = 'disabled') as disabled,
      count(*) filter (where status = 'deleted') as deleted, count(*) filter (where status = 'broken') as broken,
      count(*) filter (where status = 'offline') as offline
    from connections c where not c.account_deleted group by 1
  ) c on c.organization_id = o.id
  where $1::text is null and (
    coalesce(k.accounts, 0), coalesce(k.kept_accounts, 0), coalesce(k.in_progress, 0), coalesce(k.active, 0),
    coalesce(k.disabled, 0), coalesce(k.deleted, 0), coalesce(k.broken, 0), coalesce(k.offline, 0)
  ) is distinct from (
    coalesce(a.accounts, 0), coalesce(a.kept_accounts, 0), coalesce(c.in_progress, 0), coalesce(c.active, 0),
    coalesce(c.disabled, 0), coalesce(c.deleted, 0), coalesce(c.broken, 0), coalesce(c.offline, 0)
  )
  union all
  select 'connector_counts differ from a real count', a.account_id || '/' || a.connector_id
  from added_connectors a left join connector_counts k on k.account_id = a.account_id and k.connector_id = a.connector_id
  where ($1::text is null or a.account_id = $1) and (k.src_connections, k.dest_connections) is distinct from (
    (select count(*) from connections c
     where c.account_id = a.account_id and c.src_connector_id = a.connector_id and c.status <> 'deleted'),
    (select count(*) from connections c
     where c.account_id = a.account_id and c.dest_connector_id = a.connector_id and c.status <> 'deleted')
  )
  union all
  select 'active_transfers differ from the transfers', coalesce(t.id, a.transfer_id)
  from (select * from transfers where status in ('queued', 'running') and ($1::text is null or account_id = $1)) t
  full join (select * from active_transfers where $1::text is null or account_id = $1) a on a.transfer_id = t.id
  where (a.organization_id, a.account_id, a.src_connector_id, a.dest_connector_id, a.running, a.divided, a.created_time)
    is distinct from (t.organization_id, t.account_id, t.src_connector_id, t.dest_connector_id, t.status = 'running',
      t.parts > 1, t.created_time)
  union all
  select 'a live connection lacks a side', c.id from connections c
  left join configurations s on s.account_id = c.account_id and s.connector_id = c.src_connector_id
    and s.id = c.src_configuration_id and s.first = c.src_first
  left join configurations d on d.account_id = c.account_id and d.connector_id = c.dest_connector_id
    and d.id = c.dest_configuration_id and d.first = c.dest_first
  where c.status <> 'deleted' and (s.id is null or d.id is null)
  union all
  select 'an added connector has not one first configuration', a.account_id || '/' || a.connector_id
  from added_connectors a
  where ($1::text is null or a.account_id = $1) and 1 <> (
    select count(*) from configurations f
    where f.account_id = a.account_id and f.connector_id = a.connector_id and f.first
  )
  union all
  select 'a live connection is in a deleted account', c.id
  from connections c join accounts a on a.id = c.account_id
  where c.status <> 'deleted' and a.deleted_time is not null
  union all
  select 'a connection does not know whether its account is deleted', c.id
  from connections c join accounts a on a.id = c.account_id
  where c.account_deleted <> (a.deleted_time is not null)
  union all
  select 'an Idempotency-Key has no answer', key from idempotency_keys where answer is null
  union all
  select 'a secret is sealed under a key that is not known', s.account_id || '/' || s.name
  from secrets s left join master_keys m on m.key_id = s.key_id
  where m.key_id is null and ($1::text is null or s.account_id = $1)
  union all
  select 'a data key is sealed under a key that is not known', d.id
  from data_keys d left join master_keys m on m.key_id = d.key_id where m.key_id is null
  union all
  select 'a transfer has lost the key of its rejected records', t.id
  from of_transfers t left join data_keys d on d.id = t.data_key_id where t.data_key_id is not null and d.id is null
  union all
  select 'a transfer that has ended keeps where it stood', t.id from of_transfers t
  join transfer_parts p on p.transfer_id = t.id and t.parts = 1
  where t.status not in ('queued', 'running') and coalesce(p.checkpoint_sealed, p.cursor_sealed, p.announced_sealed) is not null
  union all
  select 'a connection has lost the key of its state', m.connection_id
  from connection_states m left join data_keys d on d.id = m.data_key_id
  where coalesce(m.cursor_sealed, m.state_sealed) is not null and d.id is null
  union all
  select 'the volume of an account is not the sum of its ledger', a.id
  from accounts a left join of_accounts l on l.account_id = a.id where a.volume <> coalesce(l.accepted, 0)
    or a.monthly_volume <> case when a.volume_month = '' then 0 else (
      select coalesce(sum(m.accepted), 0) from counted_entries m
      where m.account_id = a.id and to_char(m.day, 'YYYY-MM') = a.volume_month
    ) end
  union all
  select 'the volume of a connection is not the sum of its ledger', c.id
  from connections c left join of_connections l on l.connection_id = c.id
  where (c.total_volume, c.used_volume) <> (coalesce(l.read, 0), coalesce(l.accepted, 0))
    or c.monthly_volume <> case when c.volume_month = '' then 0 else (
      select coalesce(sum(m.accepted), 0) from counted_entries m
      where m.connection_id = c.id and to_char(m.day, 'YYYY-MM') = c.volume_month
    ) end
  union all
  select 'the counts of a transfer are not the sums of its ledger', t.id
  from of_transfers t left join (
    select transfer_id, sum(read) as read, sum(accepted) as accepted, sum(rejected) as rejected, sum(bytes) as bytes,
      sum(replayed) as replayed
    from entries group by transfer_id
  ) l on l.transfer_id = t.id
  where (t.read, t.accepted, t.rejected, t.bytes)
      <> (coalesce(l.read, 0), coalesce(l.accepted, 0), coalesce(l.rejected, 0), coalesce(l.bytes, 0))
    or coalesce(l.replayed, 0) <> case when t.trigger = 'replay' then t.accepted else 0 end
  union all
  select 'a row is read and neither accepted, rejected nor skipped', t.id from of_transfers t
  where t.read <> t.accepted + t.rejected + t.filtered + t.unchanged + t.duplicates + t.no_consent + t.control_group
  union all
  select 'a transfer succeeded although rows were rejected, or is partial without any', t.id from of_transfers t
  where (t.status = 'succeeded' and t.rejected > 0) or (t.status = 'partial' and t.rejected = 0)
  union all
  select 'a transfer keeps more rejected rows than it counts', t.id from of_transfers t
  where t.rejected < (select coalesce(sum(r.count), 0) from rejects r where r.transfer_id = t.id)
  union all
  select 'a transfer has ended and has no end, or the other way round', t.id from of_transfers t
  where (t.status in ('queued', 'running')) <> (t.finished_time is null)
  union all
  select 'not one transfer of a connection is marked as its newest', t.connection_id
  from of_transfers t where t.test_rows is null group by t.connection_id having count(*) filter (where t.latest) <> 1
  union all
  select 'a test is marked as the newest transfer, or read more records than it may', t.id
  from of_transfers t where t.test_rows is not null and (t.latest or t.read > t.test_rows)
  union all
  select 'an entry of the ledger does not know whether it is of a test', t.id
  from of_transfers t join entries l on l.transfer_id = t.id where l.test <> (t.test_rows is not null)
  union all
  select 'the history of a connection has a gap, or too much', e.connection_id
  from connection_events e join connections c on c.id = e.connection_id
  group by e.connection_id having max(e.number) - min(e.number) + 1 <> count(*) or count(*) > 1000
  union all
  select 'entries of a ledger are not numbered without a gap', e.transfer_id
  from entries e left join of_transfers t on t.id = e.transfer_id
  group by e.transfer_id, case when t.parts = 1 then 0 else e.number / 1000000 end
  having max(e.number % 1000000) <> count(*)
  union all
  select 'the parts of a transfer do not add up to it', t.id
  from of_transfers t left join transfer_parts p on p.transfer_id = t.id
  group by t.id, t.read, t.accepted, t.rejected, t.parts
  having (t.read, t.accepted, t.rejected, t.parts) 
    is distinct from (sum(p.read), sum(p.accepted), sum(p.rejected), count(p.number))
  union all
  select 'a part is active in a transfer that has ended, or has ended and keeps what it needed to continue', t.id
  from of_transfers t join transfer_parts p on p.transfer_id = t.id
  where case
    when p.status in ('queued', 'running') then t.status <> case when t.parts = 1 then p.status else 'running' end
    else p.finished_time is null or (p.status = 'succeeded' and p.key_sealed is not null)
      -- A transfer without success can be retried until the next one starts.
      or ((t.status in ('succeeded', 'partial') or not t.latest) and coalesce(p.key_sealed, p.checkpoint_sealed, p.cursor_sealed) is not null)
  end`

/** Fails with every broken rule of the database, or of one account. */
export async function assertInvariants(db: Pick<pg.Pool, 'query'>, accountId?: string): Promise<void> {
  const { rows } = await db.query({ name: 'invariants', text: brokenRules, values: [accountId ?? null] })
  assert.deepEqual(rows, [])
}
