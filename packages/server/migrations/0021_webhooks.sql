-- Events, and the webhooks that they are delivered to. Triggers write the events, in the transaction of the change, so that no
-- writer can forget to: a transfer ends in several places.
create table webhooks (
  id text not null,
  organization_id text not null,
  account_id text,
  url text not null,
  description text not null,
  event_types text[],
  enabled boolean not null,
  disabled_reason text,
  data_key_id text not null,
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  failing_since timestamptz,
  last_success_time timestamptz,
  lease_id text,
  lease_until timestamptz,
  look_again_time timestamptz,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  constraint webhooks_pkey primary key (id),
  constraint webhooks_disabled_reason check (disabled_reason in ('gone', 'failing')),
  constraint webhooks_organization foreign key (organization_id) references organizations(id),
  constraint webhooks_account foreign key (account_id) references accounts(id) on delete cascade
);
create index webhooks_of_organization on webhooks (organization_id, created_time desc, id desc);
create index webhooks_of_account on webhooks (account_id, created_time desc, id desc);
create index webhooks_enabled on webhooks (organization_id, coalesce(account_id, '')) where enabled;
create index webhooks_data_key on webhooks (data_key_id);

create table events (
  id text not null,
  organization_id text not null,
  type text not null,
  payload text not null,
  created_time timestamptz default now() not null,
  constraint events_pkey primary key (id),
  constraint events_organization foreign key (organization_id) references organizations(id)
);
create index events_created on events (created_time);

create table webhook_deliveries (
  id text not null,
  number bigint generated always as identity not null,
  webhook_id text not null,
  event_id text not null,
  ordering_key text not null,
  status text default 'pending' not null,
  attempts integer default 0 not null,
  response_status integer,
  error_code text,
  queued_time timestamptz default now() not null,
  next_time timestamptz default now() not null,
  finished_time timestamptz,
  created_time timestamptz default now() not null,
  constraint webhook_deliveries_pkey primary key (id),
  constraint webhook_deliveries_event unique (event_id, webhook_id),
  constraint webhook_deliveries_status check (status in ('pending', 'delivered', 'failed')),
  constraint webhook_deliveries_webhook foreign key (webhook_id) references webhooks(id) on delete cascade,
  constraint webhook_deliveries_of_event foreign key (event_id) references events(id) on delete cascade
);
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, ordering_key, number) where status = 'pending';
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, created_time desc, id desc);
create index webhook_deliveries_by_status on webhook_deliveries (webhook_id, status, created_time desc, id desc);

create table webhook_attempts (
  delivery_id text not null,
  number integer not null,
  time timestamptz not null,
  duration_ms integer not null,
  response_status integer,
  error_code text,
  error_message text,
  answer_sealed bytea,
  constraint webhook_attempts_pkey primary key (delivery_id, number),
  constraint webhook_attempts_delivery foreign key (delivery_id) references webhook_deliveries(id) on delete cascade
);

create table webhook_totals (
  outcome text not null,
  deliveries bigint not null,
  constraint webhook_totals_pkey primary key (outcome)
);

create function new_identifier() returns text language sql volatile as $$
  select right(u, 12) || left(u, 4) from (select replace(gen_random_uuid()::text, '-', '') as u) random;
$$;

create function emit_event(event_type text, organization text, account text, connection text, event_data json)
  returns text language plpgsql as $$
declare
  event text;
begin
  if not exists (
    select from webhooks where organization_id = organization and enabled
      and coalesce(account_id, '') in ('', account) and (event_types is null or event_type = any (event_types))
  ) then
    return null;
  end if;
  event := new_identifier();
  insert into events (id, organization_id, type, payload)
  values (event, organization, event_type, json_build_object(
    'type', event_type, 'timestamp', floor(extract(epoch from clock_timestamp()))::bigint,
    'organizationId', organization, 'accountId', account, 'connectionId', connection, 'data', event_data)::text);
  insert into webhook_deliveries (id, webhook_id, event_id, ordering_key)
  select new_identifier(), id, event, coalesce(connection, account, '') from webhooks
  where organization_id = organization and enabled
    and coalesce(account_id, '') in ('', account) and (event_types is null or event_type = any (event_types));
  return event;
end $$;

