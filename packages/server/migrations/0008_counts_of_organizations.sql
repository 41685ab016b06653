-- How many sub-accounts and connections an organization has, kept instead of counted (docs/decisions/0052).

-- An organization has several rows, whose sum counts: transactions that write at the same time use different ones.
create table organization_counts (
  organization_id text not null,
  slot smallint not null,
  -- Not deleted, and with the deleted ones that are not purged yet.
  accounts bigint default 0 not null,
  kept_accounts bigint default 0 not null,
  -- Of sub-accounts that are not deleted.
  in_progress bigint default 0 not null,
  active bigint default 0 not null,
  disabled bigint default 0 not null,
  deleted bigint default 0 not null,
  broken bigint default 0 not null,
  offline bigint default 0 not null,
  constraint organization_counts_pkey primary key (organization_id, slot)
) with (fillfactor = 50);

-- Takes a row of the organization that no other transaction has, or makes one.
create function take_organization_counts(organization text) returns smallint language plpgsql as $$
declare
  own smallint := pg_backend_pid() % 16;
  taken smallint;
begin
  select slot into taken from organization_counts where organization_id = organization
  order by slot = own desc, (slot + own) % 16 for no key update skip locked limit 1;
  if found then return taken; end if;
  insert into organization_counts (organization_id, slot) values (organization, own) on conflict do nothing;
  return own;
end $$;

create function count_account() returns trigger language plpgsql as $$
declare
  organization text := coalesce(new.organization_id, old.organization_id);
  live integer := (tg_op <> 'DELETE' and new.deleted_time is null)::integer
    - (tg_op <> 'INSERT' and old.deleted_time is null)::integer;
  kept integer := case tg_op when 'INSERT' then 1 when 'DELETE' then -1 else 0 end;
  own smallint;
begin
  if live <> 0 or kept <> 0 then
    own := take_organization_counts(organization);
    update organization_counts set accounts = accounts + live, kept_accounts = kept_accounts + kept
    where organization_id = organization and slot = own;
  end if;
  return null;
end $$;
create trigger accounts_count after insert or delete or update of deleted_time on accounts
  for each row execute function count_account();

create function add_to_organization_counts(organization text, counted text, change bigint) returns void language plpgsql as $$
declare
  own smallint := take_organization_counts(organization);
begin
  update organization_counts set
    in_progress = in_progress + case counted when 'In-progress' then change else 0 end,
    active = active + case counted when 'active' then change else 0 end,
    disabled = disabled + case counted when 'disabled' then change else 0 end,
    deleted = deleted + case counted when 'deleted' then change else 0 end,
    broken = broken + case counted when 'broken' then change else 0 end,
    offline = offline + case counted when 'offline' then change else 0 end
  where organization_id = organization and slot = own;
end $$;

create function count_connections_of_organizations() returns trigger language plpgsql as $$
begin
  case tg_op
    when 'INSERT' then
      perform add_to_organization_counts(organization_id, status, n)
      from (
        select organization_id, status, count(*) as n from after_rows where not account_deleted group by 1, 2 order by 1, 2
      ) changes;
    when 'UPDATE' then
      perform add_to_organization_counts(organization_id, status, n)
      from (
        select organization_id, status, sum(n)::bigint as n
        from (
          select organization_id, status, 1 as n from after_rows where not account_deleted
          union all
          select organization_id, status, -1 from before_rows where not account_deleted
        ) touched
        group by 1, 2 having sum(n) <> 0 order by 1, 2
      ) changes;
    when 'DELETE' then
      perform add_to_organization_counts(organization_id, status, -n)
      from (
        select organization_id, status, count(*) as n from before_rows where not account_deleted group by 1, 2 order by 1, 2
      ) changes;
  end case;
  return null;
end $$;
create trigger connections_of_organization_inserted after insert on connections referencing new table as after_rows
  for each statement execute function count_connections_of_organizations();
create trigger connections_of_organization_updated after update on connections referencing old table as before_rows new table as after_rows
  for each statement execute function count_connections_of_organizations();
create trigger connections_of_organization_deleted after delete on connections referencing old table as before_rows
  for each statement execute function count_connections_of_organizations();

-- How many sub-accounts an organization has, for one more. Far below its quota, creations do not wait for one another; near it,
-- they happen one at a time, so that none exceeds it.
create function accounts_for_quota(organization text, most bigint, most_kept bigint)
  returns table (live bigint, kept bigint) language plpgsql as $$
declare
  -- More than the transactions of all processes at a time.
  near constant bigint := 256;
begin
  select sum(accounts), sum(kept_accounts) into live, kept from organization_counts where organization_id = organization;
  if coalesce(live, 0) + near > most or coalesce(kept, 0) + near > most_kept then
    perform pg_advisory_xact_lock(hashtext('penstock sub-accounts'), hashtext(organization));
  else
    perform pg_advisory_xact_lock_shared(hashtext('penstock sub-accounts'), hashtext(organization));
  end if;
  return query select coalesce(sum(accounts), 0)::bigint, coalesce(sum(kept_accounts), 0)::bigint
  from organization_counts where organization_id = organization;
end $$;

lock table accounts, connections in share row exclusive mode;
insert into organization_counts
  (organization_id, slot, accounts, kept_accounts, in_progress, active, disabled, deleted, broken, offline)
select a.organization_id, 0, count(*) filter (where a.deleted_time is null), count(*),
  coalesce(sum(k.in_progress) filter (where a.deleted_time is null), 0),
  coalesce(sum(k.active) filter (where a.deleted_time is null), 0),
  coalesce(sum(k.disabled) filter (where a.deleted_time is null), 0),
  coalesce(sum(k.deleted) filter (where a.deleted_time is null), 0),
  coalesce(sum(k.broken) filter (where a.deleted_time is null), 0),
  coalesce(sum(k.offline) filter (where a.deleted_time is null), 0)
from accounts a join connection_counts k on k.account_id = a.id
group by a.organization_id;
