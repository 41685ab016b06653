-- Passkeys of people. A credential is found by its person, so that no one can take or detect the one of another person.
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

-- Challenges that were used, until they have expired: none counts twice.
create table used_challenges (
  digest bytea not null,
  expires_time timestamptz not null,
  constraint used_challenges_pkey primary key (digest)
);
create index used_challenges_expires on used_challenges (expires_time);
