-- One process at a time replaces a secret, such as a refresh token that is good for one use. The right to do so ends by
-- itself, so that a process that dies does not keep it.
alter table secrets add column lease_id text, add column lease_until timestamptz;
