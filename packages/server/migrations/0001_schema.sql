-- The database of Penstock before its first release. schema.sql explains it: the tables, their columns and their modules.

create extension pg_trgm;

create extension btree_gin;

create table penstock_migrations (
  name text not null,
  digest text not null,
  applied_time timestamptz default now() not null,
  constraint penstock_migrations_pkey primary key (name)
);

create table master_keys (
  key_id text not null,
  current boolean not null,
  sealed_key bytea,
  created_time timestamptz default now() not null,
  constraint master_keys_pkey primary key (key_id)
);
create unique index master_keys_current on master_keys (current) where current;

create table data_keys (
  id text not null,
  key_id text not null,
  sealed bytea not null,
  constraint data_keys_pkey primary key (id)
);
create index data_keys_key on data_keys (key_id);

create table oauth_apps (
  env text not null,
  slug text not null,
  client_id text not null,
  key_id text not null,
  sealed bytea not null,
  saved_time timestamptz default now() not null,
  constraint oauth_apps_pkey primary key (env, slug)
);
create index oauth_apps_key on oauth_apps (key_id);

create table signing_keys (
  id text not null,
  data_key_id text not null,
  sealed bytea not null,
  public_key jsonb not null,
  created_time timestamptz default now() not null,
  signs_from timestamptz not null,
  published_until timestamptz,
  constraint signing_keys_pkey primary key (id),
  constraint signing_keys_data_key foreign key (data_key_id) references data_keys(id)
);
create index signing_keys_data_key on signing_keys (data_key_id);

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
  constraint audit_events_actor_kind check (actor_kind in ('client', 'session', 'user', 'link', 'operator', 'schedule', 'service')),
  constraint audit_events_outcome check (outcome in ('done', 'refused', 'failed'))
);
create index audit_events_account on audit_events (organization_id, account_id, number);
create index audit_events_action on audit_events (organization_id, action, number);
create index audit_events_actor on audit_events (organization_id, actor_id, number);
create index audit_events_search on audit_events using gin (
  organization_id,
  (coalesce(actor_name, '') || ' ' || coalesce(address, '') || ' '
    || regexp_replace(action, '([a-z])([A-Z])', '\1 \2', 'g') || ' ' || left(coalesce(before::text, ''), 1000) || ' '
    || left(coalesce(after::text, ''), 1000) || ' ' || left(coalesce(details::text, ''), 1000)) gin_trgm_ops
);
create index audit_events_target on audit_events (organization_id, target_id, number);
create index audit_events_time on audit_events (organization_id, "time", number);

create table audit_heads (
  organization_id text not null,
  number bigint not null,
  hash bytea not null,
  time timestamptz not null,
  purged_number bigint default 0 not null,
  purged_hash bytea,
  sealed_number bigint,
  sealed_hash bytea,
  seal bytea,
  constraint audit_heads_pkey primary key (organization_id)
);

create table environments (
  name text not null,
  id text not null,
  host text not null,
  constraint environments_pkey primary key (name)
);

create table organizations (
  id text not null,
  name text not null,
  owner_id text not null,
  owner_email text not null,
  second_factor_required boolean default false not null,
  created_time timestamptz default now() not null,
  constraint organizations_pkey primary key (id)
);

create table clients (
  id text not null,
  organization_id text not null,
  name text,
  secret_digest bytea not null,
  previous_secret_digest bytea,
  previous_secret_until timestamptz,
  scopes text[],
  account_ids text[],
  created_time timestamptz default now() not null,
  expires_time timestamptz,
  last_used_time timestamptz,
  revoked_time timestamptz,
  constraint clients_pkey primary key (id),
  constraint clients_organization foreign key (organization_id) references organizations(id)
);
create index clients_organization on clients (organization_id);
create index clients_revoked on clients (revoked_time) where revoked_time is not null;

create table mail_counts (
  key text not null,
  since timestamptz not null,
  mails integer not null,
  constraint mail_counts_pkey primary key (key)
);

create table tokens (
  digest bytea not null,
  client_id text not null,
  session_id text,
  scopes text[],
  account_ids text[],
  expires_time timestamptz not null,
  constraint tokens_pkey primary key (digest),
  constraint tokens_client foreign key (client_id) references clients(id)
);
create index tokens_expires on tokens (expires_time);
create index tokens_client on tokens (client_id);

create table idempotency_keys (
  organization_id text not null,
  key text not null,
  request_digest bytea not null,
  answer jsonb,
  created_time timestamptz default now() not null,
  constraint idempotency_keys_pkey primary key (organization_id, key),
  constraint idempotency_keys_organization foreign key (organization_id) references organizations(id)
);
create index idempotency_keys_created on idempotency_keys (created_time);

create table accounts (
  id text not null,
  organization_id text not null,
  name text not null,
  enabled boolean not null,
  env text not null,
  creator_id text,
  creator_email text,
  volume bigint default 0 not null,
  monthly_volume bigint default 0 not null,
  volume_month text default '' not null,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  deleted_time timestamptz,
  constraint accounts_pkey primary key (id),
  constraint accounts_environment foreign key (env) references environments(name),
  constraint accounts_organization foreign key (organization_id) references organizations(id)
);
create index accounts_by_name on accounts (organization_id, lower(name), id) where deleted_time is null;
create index accounts_deleted on accounts (deleted_time) where deleted_time is not null;
create index accounts_listed on accounts (organization_id, created_time desc, id desc) where deleted_time is null;
create index accounts_of_organization_by_id on accounts (organization_id, id) where deleted_time is null;

create table users (
  id text not null,
  organization_id text not null,
  email text not null,
  name text,
  role text not null,
  account_ids text[],
  password_digest text,
  created_time timestamptz default now() not null,
  joined_time timestamptz,
  last_signed_in_time timestamptz,
  external_id text,
  given_name text,
  family_name text,
  deactivated_time timestamptz,
  known_networks text[] default '{}' not null,
  constraint users_pkey primary key (id),
  constraint users_role check (role in ('owner', 'admin', 'editor', 'viewer')),
  constraint users_organization foreign key (organization_id) references organizations(id)
);
create index users_by_email on users (lower(email));
create unique index users_email on users (organization_id, lower(email)) where account_ids is null;
create index users_by_email_in_organization on users (organization_id, lower(email));
create index users_external_id on users (organization_id, external_id) where external_id is not null;

create table user_sessions (
  id text not null,
  digest bytea not null,
  user_id text not null,
  method text not null,
  address text not null,
  user_agent text,
  created_time timestamptz default now() not null,
  last_used_time timestamptz default now() not null,
  expires_time timestamptz not null,
  constraint user_sessions_pkey primary key (id),
  constraint user_sessions_digest unique (digest),
  constraint user_sessions_user foreign key (user_id) references users(id) on delete cascade
);
create index user_sessions_expires on user_sessions (expires_time);
create index user_sessions_of_user on user_sessions (user_id);

create table user_links (
  digest bytea not null,
  user_id text not null,
  purpose text not null,
  created_time timestamptz default now() not null,
  expires_time timestamptz not null,
  constraint user_links_pkey primary key (digest),
  constraint user_links_purpose check (purpose in ('invitation', 'password reset')),
  constraint user_links_user foreign key (user_id) references users(id) on delete cascade
);
create index user_links_expires on user_links (expires_time);
create index user_links_of_user on user_links (user_id);

create table passkeys (
  id text not null,
  user_id text not null,
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  backed_up boolean not null,
  created_time timestamptz default now() not null,
  last_used_time timestamptz,
  constraint passkeys_pkey primary key (id),
  constraint passkeys_credential unique (user_id, credential_id),
  constraint passkeys_user foreign key (user_id) references users(id) on delete cascade
);

create table used_challenges (
  digest bytea not null,
  expires_time timestamptz not null,
  constraint used_challenges_pkey primary key (digest)
);
create index used_challenges_expires on used_challenges (expires_time);

create table user_identities (
  organization_id text not null,
  issuer text not null,
  subject text not null,
  user_id text not null,
  created_time timestamptz default now() not null,
  constraint user_identities_pkey primary key (organization_id, issuer, subject),
  constraint user_identities_user unique (user_id, issuer),
  constraint user_identities_person foreign key (user_id) references users(id) on delete cascade
);

create table user_groups (
  id text not null,
  organization_id text not null,
  display_name text not null,
  external_id text,
  role text,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  constraint user_groups_pkey primary key (id),
  constraint user_groups_role check (role in ('admin', 'editor', 'viewer')),
  constraint user_groups_organization foreign key (organization_id) references organizations(id)
);
create unique index user_groups_name on user_groups (organization_id, lower(display_name));

create table user_group_members (
  group_id text not null,
  user_id text not null,
  constraint user_group_members_pkey primary key (group_id, user_id),
  constraint user_group_members_group foreign key (group_id) references user_groups(id) on delete cascade,
  constraint user_group_members_user foreign key (user_id) references users(id) on delete cascade
);
create index user_group_members_of_user on user_group_members (user_id);

create table single_sign_on (
  organization_id text not null,
  issuer text not null,
  client_id text not null,
  authorization_endpoint text not null,
  email_domains text[],
  new_user_role text,
  new_user_account_ids text[],
  required boolean not null,
  saved_time timestamptz default now() not null,
  constraint single_sign_on_pkey primary key (organization_id),
  constraint single_sign_on_role check (new_user_role in ('admin', 'editor', 'viewer')),
  constraint single_sign_on_organization foreign key (organization_id) references organizations(id)
);

create table added_connectors (
  account_id text not null,
  connector_id text not null,
  env text not null,
  created_time timestamptz default now() not null,
  constraint added_connectors_pkey primary key (account_id, connector_id),
  constraint added_connectors_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint added_connectors_environment foreign key (env) references environments(name)
);
create index added_connectors_by_connector on added_connectors (connector_id);

