-- Connections that mirror their source: the keys of rows, sealed, and how many rows a transfer removed. Processes of earlier versions leave
-- the count at 0.

alter table connection_states add column digests_salt text;
alter table connection_digests add column keys_sealed bytea;
alter table transfers add column removed bigint default 0 not null;
