-- Events of the audit log are queued with their changes, and linked into the chains in batches (docs/decisions/0051).

create table audit_queue (
  id bigint generated always as identity not null,
  organization_id text not null,
  time timestamptz default clock_timestamp() not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  address text,
  request_id text,
  action text not null,
  account_id text,
  target_id text,
  outcome text not null,
  before jsonb,
  after jsonb,
  details jsonb,
  constraint audit_queue_pkey primary key (id),
  constraint audit_queue_actor_kind check (actor_kind in ('client', 'session', 'user', 'link', 'operator', 'schedule', 'service')),
  constraint audit_queue_outcome check (outcome in ('done', 'refused', 'failed'))
);

create table audit_keys (
  single boolean default true not null,
  key_id text not null,
  sealed bytea not null,
  constraint audit_keys_pkey primary key (single),
  constraint audit_keys_single check (single)
);

alter table audit_heads
  add column sealed_number bigint,
  add column sealed_hash bytea,
  add column seal bytea;

-- Processes of earlier versions insert into the log itself: the trigger chains their events at once, as before.
create or replace trigger audit_events_chain before insert on audit_events for each row
  when (new.hash is null) execute function chain_audit_event();

-- Moves the oldest `most` queued events with identifiers above `since` into the log, in their order, and returns where each
-- of their chains ends, and what was sealed of it before. One transaction at a time does this: another one waits if it `waits`, and otherwise does nothing.
create function link_audit_events(most integer, since bigint, waits boolean)
  returns table (organization_id text, number bigint, hash bytea, linked bigint, last_id bigint, is_sealed boolean,
    sealed_number bigint, sealed_hash bytea, seal bytea)
  language plpgsql as $$
#variable_conflict use_column
declare
  event audit_queue;
  head audit_heads;
  of_head bigint := 0;
  last bigint := 0;
  previous bytea;
begin
  if waits then
    perform pg_advisory_xact_lock(hashtext('penstock audit log'), 0);
  elsif not pg_try_advisory_xact_lock(hashtext('penstock audit log'), 0) then
    return;
  end if;
  for event in
    with taken as (
      delete from audit_queue where id in (select id from audit_queue where id > since order by id limit most) returning *
    )
    select * from taken order by organization_id, id
  loop
    if head.organization_id is distinct from event.organization_id then
      if of_head > 0 then
        update audit_heads h set number = head.number, hash = head.hash, time = head.time
        where h.organization_id = head.organization_id;
        return query select head.organization_id, head.number, head.hash, of_head, last, is_sealed, head.sealed_number,
          head.sealed_hash, head.seal;
      end if;
      of_head := 0;
      last := 0;
      select * into head from audit_heads h where h.organization_id = event.organization_id for no key update;
      if not found then
        insert into audit_heads (organization_id, number, hash, time) values (event.organization_id, 0, '', '-infinity')
        on conflict do nothing;
        select * into head from audit_heads h where h.organization_id = event.organization_id for no key update;
      end if;
      -- Whether what is sealed is where the log ended until now: otherwise its seal cannot be extended without a look.
      is_sealed := head.number = 0 or (head.sealed_number = head.number and head.sealed_hash = head.hash);
    end if;
    previous := nullif(head.hash, '');
    head.number := head.number + 1;
    head.time := greatest(event.time, head.time);
    head.hash := sha256(convert_to(
      array[
        event.organization_id, head.number::text, extract(epoch from head.time)::text, event.actor_kind, event.actor_id,
        event.actor_name, event.address, event.request_id, event.action, event.account_id, event.target_id, event.outcome,
        event.before::text, event.after::text, event.details::text, encode(previous, 'hex')
      ]::text, 'UTF8'));
    insert into audit_events (organization_id, number, time, actor_kind, actor_id, actor_name, address, request_id, action,
      account_id, target_id, outcome, before, after, details, previous_hash, hash)
    values (event.organization_id, head.number, head.time, event.actor_kind, event.actor_id, event.actor_name, event.address,
      event.request_id, event.action, event.account_id, event.target_id, event.outcome, event.before, event.after,
      event.details, previous, head.hash);
    of_head := of_head + 1;
    last := greatest(last, event.id);
  end loop;
  if of_head > 0 then
    update audit_heads h set number = head.number, hash = head.hash, time = head.time
    where h.organization_id = head.organization_id;
    return query select head.organization_id, head.number, head.hash, of_head, last, is_sealed, head.sealed_number,
      head.sealed_hash, head.seal;
  end if;
end $$;