create table configurations (
  account_id text not null,
  connector_id text not null,
  id text not null,
  first boolean not null,
  configured boolean default false not null,
  name text not null,
  secret_name text not null,
  settings jsonb default '{}'::jsonb not null,
  oauth_client_id text,
  saved_time timestamptz,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  constraint configurations_pkey primary key (account_id, connector_id, id),
  constraint configurations_id unique (id),
  constraint configurations_name unique (account_id, connector_id, name),
  constraint configurations_added foreign key (account_id, connector_id)
    references added_connectors(account_id, connector_id) on delete cascade
);
create unique index configurations_first on configurations (account_id, connector_id) where first;
create index configurations_not_configured on configurations (account_id, connector_id, id) where not configured;
create index configurations_keyless on configurations (account_id)
  where (settings ->> 'authType') in ('web-identity', 'workload-identity');

create table secrets (
  account_id text not null,
  connector_id text not null,
  configuration_id text not null,
  name text not null,
  key_id text not null,
  sealed bytea not null,
  reference text,
  lease_id text,
  lease_until timestamptz,
  constraint secrets_pkey primary key (account_id, connector_id, configuration_id, name),
  constraint secrets_configuration foreign key (account_id, connector_id, configuration_id)
    references configurations(account_id, connector_id, id) on delete cascade
);
create index secrets_key on secrets (key_id);

create table uploads (
  id text not null,
  organization_id text not null,
  account_id text not null,
  name text not null,
  size_bytes bigint not null,
  chunks integer,
  data_key_id text not null,
  created_time timestamptz default now() not null,
  expires_time timestamptz not null,
  constraint uploads_pkey primary key (id),
  constraint uploads_account foreign key (account_id) references accounts(id) on delete cascade
);
create index uploads_data_key on uploads (data_key_id);
create index uploads_expires on uploads (expires_time);
create index uploads_of_account on uploads (account_id, created_time desc, id desc);
create index uploads_of_organization on uploads (organization_id);

create table upload_chunks (
  upload_id text not null,
  number integer not null,
  sealed bytea not null,
  constraint upload_chunks_pkey primary key (upload_id, number),
  constraint upload_chunks_upload foreign key (upload_id) references uploads(id) on delete cascade
);

create table streams (
  id text not null,
  number bigint generated always as identity not null,
  organization_id text not null,
  account_id text not null,
  connector_id text not null,
  data_key_id text not null,
  last_number bigint default 0 not null,
  last_time timestamptz,
  removed_number bigint default 0 not null,
  kept_bytes bigint default 0 not null,
  accepted bigint default 0 not null,
  duplicates bigint default 0 not null,
  refused bigint default 0 not null,
  created_time timestamptz default now() not null,
  constraint streams_pkey primary key (id),
  constraint streams_number unique (number),
  constraint streams_configuration foreign key (account_id, connector_id, id)
    references configurations(account_id, connector_id, id) on delete cascade,
  constraint streams_data_key foreign key (data_key_id) references data_keys(id)
);
create index streams_of_account on streams (account_id, connector_id);
create index streams_of_organization on streams (organization_id);
create index streams_data_key on streams (data_key_id);

create table stream_keys (
  id text not null,
  stream_id text not null,
  digest bytea not null,
  hint text not null,
  created_time timestamptz default now() not null,
  last_used_time timestamptz,
  constraint stream_keys_pkey primary key (id),
  constraint stream_keys_digest unique (digest),
  constraint stream_keys_stream foreign key (stream_id) references streams(id) on delete cascade
);
create index stream_keys_of_stream on stream_keys (stream_id);

create table stream_columns (
  stream bigint not null,
  name text not null,
  position bigint generated always as identity not null,
  kinds integer not null,
  constraint stream_columns_pkey primary key (stream, name),
  constraint stream_columns_stream foreign key (stream) references streams(number) on delete cascade
);

create table stream_batches (
  stream bigint not null,
  first_number bigint not null,
  count integer not null,
  bytes integer not null,
  time timestamptz default now() not null,
  sealed bytea not null,
  constraint stream_batches_pkey primary key (stream, first_number, time),
  constraint stream_batches_stream foreign key (stream) references streams(number) on delete cascade
) partition by range (time);

create table stream_batches_default partition of stream_batches default;

create table stream_refusals (
  stream bigint not null,
  reason text not null,
  count bigint not null,
  newest_time timestamptz not null,
  constraint stream_refusals_pkey primary key (stream, reason),
  constraint stream_refusals_stream foreign key (stream) references streams(number) on delete cascade
);

create table stream_notes (
  stream bigint not null,
  position bigint generated always as identity not null,
  time timestamptz not null,
  outcome text not null,
  reason text,
  events integer not null,
  bytes integer,
  digest uuid,
  constraint stream_notes_pkey primary key (stream, position),
  constraint stream_notes_stream foreign key (stream) references streams(number) on delete cascade
);

create table stream_volumes (
  stream bigint not null,
  seconds integer not null,
  time timestamptz not null,
  accepted bigint not null,
  duplicates bigint not null,
  refused bigint not null,
  constraint stream_volumes_pkey primary key (stream, seconds, time),
  constraint stream_volumes_stream foreign key (stream) references streams(number) on delete cascade
);
create index stream_volumes_time on stream_volumes (seconds, time);

create table stream_messages (
  stream bigint not null,
  digest uuid not null,
  time timestamptz default now() not null
) partition by range (time);
create index stream_messages_digest on stream_messages (digest, stream);

create table stream_messages_default partition of stream_messages default;

create table connections (
  id text not null,
  organization_id text not null,
  account_id text not null,
  name text not null,
  status text not null,
  previous_status text,
  src_connector_id text not null,
  dest_connector_id text not null,
  src_configuration_id text not null,
  dest_configuration_id text not null,
  src_first boolean default true not null,
  dest_first boolean default true not null,
  live_src_connector_id text generated always as (case
    when status <> 'deleted' then src_connector_id
    else null::text end) stored,
  live_dest_connector_id text generated always as (case
    when status <> 'deleted' then dest_connector_id
    else null::text end) stored,
  live_src_configuration_id text generated always as (case
    when status <> 'deleted' then src_configuration_id
    else null::text end) stored,
  live_dest_configuration_id text generated always as (case
    when status <> 'deleted' then dest_configuration_id
    else null::text end) stored,
  src_config jsonb default '{}'::jsonb not null,
  dest_config jsonb default '{}'::jsonb not null,
  env text not null,
  total_volume bigint default 0 not null,
  used_volume bigint default 0 not null,
  monthly_volume bigint default 0 not null,
  volume_month text default '' not null,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  deleted_time timestamptz,
  account_deleted boolean default false not null,
  tags text[] default '{}' not null,
  tag_keys text[] default '{}' not null,
  owner_id text,
  last_transfer_time timestamptz,
  next_transfer_time timestamptz,
  constraint connections_pkey primary key (id),
  constraint connections_deleted check ((status = 'deleted') = (deleted_time is not null)),
  constraint connections_previous_status check (case
    when status in ('disabled', 'deleted') then previous_status is not null and (previous_status in ('In-progress', 'active', 'broken', 'offline'))
    else previous_status is null end),
  constraint connections_status check (status in ('In-progress', 'active', 'disabled', 'deleted', 'broken', 'offline')),
  constraint connections_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint connections_dest_added foreign key (account_id, live_dest_connector_id)
    references added_connectors(account_id, connector_id),
  constraint connections_dest_configuration foreign key (account_id, live_dest_connector_id, live_dest_configuration_id)
    references configurations(account_id, connector_id, id),
  constraint connections_environment foreign key (env) references environments(name),
  constraint connections_organization foreign key (organization_id) references organizations(id),
  constraint connections_owner foreign key (owner_id) references users(id) on delete set null,
  constraint connections_src_added foreign key (account_id, live_src_connector_id)
    references added_connectors(account_id, connector_id),
  constraint connections_src_configuration foreign key (account_id, live_src_connector_id, live_src_configuration_id)
    references configurations(account_id, connector_id, id)
);
create index connections_name on connections using gin (account_id, (organization_id || ''), name gin_trgm_ops);
create index connections_of_account on connections (account_id, created_time desc, id desc)
  include (name, src_connector_id, dest_connector_id, status, deleted_time)
  where not account_deleted;
create index connections_by_dest on connections (dest_connector_id, organization_id);
create index connections_by_name on connections (account_id, lower(name), id) where not account_deleted;
create index connections_by_src on connections (src_connector_id, organization_id);
create index connections_deleted on connections (deleted_time) where status = 'deleted';
create index connections_deleted_of_organization on connections (organization_id, deleted_time, account_id)
  where status = 'deleted' and not account_deleted;
create index connections_dest on connections (account_id, live_dest_connector_id);
create index connections_of_account_by_status on connections (account_id, status, created_time desc, id desc)
  where not account_deleted;
create index connections_of_organization on connections (organization_id, created_time desc, id desc)
  where not account_deleted;
create index connections_of_organization_by_status on connections (organization_id, status, created_time desc, id desc)
  where not account_deleted;
create index connections_src on connections (account_id, live_src_connector_id);
create index connections_of_account_by_id on connections (account_id, id) where not account_deleted;
create index connections_of_account_by_last on connections (account_id, last_transfer_time desc nulls last, id desc)
  where not account_deleted;
create index connections_of_account_by_next on connections (account_id, next_transfer_time, id)
  where not account_deleted;
create index connections_of_organization_by_last on connections (organization_id, last_transfer_time desc nulls last, id desc)
  where not account_deleted;