create function emit_transfer_ended() returns trigger language plpgsql as $$
begin
  perform emit_event('transfer.' || new.status, new.organization_id, new.account_id, new.connection_id, json_build_object(
    'transferId', new.id, 'status', new.status, 'trigger', new.trigger, 'replayOf', new.replay_of,
    'read', new.read, 'sent', new.sent, 'accepted', new.accepted, 'rejected', new.rejected,
    'errorCode', new.error_code, 'errorSide', new.error_side,
    'createdTime', floor(extract(epoch from new.created_time))::bigint,
    'startedTime', floor(extract(epoch from new.started_time))::bigint,
    'finishedTime', floor(extract(epoch from new.finished_time))::bigint));
  return null;
end $$;
create trigger transfers_emit_ended after update of status on transfers
  for each row when (old.status in ('queued', 'running') and new.status not in ('queued', 'running'))
  execute function emit_transfer_ended();

create function emit_connection_status() returns trigger language plpgsql as $$
begin
  if new.status = 'deleted' then
    perform emit_event('connection.deleted', new.organization_id, new.account_id, new.id,
      json_build_object('name', new.name, 'from', old.status));
  else
    perform emit_event('connection.status_changed', new.organization_id, new.account_id, new.id,
      json_build_object('name', new.name, 'from', old.status, 'to', new.status));
  end if;
  return null;
end $$;
create trigger connections_emit_status after update of status on connections
  for each row when (old.status <> new.status) execute function emit_connection_status();

create function emit_connector_changed() returns trigger language plpgsql as $$
declare
  organization text;
begin
  select organization_id into organization from accounts where id = old.account_id;
  -- A connector also goes with its account, which is purged.
  if not found then return null; end if;
  if tg_op = 'UPDATE' and new.saved_time is distinct from old.saved_time then
    perform emit_event('connector.configured', organization, new.account_id, null, json_build_object(
      'connectorId', new.connector_id, 'configurationId', new.configuration_id, 'name', new.name,
      'configured', new.configured));
  end if;
  if old.oauth_client_id is not null and (tg_op = 'DELETE' or new.oauth_client_id is null) then
    perform emit_event('authorization.revoked', organization, old.account_id, null, json_build_object(
      'connectorId', old.connector_id, 'configurationId', old.configuration_id));
  end if;
  return null;
end $$;
create trigger added_connectors_emit_changed after update of saved_time, oauth_client_id on added_connectors
  for each row execute function emit_connector_changed();
create trigger added_connectors_emit_removed after delete on added_connectors
  for each row when (old.oauth_client_id is not null) execute function emit_connector_changed();

create function emit_account_changed() returns trigger language plpgsql as $$
declare
  what text := case
    when tg_op = 'INSERT' then 'account.created'
    when old.deleted_time is null and new.deleted_time is not null then 'account.deleted'
    when old.deleted_time is not null and new.deleted_time is null then 'account.restored'
    else 'account.updated' end;
begin
  perform emit_event(what, new.organization_id, new.id, null, json_build_object('name', new.name, 'enabled', new.enabled));
  return null;
end $$;
create trigger accounts_emit_created after insert on accounts for each row execute function emit_account_changed();
create trigger accounts_emit_changed after update of name, enabled, deleted_time on accounts
  for each row
  when (old.name <> new.name or old.enabled <> new.enabled or (old.deleted_time is null) <> (new.deleted_time is null))
  execute function emit_account_changed();

create function emit_client_changed() returns trigger language plpgsql as $$
declare
  what text := case
    when tg_op = 'INSERT' then 'client.created'
    when old.revoked_time is null and new.revoked_time is not null then 'client.revoked'
    when old.secret_digest <> new.secret_digest then 'client.rotated'
    else 'client.renamed' end;
begin
  perform emit_event(what, new.organization_id, null, null, json_build_object('clientId', new.id, 'name', new.name));
  return null;
end $$;
create trigger clients_emit_created after insert on clients for each row execute function emit_client_changed();
create trigger clients_emit_changed after update of name, secret_digest, revoked_time on clients
  for each row
  when (old.name is distinct from new.name or old.secret_digest <> new.secret_digest
    or (old.revoked_time is null) <> (new.revoked_time is null))
  execute function emit_client_changed();
