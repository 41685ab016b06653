-- The audit log: what was done, by whom, from where; chained by hash for each organization.
create table audit_heads (
  organization_id text not null,
  number bigint not null,
  hash bytea not null,
  time timestamptz not null,
  purged_number bigint default 0 not null,
  purged_hash bytea,
  constraint audit_heads_pkey primary key (organization_id)
);

create table audit_events (
  organization_id text not null,
  number bigint not null,
  time timestamptz not null,
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
  previous_hash bytea,
  hash bytea not null,
  constraint audit_events_pkey primary key (organization_id, number),
  constraint audit_events_actor_kind check (actor_kind in ('client', 'session', 'user', 'operator', 'schedule', 'service')),
  constraint audit_events_outcome check (outcome in ('done', 'refused', 'failed'))
);
create index audit_events_time on audit_events (organization_id, time, number);
create index audit_events_account on audit_events (organization_id, account_id, number);
create index audit_events_actor on audit_events (organization_id, actor_id, number);
create index audit_events_target on audit_events (organization_id, target_id, number);
create index audit_events_action on audit_events (organization_id, action, number);

create function chain_audit_event() returns trigger language plpgsql as $$
declare
  head audit_heads;
begin
  select * into head from audit_heads where organization_id = new.organization_id for no key update;
  if not found then
    insert into audit_heads (organization_id, number, hash, time) values (new.organization_id, 0, '', '-infinity')
    on conflict (organization_id) do nothing;
    select * into head from audit_heads where organization_id = new.organization_id for no key update;
  end if;
  new.number := head.number + 1;
  new.previous_hash := nullif(head.hash, '');
  new.time := greatest(clock_timestamp(), head.time);
  new.hash := sha256(convert_to(
    array[
      new.organization_id, new.number::text, extract(epoch from new.time)::text, new.actor_kind, new.actor_id,
      new.actor_name, new.address, new.request_id, new.action, new.account_id, new.target_id, new.outcome,
      new.before::text, new.after::text, new.details::text, encode(new.previous_hash, 'hex')
    ]::text, 'UTF8'));
  update audit_heads set number = new.number, hash = new.hash, time = new.time
  where organization_id = new.organization_id;
  return new;
end $$;
create trigger audit_events_chain before insert on audit_events for each row execute function chain_audit_event();

-- Who asked for the link of an authorization, which is saved in a browser later.
alter table authorizations
  add column actor_kind text,
  add column actor_id text,
  add column actor_name text;

-- History of connections: who changed what from what to what.
alter table connection_events
  add column actor_kind text,
  add column actor_id text,
  add column actor_name text,
  add column changes jsonb;

create function actor_of_transaction() returns jsonb language sql stable as $$
  select nullif(current_setting('penstock.actor', true), '')::jsonb;
$$;

create function changes_of_settings(old_settings jsonb, new_settings jsonb) returns jsonb language sql immutable as $$
  select jsonb_agg(
    jsonb_build_object('key', key, 'from', left(o.value #>> '{}', 200), 'to', left(n.value #>> '{}', 200)) order by key
  )
  from jsonb_each(old_settings) o full join jsonb_each(new_settings) n using (key)
  where o.value is distinct from n.value;
$$;

drop function add_connection_event(text, text, text, text);
create function add_connection_event(connection text, what text, before_it text, after_it text, changed jsonb)
  returns void language plpgsql as $$
declare
  next integer;
  actor jsonb := actor_of_transaction();
begin
  select coalesce(max(number), 0) + 1 into next from connection_events where connection_id = connection;
  insert into connection_events (connection_id, number, kind, was, became, changes, actor_kind, actor_id, actor_name)
  values (connection, next, what, before_it, after_it, changed, actor ->> 'kind', actor ->> 'id', actor ->> 'name');
  -- As many are kept as the limit connectionEventsMax says.
  delete from connection_events where connection_id = connection and number <= next - 1000;
end $$;

create or replace function tell_created_connections() returns trigger language plpgsql as $$
declare
  actor jsonb := actor_of_transaction();
begin
  insert into connection_events (connection_id, number, kind, became, actor_kind, actor_id, actor_name)
  select id, 1, 'created', name, actor ->> 'kind', actor ->> 'id', actor ->> 'name' from after_rows;
  return null;
end $$;

create or replace function tell_changed_connection() returns trigger language plpgsql as $$
begin
  if old.name <> new.name then perform add_connection_event(new.id, 'renamed', old.name, new.name, null); end if;
  if old.src_config <> new.src_config then
    perform add_connection_event(
      new.id, 'settings', null, 'Source', changes_of_settings(old.src_config, new.src_config)
    );
  end if;
  if old.dest_config <> new.dest_config then
    perform add_connection_event(
      new.id, 'settings', null, 'Destination', changes_of_settings(old.dest_config, new.dest_config)
    );
  end if;
  if old.status <> new.status then
    perform add_connection_event(new.id, 'status', old.status, new.status, null);
  end if;
  return null;
end $$;

create or replace function tell_changed_schedule() returns trigger language plpgsql as $$
declare
  connection text := coalesce(new.connection_id, old.connection_id);
begin
  perform from connections where id = connection for no key update;
  -- A schedule also goes with its connection, which has no history any more.
  if not found then return null; end if;
  perform add_connection_event(
    connection,
    'schedule',
    case when tg_op <> 'INSERT' then schedule_in_words(old) end,
    case when tg_op <> 'DELETE' then schedule_in_words(new) end,
    null
  );
  return null;
end $$;
