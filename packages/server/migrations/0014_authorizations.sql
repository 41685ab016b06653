-- Sign-in with a click: the apps that the operator registered with platforms, and authorizations that have begun.
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

-- The client ID of the operator's app that a refresh token was granted to; null where the account has a client of its own.
alter table added_connectors add column oauth_client_id text;

create table authorizations (
  link_digest bytea not null,
  account_id text not null,
  connector_id text not null,
  configuration_id text not null,
  client_id text not null,
  state_digest bytea,
  browser_digest bytea,
  expires_time timestamptz not null,
  constraint authorizations_pkey primary key (link_digest),
  constraint authorizations_state unique (state_digest),
  constraint authorizations_added_connector foreign key (account_id, connector_id)
    references added_connectors(account_id, connector_id) on delete cascade
);
create index authorizations_connector on authorizations (account_id, connector_id);
create index authorizations_expires on authorizations (expires_time);
