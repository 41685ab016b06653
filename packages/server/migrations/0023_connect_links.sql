-- Connect links: one-time pages on which customers configure connectors; and how these pages look.
create table connect_links (
  id text not null,
  organization_id text not null,
  account_id text not null,
  digest bytea not null,
  page_digest bytea,
  connector_ids text[] not null,
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
create index connect_links_organization on connect_links (organization_id, created_time, id);
create index connect_links_account on connect_links (account_id, created_time, id);
create index connect_links_expires on connect_links (expires_time);
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

-- The page of a connect link is an actor.
alter table audit_events drop constraint audit_events_actor_kind;
alter table audit_events add constraint audit_events_actor_kind
  check (actor_kind in ('client', 'session', 'user', 'link', 'operator', 'schedule', 'service'));