create index connections_of_organization_by_name on connections (organization_id, lower(name), id)
  where not account_deleted;
create index connections_of_organization_by_next on connections (organization_id, next_transfer_time, id)
  where not account_deleted;
create index connections_owned on connections (owner_id, created_time desc, id desc) where owner_id is not null;
create index connections_tagged on connections using gin (organization_id, tag_keys)
  where tag_keys <> '{}' and not account_deleted;

create table connection_counts (
  account_id text not null,
  organization_id text not null,
  in_progress integer default 0 not null,
  active integer default 0 not null,
  disabled integer default 0 not null,
  deleted integer default 0 not null,
  broken integer default 0 not null,
  offline integer default 0 not null,
  constraint connection_counts_pkey primary key (account_id),
  constraint connection_counts_account foreign key (account_id) references accounts(id) on delete cascade
);
create index connection_counts_organization on connection_counts (organization_id);

create table connector_counts (
  account_id text not null,
  connector_id text not null,
  src_connections integer default 0 not null,
  dest_connections integer default 0 not null,
  constraint connector_counts_pkey primary key (account_id, connector_id),
  constraint connector_counts_added foreign key (account_id, connector_id)
    references added_connectors(account_id, connector_id) on delete cascade
);

create table connection_events (
  connection_id text not null,
  number integer not null,
  kind text not null,
  was text,
  became text,
  changes jsonb,
  actor_kind text,
  actor_id text,
  actor_name text,
  created_time timestamptz default now() not null,
  constraint connection_events_pkey primary key (connection_id, number),
  constraint connection_events_connection foreign key (connection_id) references connections(id) on delete cascade
);

create table saved_filters (
  id text not null,
  organization_id text not null,
  account_id text,
  user_id text,
  name text not null,
  query text not null,
  created_time timestamptz default now() not null,
  constraint saved_filters_pkey primary key (id),
  constraint saved_filters_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint saved_filters_organization foreign key (organization_id) references organizations(id),
  constraint saved_filters_user foreign key (user_id) references users(id) on delete cascade
);
create index saved_filters_of_account on saved_filters (account_id) where account_id is not null;
create index saved_filters_own on saved_filters (user_id, lower(name), id) where user_id is not null;
create index saved_filters_shared on saved_filters (organization_id, lower(name), id) where user_id is null;

create table transfers (
  id text not null,
  organization_id text not null,
  account_id text not null,
  connection_id text not null,
  src_connector_id text not null,
  dest_connector_id text not null,
  status text not null,
  trigger text not null,
  replay_of text,
  replay_rows text,
  traceparent text,
  tables text[],
  src_config jsonb default '{}'::jsonb not null,
  dest_config jsonb default '{}'::jsonb not null,
  src_settings jsonb default '{}'::jsonb not null,
  dest_settings jsonb default '{}'::jsonb not null,
  confirmed boolean default false not null,
  test_rows integer,
  cancelling boolean default false not null,
  read bigint default 0 not null,
  sent bigint default 0 not null,
  accepted bigint default 0 not null,
  rejected bigint default 0 not null,
  bytes bigint default 0 not null,
  progress double precision,
  attempt integer default 0 not null,
  source_columns jsonb,
  columns jsonb,
  shape jsonb,
  column_changes jsonb,
  started_by jsonb,
  error_code text,
  error_message text,
  error_side text,
  data_key_id text,
  latest boolean default true not null,
  created_time timestamptz default now() not null,
  started_time timestamptz,
  finished_time timestamptz,
  duration interval generated always as (finished_time - started_time) stored,
  ended_read bigint generated always as (case when finished_time is not null then read else null::bigint end) stored,
  ended_rejected bigint generated always as (case
    when finished_time is not null then rejected
    else null::bigint end) stored,
  parts integer default 1 not null,
  filtered bigint default 0 not null,
  unchanged bigint default 0 not null,
  duplicates bigint default 0 not null,
  no_consent bigint default 0 not null,
  control_group bigint default 0 not null,
  rules jsonb,
  purposes jsonb,
  rule_results jsonb,
  removed bigint default 0 not null,
  backfill jsonb,
  paused interval default '00:00:00'::interval not null,
  plan_sealed bytea,
  kept_bytes bigint default 0 not null,
  stream_after bigint,
  stream_read bigint,
  constraint transfers_pkey primary key (id),
  constraint transfers_counts check (read >= (accepted + rejected)),
  constraint transfers_status check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
  constraint transfers_test check (read <= test_rows),
  constraint transfers_connection foreign key (connection_id) references connections(id) on delete cascade
) with (fillfactor = 80);
create unique index transfers_active on transfers (connection_id) where status in ('queued', 'running');
create index transfers_with_rejects on transfers (finished_time) where data_key_id is not null;
create index transfers_data_key on transfers (data_key_id) where data_key_id is not null;
create unique index transfers_latest on transfers (connection_id) where latest;
create index transfers_latest_of_account on transfers (account_id, status, created_time desc, id desc) where latest;
create index transfers_latest_of_organization on transfers (organization_id, status, created_time desc, id desc)
  where latest;
create index transfers_of_account_by_status on transfers (account_id, status, created_time desc, id desc);
create index transfers_of_connection on transfers (connection_id, created_time desc, id desc);
create index transfers_of_connection_by_status on transfers (connection_id, status, created_time desc, id desc);
create index transfers_of_organization_by_status on transfers (organization_id, status, created_time desc, id desc);
create index transfers_need_attention on transfers (organization_id, account_id)
  where latest and (status in ('failed', 'partial', 'queued', 'running')) and ((status in ('failed', 'partial'))
  or error_code is not null);
create index transfers_with_records on transfers (organization_id, created_time desc, id desc)
  where data_key_id is not null;
create index transfers_of_connection_by_duration on transfers (connection_id, status, duration desc nulls last, created_time desc, id desc);
create index transfers_of_connection_by_read on transfers (connection_id, status, ended_read desc nulls last, created_time desc, id desc);
create index transfers_of_connection_by_rejected on transfers (connection_id, status, ended_rejected desc nulls last, created_time desc, id desc);
create index transfers_stream_read on transfers (connection_id, stream_read) where stream_read is not null;
create index transfers_keeping on transfers (organization_id) include (kept_bytes) where kept_bytes > 0;

create table ledger (
  transfer_id text not null,
  number integer not null,
  organization_id text not null,
  account_id text not null,
  connection_id text not null,
  day date not null,
  read integer not null,
  accepted integer not null,
  rejected integer not null,
  replayed integer not null,
  replay boolean default false not null,
  test boolean default false not null,
  bytes bigint not null,
  delivery_state_sealed bytea,
  created_time timestamptz default now() not null,
  constraint ledger_pkey primary key (transfer_id, number),
  constraint ledger_account foreign key (account_id) references accounts(id) on delete cascade
);
create index ledger_of_account on ledger (organization_id, account_id, day);
create index ledger_of_connection on ledger (account_id, connection_id, day);

create table transfer_logs (
  transfer_id text not null,
  attempt integer not null,
  lines jsonb not null,
  constraint transfer_logs_pkey primary key (transfer_id, attempt),
  constraint transfer_logs_transfer foreign key (transfer_id) references transfers(id) on delete cascade
);

create table rejects (
  transfer_id text not null,
  number integer not null,
  row bigint,
  count integer default 1 not null,
  field text,
  reason_sealed bytea,
  record json not null,
  sealed bytea,
  origin_id text,
  origin_number integer,
  replayed_by text,
  erased_time timestamptz,
  edited_sealed bytea,
  edited_time timestamptz,
  structural boolean default false not null,
  key text,
  position bigint generated by default as identity not null,
  superseded text,
  place jsonb,
  constraint rejects_pkey primary key (transfer_id, number),
  constraint rejects_superseded_check check (superseded in ('delivered', 'unknown')),
  constraint rejects_transfer foreign key (transfer_id) references transfers(id) on delete cascade
);
create index rejects_of_origin on rejects (origin_id, origin_number) where origin_id is not null;
create index rejects_open_keys on rejects (key) where key is not null and superseded is null;

