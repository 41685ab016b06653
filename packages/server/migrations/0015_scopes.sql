-- Client credentials with scopes, sub-accounts, an expiry and a rotation of their secret; session tokens. Null: no limit.
alter table clients
  add column scopes text[],
  add column account_ids text[],
  add column expires_time timestamptz,
  add column last_used_time timestamptz,
  add column previous_secret_digest bytea,
  add column previous_secret_until timestamptz;

-- Of a session; the token of a client has what its client has.
alter table tokens
  add column session_id text,
  add column scopes text[],
  add column account_ids text[];
create index tokens_client on tokens (client_id);
