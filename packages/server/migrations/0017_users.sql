-- People of an organization. Nothing of a person is shared between organizations: the same address in two is two people.
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
  constraint users_pkey primary key (id),
  constraint users_role check (role in ('owner', 'admin', 'editor', 'viewer')),
  constraint users_organization foreign key (organization_id) references organizations(id)
);
create unique index users_email on users (organization_id, lower(email));
create index users_by_email on users (lower(email));

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
create index user_sessions_of_user on user_sessions (user_id);
create index user_sessions_expires on user_sessions (expires_time);

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
create index user_links_of_user on user_links (user_id);
create index user_links_expires on user_links (expires_time);

-- The person who made an account; null where client credentials made it, for the owner of the organization.
alter table accounts
  add column creator_id text,
  add column creator_email text;