create table connection_states (
  connection_id text not null,
  data_key_id text,
  cursor_sealed bytea,
  state_sealed bytea,
  pending integer,
  replaced bigint,
  drift text default 'ignore' not null,
  shape jsonb,
  digest_key_sealed bytea,
  digests_scope text,
  digests_generation text,
  digests_since timestamptz,
  digests_salt text,
  rejects_of text,
  rejects_read integer,
  stream_of text,
  stream_read bigint,
  describes jsonb,
  announced_by text,
  announced_data_key_id text,
  announced_sealed bytea,
  keys_salt text,
  constraint connection_states_pkey primary key (connection_id),
  constraint connection_states_drift check (drift in ('ignore', 'stop', 'add')),
  constraint connection_states_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index connection_states_data_key on connection_states (data_key_id) where data_key_id is not null;
create index connection_states_stream_of on connection_states (stream_of) where stream_of is not null;
create index connection_states_rejects_of on connection_states (rejects_of) where rejects_of is not null;
create index connection_states_announced_data_key on connection_states (announced_data_key_id)
  where announced_data_key_id is not null;
create table connection_tables (
  connection_id text not null,
  name text not null,
  cursor_sealed bytea,
  pending integer,
  announced_by text,
  announced_part integer,
  announced_data_key_id text,
  announced_sealed bytea,
  keys_salt text,
  shape jsonb,
  mapping text,
  listed_time timestamptz default now() not null,
  destination text,
  paused boolean default false not null,
  reset_time timestamptz,
  transfer_id text,
  status text,
  read bigint default 0 not null,
  accepted bigint default 0 not null,
  rejected bigint default 0 not null,
  error_code text,
  error_message text,
  error_side text,
  finished_time timestamptz,
  found_shape jsonb,
  column_changes jsonb,
  constraint connection_tables_pkey primary key (connection_id, name),
  constraint connection_tables_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index connection_tables_announced_data_key on connection_tables (announced_data_key_id)
  where announced_data_key_id is not null;

create table connection_digests (
  connection_id text not null,
  generation text not null,
  number integer not null,
  kept integer not null,
  transfer_id text,
  digests bytea not null,
  keys_sealed bytea,
  constraint connection_digests_pkey primary key (connection_id, generation, number),
  constraint connection_digests_connection_state foreign key (connection_id)
    references connection_states(connection_id) on delete cascade
);
create index connection_digests_of_transfer on connection_digests (transfer_id) where transfer_id is not null;

create table schedules (
  connection_id text not null,
  cron text not null,
  timezone text not null,
  enabled boolean not null,
  next_time timestamptz,
  last_time timestamptz,
  organization_id text not null,
  constraint schedules_pkey primary key (connection_id),
  constraint schedules_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index schedules_due on schedules (next_time) where enabled;
create index schedules_continuous on schedules (connection_id) where enabled and cron = '@continuous';
create index schedules_of_organization on schedules (organization_id) where enabled;

create table schedule_pauses (
  reason text not null,
  created_time timestamptz default now() not null,
  constraint schedule_pauses_pkey primary key (reason)
);

create table transfer_totals (
  status text not null,
  error_code text not null,
  transfers bigint not null,
  read bigint not null,
  sent bigint not null,
  accepted bigint not null,
  rejected bigint not null,
  constraint transfer_totals_pkey primary key (status, error_code)
);

create table probes (
  connection_id text not null,
  attempts integer default 0 not null,
  next_time timestamptz not null,
  constraint probes_pkey primary key (connection_id),
  constraint probes_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index probes_due on probes (next_time);

create table audience_checks (
  connection_id text not null,
  next_time timestamptz not null,
  measured_time timestamptz,
  problem text,
  smallest bigint,
  match_rate double precision,
  match_rate_before double precision,
  constraint audience_checks_pkey primary key (connection_id),
  constraint audience_checks_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index audience_checks_due on audience_checks (next_time);

create table audience_measures (
  connection_id text not null,
  day date not null,
  sealed bytea not null,
  constraint audience_measures_pkey primary key (connection_id, day),
  constraint audience_measures_connection foreign key (connection_id) references connections(id) on delete cascade
);

create table change_logs (
  connection_id text not null,
  configuration_id text not null,
  slot text not null,
  server text not null,
  organization_id text not null,
  account_id text not null,
  connector_id text not null,
  next_time timestamptz default now() not null,
  attempts integer default 0 not null,
  measured_time timestamptz,
  status text,
  kept_bytes bigint,
  safe_bytes bigint,
  limit_bytes bigint,
  behind_bytes bigint,
  behind_files integer,
  older_files integer,
  kept_seconds bigint,
  delivered_time timestamptz,
  confirmed text,
  problem text,
  warns boolean default false not null,
  leaving_since timestamptz,
  asked boolean default false not null,
  stays boolean default false not null,
  constraint change_logs_pkey primary key (connection_id, configuration_id, slot, server),
  constraint change_logs_status check (status in ('reserved', 'extended', 'unreserved', 'lost')),
  constraint change_logs_account foreign key (account_id) references accounts(id) on delete cascade
);
create index change_logs_due on change_logs (next_time);
create index change_logs_of_account on change_logs (account_id);
create index change_logs_kept on change_logs (kept_bytes) where kept_bytes is not null;
create index change_logs_delivered on change_logs (delivered_time) where delivered_time is not null;
create index change_logs_warning on change_logs (organization_id, account_id) where warns;
create index change_logs_named on change_logs (server, slot);

create table worker_versions (
  version text not null,
  number integer[] not null,
  first_started_time timestamptz default now() not null,
  constraint worker_versions_pkey primary key (version)
);

create table purges (
  only_one boolean default true not null,
  next_time timestamptz not null,
  ledger_summed_until date,
  constraint purges_pkey primary key (only_one),
  constraint purges_only_one_check check (only_one)
);

create table authorizations (
  link_digest bytea not null,
  account_id text not null,
  connector_id text not null,
  configuration_id text not null,
  client_id text not null,
  actor_kind text,
  actor_id text,
  actor_name text,
  state_digest bytea,
  browser_digest bytea,
  expires_time timestamptz not null,
  outcome text,
  constraint authorizations_pkey primary key (link_digest),
  constraint authorizations_state unique (state_digest),
  constraint authorizations_outcome check (outcome in ('declined', 'failed')),
  constraint authorizations_configuration foreign key (account_id, connector_id, configuration_id)
    references configurations(account_id, connector_id, id) on delete cascade
);
create index authorizations_expires on authorizations (expires_time);
create index authorizations_by_configuration on authorizations (account_id, connector_id, configuration_id);

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

create table webhooks (
  id text not null,
  organization_id text not null,
  account_id text,
  url text not null,
  description text not null,
  event_types text[],
  taken_event_types text[],
  enabled boolean not null,
  disabled_reason text,
  disabled_mail_time timestamptz,
  data_key_id text not null,
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  failing_since timestamptz,
  last_success_time timestamptz,
  lease_id text,
  lease_until timestamptz,
  turn_time timestamptz default now() not null,
  slow boolean default false not null,
  look_again_time timestamptz,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  constraint webhooks_pkey primary key (id),
  constraint webhooks_disabled_reason check (disabled_reason in ('gone', 'failing')),
  constraint webhooks_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint webhooks_organization foreign key (organization_id) references organizations(id)
);
create index webhooks_data_key on webhooks (data_key_id);
create index webhooks_enabled on webhooks (organization_id, coalesce(account_id, '')) where enabled;
create index webhooks_of_account on webhooks (account_id, created_time desc, id desc);
create index webhooks_of_organization on webhooks (organization_id, created_time desc, id desc);

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
  constraint webhook_deliveries_of_event foreign key (event_id) references events(id) on delete cascade,
  constraint webhook_deliveries_webhook foreign key (webhook_id) references webhooks(id) on delete cascade
);
create index webhook_deliveries_by_status on webhook_deliveries (webhook_id, status, created_time desc, id desc);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, created_time desc, id desc);
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, ordering_key, number)
  where status = 'pending';

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

create table connect_links (
  id text not null,
  organization_id text not null,
  account_id text not null,
  digest bytea not null,
  page_digest bytea,
  connector_ids text[] not null,
  configuration_ids text[] not null,
  template jsonb,
  redirect_url text,
  client_id text,
  user_id text,
  created_time timestamptz default now() not null,
  expires_time timestamptz not null,
  opened_time timestamptz,
  finished_time timestamptz,
  revoked_time timestamptz,
  outcome text,
  connection_id text,
  constraint connect_links_pkey primary key (id),
  constraint connect_links_digest unique (digest),
  constraint connect_links_page_digest unique (page_digest),
  constraint connect_links_outcome check (outcome in ('completed', 'cancelled')),
  constraint connect_links_account foreign key (account_id) references accounts(id) on delete cascade
);
create index connect_links_account on connect_links (account_id, created_time, id);
create index connect_links_expires on connect_links (expires_time);
create index connect_links_organization on connect_links (organization_id, created_time, id);
create index connect_links_usable on connect_links (organization_id, expires_time)
  where finished_time is null and revoked_time is null;

create table organization_branding (
  organization_id text not null,
  name text,
  logo text,
  primary_colour text,
  text_colour text,
  allowed_origins text[] not null,
  constraint organization_branding_pkey primary key (organization_id),
  constraint organization_branding_colours check ((primary_colour is null) = (text_colour is null)),
  constraint organization_branding_organization foreign key (organization_id) references organizations(id)
);

create table alert_rules (
  id text not null,
  organization_id text not null,
  account_id text,
  name text not null,
  connection_ids text[],
  enabled boolean default true not null,
  transfer_failed boolean not null,
  connection_broken boolean not null,
  rejected_percent double precision,
  no_success_hours integer,
  volume_percent integer,
  log_kept_gb integer,
  behind_minutes integer,
  audience_below integer,
  match_fell_percent integer,
  emails text[] not null,
  email_roles text[] not null,
  data_key_id text,
  slack_sealed bytea,
  teams_sealed bytea,
  muted_until timestamptz,
  message_budget double precision default 6 not null,
  message_time timestamptz default now() not null,
  delivery_error jsonb,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  constraint alert_rules_pkey primary key (id),
  constraint alert_rules_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint alert_rules_data_key foreign key (data_key_id) references data_keys(id),
  constraint alert_rules_organization foreign key (organization_id) references organizations(id)
);
create index alert_rules_behind on alert_rules (organization_id) where behind_minutes is not null;
create index alert_rules_by_data_key on alert_rules (data_key_id) where data_key_id is not null;
create index alert_rules_covering on alert_rules (organization_id, coalesce(account_id, ''));
create index alert_rules_no_success on alert_rules (organization_id) where no_success_hours is not null;
create index alert_rules_of_account on alert_rules (account_id, created_time desc, id desc);
create index alert_rules_of_organization on alert_rules (organization_id, created_time desc, id desc);
create index alert_rules_volume on alert_rules (organization_id) where volume_percent is not null;

create table alert_incidents (
  id text not null,
  rule_id text not null,
  rule_account_id text,
  organization_id text not null,
  account_id text not null,
  connection_id text not null,
  reasons text[] not null,
  numbers text[] default '{}' not null,
  transfer_id text,
  error_code text,
  error_side text,
  opened_time timestamptz not null,
  resolved_time timestamptz,
  resolution text,
  acknowledged_time timestamptz,
  acknowledged_by jsonb,
  pending text,
  constraint alert_incidents_pkey primary key (id),
  constraint alert_incidents_pending check (pending in ('opened', 'resolved')),
  constraint alert_incidents_resolution check (resolution in ('recovered', 'stopped', 'rule_changed')),
  constraint alert_incidents_resolved check ((resolved_time is null) = (resolution is null)),
  constraint alert_incidents_connection foreign key (connection_id) references connections(id) on delete cascade,
  constraint alert_incidents_rule foreign key (rule_id) references alert_rules(id) on delete cascade
);
create index alert_incidents_of_account on alert_incidents (account_id, (resolved_time is not null), opened_time desc, id desc);
create index alert_incidents_of_connection on alert_incidents (connection_id);
create index alert_incidents_of_organization on alert_incidents (organization_id, (resolved_time is not null), opened_time desc, id desc);
create index alert_incidents_of_rule on alert_incidents (rule_id, (resolved_time is not null), opened_time desc, id desc);
create unique index alert_incidents_open on alert_incidents (rule_id, connection_id) where resolved_time is null;
create index alert_incidents_open_of_connection on alert_incidents (connection_id) where resolved_time is null;
create index alert_incidents_pending on alert_incidents (rule_id, pending) where pending is not null;
create index alert_incidents_resolved on alert_incidents (resolved_time) where resolved_time is not null;

create table alert_checks (
  number bigint generated always as identity not null,
  connection_id text not null,
  constraint alert_checks_pkey primary key (number)
);

create table alert_sweeps (
  name text not null,
  next_time timestamptz not null,
  constraint alert_sweeps_pkey primary key (name)
);

create table alert_deliveries (
  id text not null,
  rule_id text not null,
  kind text not null,
  channel text not null,
  recipient text,
  content jsonb not null,
  attempts integer default 0 not null,
  next_time timestamptz default now() not null,
  outcome text,
  created_time timestamptz default now() not null,
  finished_time timestamptz,
  constraint alert_deliveries_pkey primary key (id),
  constraint alert_deliveries_channel check (channel in ('email', 'slack', 'teams')),
  constraint alert_deliveries_kind check (kind in ('opened', 'resolved', 'test')),
  constraint alert_deliveries_outcome check (outcome in ('delivered', 'failed')),
  constraint alert_deliveries_rule foreign key (rule_id) references alert_rules(id) on delete cascade
);
create index alert_deliveries_created on alert_deliveries (created_time);
create index alert_deliveries_of_rule on alert_deliveries (rule_id, kind, created_time);
create index alert_deliveries_unsent on alert_deliveries (channel, rule_id, next_time) where outcome is null;

create table alert_delivery_totals (
  channel text not null,
  outcome text not null,
  deliveries bigint not null,
  constraint alert_delivery_totals_pkey primary key (channel, outcome)
);

create table samples (
  account_id text not null,
  organization_id text not null,
  database text not null,
  connection_id text not null,
  configuration_id text not null,
  transfer_id text not null,
  upload_id text not null,
  added_connector_ids text[] not null,
  created_time timestamptz default now() not null,
  constraint samples_pkey primary key (account_id),
  constraint samples_account foreign key (account_id) references accounts(id) on delete cascade
);
create index samples_of_organization on samples (organization_id);

create table mapping_templates (
  id text not null,
  organization_id text not null,
  account_id text,
  name text not null,
  dest_connector_id text not null,
  src_connector_id text,
  mapping text not null,
  fields integer not null,
  created_by jsonb not null,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  constraint mapping_templates_pkey primary key (id),
  constraint mapping_templates_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint mapping_templates_organization foreign key (organization_id) references organizations(id)
);
create index mapping_templates_of_account on mapping_templates (account_id, lower(name), id)
  where account_id is not null;
create index mapping_templates_of_organization on mapping_templates (organization_id, lower(name), id);

create table audit_keys (
  single boolean default true not null,
  key_id text not null,
  sealed bytea not null,
  constraint audit_keys_pkey primary key (single),
  constraint audit_keys_single check (single)
);

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

create table organization_counts (
  organization_id text not null,
  slot smallint not null,
  accounts bigint default 0 not null,
  kept_accounts bigint default 0 not null,
  in_progress bigint default 0 not null,
  active bigint default 0 not null,
  disabled bigint default 0 not null,
  deleted bigint default 0 not null,
  broken bigint default 0 not null,
  offline bigint default 0 not null,
  constraint organization_counts_pkey primary key (organization_id, slot)
) with (fillfactor = 50);

create table active_transfers (
  transfer_id text not null,
  organization_id text not null,
  account_id text not null,
  src_connector_id text not null,
  dest_connector_id text not null,
  running boolean not null,
  divided boolean not null,
  created_time timestamptz not null,
  group_name text,
  constraint active_transfers_pkey primary key (transfer_id),
  constraint active_transfers_transfer foreign key (transfer_id) references transfers(id) on delete cascade
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, vacuum_index_cleanup = on);
create index active_transfers_running on active_transfers (account_id) where running;
create index active_transfers_waiting on active_transfers (created_time, transfer_id) where not running;
create index active_transfers_waiting_of_account on active_transfers (account_id, created_time, transfer_id)
  where not running;
create index active_transfers_waiting_of_organization on active_transfers (organization_id, created_time, transfer_id)
  where not running;
create index active_transfers_divided on active_transfers (created_time, transfer_id) where divided;

create table transfer_parts (
  transfer_id text not null,
  number integer default 1 not null,
  key_sealed bytea,
  share double precision default 1 not null,
  status text default 'queued' not null,
  attempt integer default 0 not null,
  crashes integer default 0 not null,
  pending integer,
  checkpoint_sealed bytea,
  cursor_sealed bytea,
  read bigint default 0 not null,
  accepted bigint default 0 not null,
  rejected bigint default 0 not null,
  progress double precision default 0 not null,
  error_code text,
  error_message text,
  error_side text,
  heartbeat_time timestamptz,
  started_time timestamptz,
  finished_time timestamptz,
  announced_sealed bytea,
  worker text,
  table_name text,
  source_columns jsonb,
  columns jsonb,
  shape jsonb,
  column_changes jsonb,
  constraint transfer_parts_pkey primary key (transfer_id, number),
  constraint transfer_parts_status check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped')),
  constraint transfer_parts_transfer foreign key (transfer_id) references transfers(id) on delete cascade
) with (fillfactor = 70);
create index transfer_parts_queued on transfer_parts (transfer_id, number) where status = 'queued';
create index transfer_parts_running on transfer_parts (transfer_id) where status = 'running';

create table connection_rules (
  connection_id text not null,
  rules jsonb not null,
  blackout jsonb,
  constraint connection_rules_pkey primary key (connection_id),
  constraint connection_rules_connection foreign key (connection_id) references connections(id) on delete cascade
);

create table purposes (
  account_id text not null,
  name text not null,
  signals jsonb not null,
  uses text[] not null,
  constraint purposes_pkey primary key (account_id, name),
  constraint purposes_account foreign key (account_id) references accounts(id) on delete cascade
);

create table transfer_groups (
  account_id text not null,
  name text not null,
  transfers_max integer not null,
  constraint transfer_groups_pkey primary key (account_id, name),
  constraint transfer_groups_transfers_max check (transfers_max > 0),
  constraint transfer_groups_account foreign key (account_id) references accounts(id) on delete cascade
);

create table connection_groups (
  connection_id text not null,
  account_id text not null,
  group_name text not null,
  constraint connection_groups_pkey primary key (connection_id),
  constraint connection_groups_connection foreign key (connection_id) references connections(id) on delete cascade,
  constraint connection_groups_group foreign key (account_id, group_name)
    references transfer_groups(account_id, name) on delete cascade
);
create index connection_groups_of_group on connection_groups (account_id, group_name);

create table connection_dependencies (
  connection_id text not null,
  after_connection_id text not null,
  organization_id text not null,
  account_id text not null,
  constraint connection_dependencies_pkey primary key (connection_id, after_connection_id),
  constraint connection_dependencies_other check (connection_id <> after_connection_id),
  constraint connection_dependencies_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index connection_dependencies_after on connection_dependencies (after_connection_id);
create index connection_dependencies_of_organization on connection_dependencies (organization_id, account_id);

create table dependent_checks (
  number bigint generated always as identity not null,
  connection_id text not null,
  after_connection_id text not null,
  status text not null,
  constraint dependent_checks_pkey primary key (number),
  constraint dependent_checks_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index dependent_checks_of_connection on dependent_checks (connection_id);

create table triggers (
  id text not null,
  organization_id text not null,
  account_id text not null,
  connection_id text not null,
  name text not null,
  secret_digest bytea not null,
  data_key_id text,
  signing_secret_sealed bytea,
  created_time timestamptz default now() not null,
  last_used_time timestamptz,
  constraint triggers_pkey primary key (id),
  constraint triggers_connection foreign key (connection_id) references connections(id) on delete cascade,
  constraint triggers_data_key foreign key (data_key_id) references data_keys(id)
);
create index triggers_data_key on triggers (data_key_id) where data_key_id is not null;
create index triggers_of_connection on triggers (connection_id, created_time, id);

create table rejecting_transfers (
  connection_id text not null,
  position integer not null,
  transfer_id text not null,
  ended_time timestamptz not null,
  rejected bigint not null,
  ends integer[] not null,
  constraint rejecting_transfers_pkey primary key (connection_id, "position"),
  constraint rejecting_transfers_transfer foreign key (transfer_id) references transfers(id) on delete cascade
);
create index rejecting_transfers_of_transfer on rejecting_transfers (transfer_id);

create table organization_limits (
  organization_id text not null,
  name text not null,
  value bigint not null,
  saved_time timestamptz default now() not null,
  constraint organization_limits_pkey primary key (organization_id, name),
  constraint organization_limits_value check (value >= 0),
  constraint organization_limits_organization foreign key (organization_id)
    references organizations(id) on delete cascade
);

create table organization_rows (
  organization_id text not null,
  month text not null,
  stripe smallint not null,
  rows bigint not null,
  constraint organization_rows_pkey primary key (organization_id, month, stripe),
  constraint organization_rows_organization foreign key (organization_id)
    references organizations(id) on delete cascade
);

create table connector_definitions (
  slug text not null,
  connector_id text not null,
  kind text not null,
  package_name text not null,
  package_version text not null,
  folder text not null,
  definition text not null,
  added_time timestamptz not null,
  constraint connector_definitions_pkey primary key (slug)
);

create function keep_stream_partitions(days_ahead integer, batch_days integer, message_days integer) returns integer
language plpgsql as $$
declare
  today date := (now() at time zone 'UTC')::date;
  parent text;
  part text;
  begins date;
  changed integer := 0;
begin
  -- One process at a time, and never long in front of the commits of events.
  if not pg_try_advisory_xact_lock(hashtext('keep_stream_partitions')) then
    return 0;
  end if;
  perform set_config('lock_timeout', '2s', true);
  foreach parent in array array['stream_batches', 'stream_messages'] loop
    for begins in select today + i from generate_series(0, days_ahead) i loop
      part := parent || to_char(begins, '_YYYYMMDD');
      continue when to_regclass(part) is not null;
      begin
        execute format('create table %I (like %I including defaults including constraints)', part, parent);
        execute format(
          'alter table %I attach partition %I for values from (%L) to (%L)', parent, part,
          begins::timestamp at time zone 'UTC', (begins + 1)::timestamp at time zone 'UTC'
        );
        changed := changed + 1;
      exception
        -- The default partition has rows of this day already, and keeps the day.
        when check_violation then null;
        -- Somebody holds the table for longer than the timeout. The next call tries again.
        when lock_not_available then return changed;
      end;
    end loop;
    for part in
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = parent::regclass and c.relname ~ '_[0-9]{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD')
          < today - case parent when 'stream_batches' then batch_days else message_days end
    loop
      begin
        execute format('drop table %I', part);
        changed := changed + 1;
      exception when lock_not_available then return changed;
      end;
    end loop;
  end loop;
  return changed;
end
$$;

create function make_connection_counts() returns trigger language plpgsql as $$
begin
  insert into connection_counts (account_id, organization_id) values (new.id, new.organization_id);
  return null;
end $$;
create trigger accounts_make_counts after insert on accounts for each row execute function make_connection_counts();

create function make_connector_counts() returns trigger language plpgsql as $$
begin
  insert into connector_counts (account_id, connector_id) select account_id, connector_id from after_rows;
  return null;
end $$;
create trigger added_connectors_make_counts after insert on added_connectors referencing new table as after_rows
  for each statement execute function make_connector_counts();

create function follow_first_configurations() returns trigger language plpgsql as $$
begin
  update connections c set src_configuration_id = f.id
  from after_rows f
  where f.first and c.account_id = f.account_id and c.src_connector_id = f.connector_id and c.src_first
    and c.status = 'deleted' and not c.account_deleted;
  update connections c set dest_configuration_id = f.id
  from after_rows f
  where f.first and c.account_id = f.account_id and c.dest_connector_id = f.connector_id and c.dest_first
    and c.status = 'deleted' and not c.account_deleted;
  return null;
end $$;
create trigger configurations_follow_first after insert on configurations referencing new table as after_rows
  for each statement execute function follow_first_configurations();

create function add_to_connection_counts(account text, counted text, change bigint) returns void language sql as $$
  update connection_counts set
    in_progress = in_progress + case counted when 'In-progress' then change else 0 end,
    active = active + case counted when 'active' then change else 0 end,
    disabled = disabled + case counted when 'disabled' then change else 0 end,
    deleted = deleted + case counted when 'deleted' then change else 0 end,
    broken = broken + case counted when 'broken' then change else 0 end,
    offline = offline + case counted when 'offline' then change else 0 end
  where account_id = account;
$$;

create function add_to_connector_counts(account text, connector text, srcs integer, dests integer)
  returns void language sql as $$
  update connector_counts set src_connections = src_connections + srcs, dest_connections = dest_connections + dests
  where account_id = account and connector_id = connector;
$$;

create function keep_connection_counts() returns trigger language plpgsql as $$
begin
  case tg_op
    when 'INSERT' then
      perform add_to_connection_counts(account_id, status, n)
      from (select account_id, status, count(*) as n from after_rows group by 1, 2 order by 1) changes;
      perform add_to_connector_counts(account_id, connector_id, srcs, dests)
      from (
        select account_id, connector_id, sum(src)::int as srcs, sum(dest)::int as dests
        from (
          select account_id, live_src_connector_id as connector_id, 1 as src, 0 as dest from after_rows
          union all
          select account_id, live_dest_connector_id, 0, 1 from after_rows
        ) sides
        group by 1, 2
      ) changes;
    when 'UPDATE' then
      perform add_to_connection_counts(account_id, status, n)
      from (
        select account_id, status, sum(n)::bigint as n
        from (
          select account_id, status, 1 as n from after_rows
          union all
          select account_id, status, -1 from before_rows
        ) touched
        group by 1, 2 having sum(n) <> 0 order by 1
      ) changes;
      perform add_to_connector_counts(account_id, connector_id, srcs, dests)
      from (
        select account_id, connector_id, sum(src)::int as srcs, sum(dest)::int as dests
        from (
          select account_id, live_src_connector_id as connector_id, 1 as src, 0 as dest from after_rows
          union all
          select account_id, live_dest_connector_id, 0, 1 from after_rows
          union all
          select account_id, live_src_connector_id, -1, 0 from before_rows
          union all
          select account_id, live_dest_connector_id, 0, -1 from before_rows
        ) sides
        group by 1, 2 having sum(src) <> 0 or sum(dest) <> 0
      ) changes;
    when 'DELETE' then
      perform add_to_connection_counts(account_id, status, -n)
      from (select account_id, status, count(*) as n from before_rows group by 1, 2 order by 1) changes;
      perform add_to_connector_counts(account_id, connector_id, -srcs, -dests)
      from (
        select account_id, connector_id, sum(src)::int as srcs, sum(dest)::int as dests
        from (
          select account_id, live_src_connector_id as connector_id, 1 as src, 0 as dest from before_rows
          union all
          select account_id, live_dest_connector_id, 0, 1 from before_rows
        ) sides
        group by 1, 2
      ) changes;
  end case;
  return null;
end $$;
create trigger connections_count_deleted after delete on connections referencing old table as before_rows
  for each statement execute function keep_connection_counts();
create trigger connections_count_inserted after insert on connections referencing new table as after_rows
  for each statement execute function keep_connection_counts();
create trigger connections_count_updated after update on connections referencing old table as before_rows new table as after_rows
  for each statement execute function keep_connection_counts();

create function count_ended_transfer() returns trigger language plpgsql as $$
begin
  insert into transfer_totals as t (status, error_code, transfers, read, sent, accepted, rejected)
  values (new.status, coalesce(new.error_code, ''), 1, new.read, new.sent, new.accepted, new.rejected)
  on conflict (status, error_code) do update set
    transfers = t.transfers + 1, read = t.read + excluded.read, sent = t.sent + excluded.sent,
    accepted = t.accepted + excluded.accepted, rejected = t.rejected + excluded.rejected;
  return null;
end $$;
create constraint trigger transfers_count_ended after update of status on transfers deferrable initially deferred
  for each row when ((old.status in ('queued', 'running')) and (new.status not in ('queued', 'running')))
  execute function count_ended_transfer();

create function mark_latest_transfer() returns trigger language plpgsql as $$
begin
  update transfers set latest = false where connection_id = new.connection_id and latest;
  update connections set last_transfer_time = new.created_time where id = new.connection_id;
  return new;
end $$;
create trigger transfers_mark_latest before insert on transfers
  for each row when (new.latest) execute function mark_latest_transfer();

create function set_organization_of_schedule() returns trigger language plpgsql as $$
begin
  select organization_id into new.organization_id from connections where id = new.connection_id;
  return new;
end $$;
create trigger schedules_set_organization before insert on schedules
  for each row execute function set_organization_of_schedule();

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
create trigger audit_events_chain before insert on audit_events
  for each row when (new.hash is null) execute function chain_audit_event();

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

create function record_created_connections() returns trigger language plpgsql as $$
declare
  actor jsonb := actor_of_transaction();
begin
  insert into connection_events (connection_id, number, kind, became, actor_kind, actor_id, actor_name)
  select id, 1, 'created', name, actor ->> 'kind', actor ->> 'id', actor ->> 'name' from after_rows;
  return null;
end $$;
create trigger connections_record_created after insert on connections referencing new table as after_rows
  for each statement execute function record_created_connections();

create function record_changed_connection() returns trigger language plpgsql as $$
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
create trigger connections_record_changed after update of name, src_config, dest_config, status on connections
  for each row
  when (old.name <> new.name
  or old.status <> new.status
  or old.src_config <> new.src_config
  or old.dest_config <> new.dest_config)
  execute function record_changed_connection();

create function change_configurations() returns trigger language plpgsql as $$
begin
  if old.src_configuration_id <> new.src_configuration_id then
    perform add_connection_event(new.id, 'settings', null, 'Source', jsonb_build_array(jsonb_build_object(
      'key', 'configurationId', 'from', old.src_configuration_id, 'to', new.src_configuration_id)));
    update connection_states set cursor_sealed = null, pending = null where connection_id = new.id;
    update connection_tables set cursor_sealed = null, pending = null where connection_id = new.id;
  end if;
  if old.dest_configuration_id <> new.dest_configuration_id then
    perform add_connection_event(new.id, 'settings', null, 'Destination', jsonb_build_array(jsonb_build_object(
      'key', 'configurationId', 'from', old.dest_configuration_id, 'to', new.dest_configuration_id)));
    delete from connection_states where connection_id = new.id;
    delete from connection_tables where connection_id = new.id;
  end if;
  return null;
end $$;
create trigger connections_change_configurations after update of src_configuration_id, dest_configuration_id on connections
  for each row
  when (old.status <> 'deleted' and (old.src_configuration_id <> new.src_configuration_id
  or old.dest_configuration_id <> new.dest_configuration_id))
  execute function change_configurations();

create function schedule_in_words(schedule schedules) returns text language sql immutable as $$
  select schedule.cron || ' ' || schedule.timezone || case when schedule.enabled then '' else ' off' end;
$$;

create function record_changed_schedule() returns trigger language plpgsql as $$
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
create trigger schedules_record_changed after update of cron, timezone, enabled on schedules
  for each row
  when (old.cron is distinct from new.cron
  or old.timezone is distinct from new.timezone
  or old.enabled is distinct from new.enabled)
  execute function record_changed_schedule();
create trigger schedules_record_set after insert or delete on schedules
  for each row execute function record_changed_schedule();

create function record_changed_columns() returns trigger language plpgsql as $$
declare
  side text;
begin
  for side in select distinct value ->> 'side' from jsonb_array_elements(new.column_changes) order by 1 desc loop
    perform add_connection_event(new.connection_id, 'columns', null, initcap(side), (
      select jsonb_agg(jsonb_build_object('key', value ->> 'column',
        'from', case when value ->> 'change' = 'added' then null else coalesce(value ->> 'from', value ->> 'column') end,
        'to', case when value ->> 'change' = 'removed' then null else coalesce(value ->> 'to', value ->> 'column') end))
      from jsonb_array_elements(new.column_changes) where value ->> 'side' = side
    ));
  end loop;
  return null;
end $$;
create trigger transfers_record_changed_columns after update of column_changes on transfers
  for each row when (old.column_changes is null and new.column_changes is not null)
  execute function record_changed_columns();

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
create trigger accounts_emit_changed after update of name, enabled, deleted_time on accounts
  for each row
  when (old.name <> new.name
  or old.enabled <> new.enabled
  or (old.deleted_time is null) <> (new.deleted_time is null))
  execute function emit_account_changed();
create trigger accounts_emit_created after insert on accounts for each row execute function emit_account_changed();

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
create trigger clients_emit_changed after update of name, secret_digest, revoked_time on clients
  for each row
  when (old.name is distinct from new.name
  or old.secret_digest <> new.secret_digest
  or (old.revoked_time is null) <> (new.revoked_time is null))
  execute function emit_client_changed();
create trigger clients_emit_created after insert on clients for each row execute function emit_client_changed();

create function emit_configuration_changed() returns trigger language plpgsql as $$
declare
  organization text;
begin
  select organization_id into organization from accounts where id = old.account_id;
  -- A connector also goes with its account, which is purged.
  if not found then return null; end if;
  if tg_op = 'UPDATE' and new.saved_time is distinct from old.saved_time then
    perform emit_event('connector.configured', organization, new.account_id, null, json_build_object(
      'connectorId', new.connector_id, 'configurationId', new.id, 'name', new.name,
      'configured', new.configured));
  end if;
  if old.oauth_client_id is not null and (tg_op = 'DELETE' or new.oauth_client_id is null) then
    perform emit_event('authorization.revoked', organization, old.account_id, null, json_build_object(
      'connectorId', old.connector_id, 'configurationId', old.id));
  end if;
  return null;
end $$;
create trigger configurations_emit_changed after update of saved_time, oauth_client_id on configurations
  for each row execute function emit_configuration_changed();
create trigger configurations_emit_removed after delete on configurations
  for each row when (old.oauth_client_id is not null) execute function emit_configuration_changed();

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
    and coalesce(account_id, '') in ('', account) and (event_types is null or event_type = any (event_types))
  for key share;
  return event;
end $$;

create function emit_transfer_ended() returns trigger language plpgsql as $$
begin
  perform emit_event('transfer.' || new.status, new.organization_id, new.account_id, new.connection_id, json_build_object(
    'transferId', new.id, 'status', new.status, 'trigger', new.trigger, 'replayOf', new.replay_of,
    'test', new.test_rows is not null, 'read', new.read, 'sent', new.sent, 'accepted', new.accepted, 'rejected', new.rejected,
    'changedColumns', coalesce(jsonb_array_length(new.column_changes), 0), 'errorCode', new.error_code, 'errorSide', new.error_side,
    'createdTime', floor(extract(epoch from new.created_time))::bigint,
    'startedTime', floor(extract(epoch from new.started_time))::bigint,
    'finishedTime', floor(extract(epoch from new.finished_time))::bigint));
  return null;
end $$;
create trigger transfers_emit_ended after update of status on transfers
  for each row when ((old.status in ('queued', 'running')) and (new.status not in ('queued', 'running')))
  execute function emit_transfer_ended();

create function new_identifier() returns text language sql as $$
  select right(u, 12) || left(u, 4) from (select replace(gen_random_uuid()::text, '-', '') as u) random;
$$;

create function keep_taken_event_types() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.taken_event_types := new.event_types;
  elsif old.taken_event_types is null or new.event_types is null then
    new.taken_event_types := null;
  else
    new.taken_event_types := array(select unnest(old.taken_event_types) union select unnest(new.event_types) order by 1);
  end if;
  return new;
end $$;
create trigger webhooks_keep_taken_event_types before insert or update of event_types on webhooks
  for each row execute function keep_taken_event_types();

create function check_alerts_of(connection text, organization text) returns void language sql as $$
  insert into alert_checks (connection_id)
  select connection where exists (select from alert_rules where organization_id = organization);
$$;

create function check_alerts_of_connection() returns trigger language plpgsql as $$
begin
  perform check_alerts_of(new.id, new.organization_id);
  return null;
end $$;
create trigger connections_check_alerts after update of status on connections
  for each row when (old.status <> new.status) execute function check_alerts_of_connection();

create function check_alerts_of_transfer() returns trigger language plpgsql as $$
begin
  perform check_alerts_of(new.connection_id, new.organization_id);
  return null;
end $$;
create trigger transfers_check_alerts after update of status on transfers
  for each row
  when ((old.status in ('queued', 'running')) and (new.status in ('succeeded', 'partial', 'failed')) and new.test_rows is null)
  execute function check_alerts_of_transfer();

create function check_alerts_of_log() returns trigger language plpgsql as $$
begin
  perform check_alerts_of(new.connection_id, new.organization_id);
  return null;
end $$;
create function check_alerts_of_audience() returns trigger language plpgsql as $$
begin
  perform check_alerts_of(id, organization_id) from connections where id = new.connection_id;
  return null;
end $$;
create trigger audience_checks_check_alerts after update of smallest, match_rate, match_rate_before on audience_checks
  for each row when ((old.smallest, old.match_rate, old.match_rate_before) is distinct from (new.smallest, new.match_rate, new.match_rate_before)) execute function check_alerts_of_audience();

create trigger change_logs_check_alerts after update of kept_bytes, status, leaving_since on change_logs
  for each row
  when (old.kept_bytes is distinct from new.kept_bytes
  or old.status is distinct from new.status
  or old.leaving_since is distinct from new.leaving_since)
  execute function check_alerts_of_log();

create function make_default_alert_rule() returns trigger language plpgsql as $$
begin
  insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, log_kept_gb, emails, email_roles)
  values (substr(md5('default alert rule ' || new.id), 1, 16), new.id, 'Failures', true, true, 10, '{}', '{owner}');
  return null;
end $$;
create trigger organizations_make_default_alert_rule after insert on organizations
  for each row execute function make_default_alert_rule();

create function note_next_transfer() returns trigger language plpgsql as $$
declare
  connection text := case when tg_op = 'DELETE' then old.connection_id else new.connection_id end;
  next timestamptz := case when tg_op <> 'DELETE' and new.enabled then new.next_time end;
begin
  update connections set next_transfer_time = next where id = connection and next_transfer_time is distinct from next;
  return null;
end $$;
create trigger schedules_note_next after insert or delete or update of enabled, next_time on schedules
  for each row execute function note_next_transfer();

create function link_audit_events(most integer, since bigint, waits boolean)
  returns table(organization_id text, number bigint, hash bytea, linked bigint, last_id bigint, is_sealed boolean, sealed_number bigint, sealed_hash bytea, seal bytea) language plpgsql as $$
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

create function accounts_for_quota(organization text, most bigint, most_kept bigint)
  returns table(live bigint, kept bigint) language plpgsql as $$
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

create function add_to_organization_counts(organization text, counted text, change bigint)
  returns void language plpgsql as $$
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
create trigger connections_of_organization_deleted after delete on connections referencing old table as before_rows
  for each statement execute function count_connections_of_organizations();
create trigger connections_of_organization_inserted after insert on connections referencing new table as after_rows
  for each statement execute function count_connections_of_organizations();
create trigger connections_of_organization_updated after update on connections referencing old table as before_rows new table as after_rows
  for each statement execute function count_connections_of_organizations();

create function keep_active_transfer() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.status not in ('queued', 'running') then
    delete from active_transfers where transfer_id = new.id;
  elsif tg_op = 'UPDATE' and old.status in ('queued', 'running') then
    update active_transfers set running = new.status = 'running', divided = new.parts > 1 where transfer_id = new.id;
  else
    insert into active_transfers
      (transfer_id, organization_id, account_id, src_connector_id, dest_connector_id, running, divided, created_time, group_name)
    values (new.id, new.organization_id, new.account_id, new.src_connector_id, new.dest_connector_id,
      new.status = 'running', new.parts > 1, new.created_time,
      (select group_name from connection_groups where connection_id = new.connection_id));
  end if;
  return null;
end $$;
create trigger transfers_keep_active_inserted after insert on transfers
  for each row when (new.status in ('queued', 'running')) execute function keep_active_transfer();
create trigger transfers_keep_active_updated after update of status, parts on transfers
  for each row when (old.status <> new.status or old.parts <> new.parts)
  execute function keep_active_transfer();

-- A transfer begins as one part.
create function add_first_part() returns trigger language plpgsql as $$
begin
  insert into transfer_parts (transfer_id, status, attempt, read, accepted, rejected, started_time, finished_time)
  values (new.id, case when new.status = 'partial' then 'succeeded' else new.status end, new.attempt, new.read, new.accepted,
    new.rejected, new.started_time, new.finished_time);
  return null;
end $$;
create trigger transfers_add_first_part after insert on transfers
  for each row execute function add_first_part();

create function emit_rules_broken() returns trigger language plpgsql as $$
declare
  broken jsonb := (
    select jsonb_agg(result - 'outcome' order by place)
    from jsonb_array_elements(new.rule_results) with ordinality as listed (result, place)
    where result ->> 'outcome' = 'broken' and result ->> 'action' <> 'record'
  );
begin
  if broken is not null then
    perform emit_event('transfer.rules_broken', new.organization_id, new.account_id, new.connection_id,
      json_build_object('transferId', new.id, 'status', new.status, 'rules', broken));
  end if;
  return null;
end $$;
create trigger transfers_emit_rules_broken after update of status on transfers
  for each row
  when (new.rule_results is not null and new.test_rows is null and (old.status in ('queued', 'running')) and (new.status not in ('queued', 'running')))
  execute function emit_rules_broken();

create function record_changed_rules() returns trigger language plpgsql as $$
declare
  connection text := coalesce(new.connection_id, old.connection_id);
begin
  perform from connections where id = connection for no key update;
  -- Rules also go with their connection, which has no history any more.
  if not found then return null; end if;
  perform add_connection_event(
    connection,
    'rules',
    case when tg_op <> 'INSERT' then rules_in_words(old) end,
    case when tg_op <> 'DELETE' then rules_in_words(new) end,
    null
  );
  return null;
end $$;
create trigger connection_rules_record_changed after update of rules, blackout on connection_rules
  for each row when (old.rules is distinct from new.rules or old.blackout is distinct from new.blackout)
  execute function record_changed_rules();
create trigger connection_rules_record_set after insert or delete on connection_rules
  for each row execute function record_changed_rules();

create function rules_in_words(held connection_rules) returns text language sql immutable as $$
  select nullif(concat_ws(', ', string_agg(concat_ws(' ', rule ->> 'action', rule ->> 'check', rule ->> 'column'), ', ' order by place),
    case when held.blackout is not null then 'blackout' end), '')
  from jsonb_array_elements(held.rules) with ordinality as listed (rule, place);
$$;

create function required_purposes(settings jsonb) returns text[] language sql immutable as $$
  select coalesce(array_agg(name), '{}') from (
    select btrim(unnest(string_to_array(settings ->> 'purposes', ','))) as name
  ) listed where lower(name) not in ('', 'none');
$$;

create function take_purposes() returns trigger language plpgsql as $$
begin
  new.purposes := (
    select jsonb_agg(jsonb_build_object('name', name, 'signals', signals, 'uses', uses) order by name)
    from purposes where account_id = new.account_id
  );
  return new;
end $$;
create trigger transfers_take_purposes before insert on transfers for each row execute function take_purposes();

create function take_rules() returns trigger language plpgsql as $$
begin
  new.rules := (select nullif(rules, '[]') from connection_rules where connection_id = new.connection_id);
  return new;
end $$;
create trigger transfers_take_rules before insert on transfers
  for each row when (new.trigger <> 'replay') execute function take_rules();

create function last_run_time(connection text) returns timestamptz language sql stable as $$
  select coalesce(started_time, finished_time) from transfers
  where connection_id = connection and test_rows is null and trigger <> 'replay'
  order by created_time desc, id desc limit 1;
$$;

create function last_success_time(connection text) returns timestamptz language sql stable as $$
  select finished_time from transfers
  where connection_id = connection and status in ('succeeded', 'partial') and test_rows is null and trigger <> 'replay'
  order by created_time desc, id desc limit 1;
$$;

create function note_dependents() returns trigger language plpgsql as $$
begin
  insert into dependent_checks (connection_id, after_connection_id, status)
  select connection_id, new.connection_id, new.status from connection_dependencies
  where after_connection_id = new.connection_id;
  return null;
end $$;
create trigger transfers_note_dependents after update of status on transfers
  for each row
  when ((old.status in ('queued', 'running')) and (new.status not in ('queued', 'running')) and new.test_rows is null and new.trigger <> 'replay')
  execute function note_dependents();

create function note_dependents_of_connection() returns trigger language plpgsql as $$
begin
  insert into dependent_checks (connection_id, after_connection_id, status)
  select connection_id, new.id, new.status from connection_dependencies
  where after_connection_id = new.id;
  return null;
end $$;
create trigger connections_note_dependents after update of status on connections
  for each row when (old.status <> new.status and (new.status in ('disabled', 'deleted')))
  execute function note_dependents_of_connection();

create function regroup_active_transfer() returns trigger language plpgsql as $$
begin
  update active_transfers set group_name = case when tg_op <> 'DELETE' then new.group_name end
  where transfer_id = (
    select id from transfers
    where connection_id = coalesce(new.connection_id, old.connection_id) and status in ('queued', 'running')
  );
  return null;
end $$;
create trigger connection_groups_regroup_active after insert or delete or update on connection_groups
  for each row execute function regroup_active_transfer();

create function runs_of_group(account text, named text) returns bigint language sql stable as $$
  select count(*) from active_transfers t
  left join transfer_parts p on t.divided and p.transfer_id = t.transfer_id and p.status = 'running'
  where t.account_id = account and t.group_name = named and t.running and (not t.divided or p.transfer_id is not null);
$$;

create function group_waited_for(transfer text) returns text language sql stable as $$
  select g.name from active_transfers t join transfer_groups g on g.account_id = t.account_id and g.name = t.group_name
  where t.transfer_id = transfer and not t.running and runs_of_group(g.account_id, g.name) >= g.transfers_max;
$$;

create function ends_of_rejects(of_transfer text) returns integer[] language sql stable as $$
  select coalesce(array_agg(last), '{}')
  from (select max(number) as last from rejects where transfer_id = of_transfer group by number / 1000000) parts;
$$;

create function keep_rejecting_transfer() returns trigger language plpgsql as $$
begin
  insert into rejecting_transfers (connection_id, position, transfer_id, ended_time, rejected, ends)
  select new.connection_id, coalesce(max(position), 0) + 1, new.id, coalesce(new.finished_time, now()), new.rejected, ends_of_rejects(new.id)
  from rejecting_transfers where connection_id = new.connection_id;
  return null;
end $$;
create trigger transfers_keep_rejecting after update of status on transfers
  for each row
  when (new.rejected > 0 and new.test_rows is null and (old.status in ('queued', 'running')) and (new.status not in ('queued', 'running')))
  execute function keep_rejecting_transfer();

create function drop_left_parts() returns trigger language plpgsql as $$
begin
  update transfer_parts set key_sealed = null, checkpoint_sealed = null, cursor_sealed = null, pending = null, announced_sealed = null
  where transfer_id = new.id and coalesce(key_sealed, checkpoint_sealed, cursor_sealed) is not null;
  if new.rejected = 0 then new.data_key_id := null; end if;
  return new;
end $$;
create trigger transfers_drop_left_parts before update of latest on transfers
  for each row when (old.latest and not new.latest and old.parts > 1) execute function drop_left_parts();

create function keep_result_of_table() returns trigger language plpgsql as $$
begin
  update connection_tables k set
    transfer_id = new.transfer_id, status = new.status, read = new.read, accepted = new.accepted, rejected = new.rejected,
    error_code = new.error_code, error_message = new.error_message, error_side = new.error_side,
    finished_time = new.finished_time, found_shape = new.shape, column_changes = new.column_changes
  from transfers t
  where t.id = new.transfer_id and t.test_rows is null and k.connection_id = t.connection_id and k.name = new.table_name;
  return null;
end $$;
create trigger transfer_parts_keep_result after insert or update of status on transfer_parts
  for each row when (new.table_name <> '' and new.status in ('succeeded', 'failed', 'cancelled'))
  execute function keep_result_of_table();

-- Each sweep is due from the start.
insert into alert_sweeps (name, next_time) values ('open and idle', '2026-01-01'), ('volume', '2026-01-01');
-- The first purge is due in the first night.
insert into purges (next_time) values (
  (date_trunc('day', now() at time zone 'UTC' - interval '03:15') + interval '1 day 03:15') at time zone 'UTC'
);
