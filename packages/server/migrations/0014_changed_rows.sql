-- Connections that send only changed rows: digests of the rows that their destinations have.

alter table connection_states add column digest_key_sealed bytea;
alter table connection_states add column digests_scope text;
alter table connection_states add column digests_generation text;
alter table connection_states add column digests_since timestamptz;

create table connection_digests (
  connection_id text not null,
  generation text not null,
  number integer not null,
  kept integer not null,
  transfer_id text,
  digests bytea not null,
  constraint connection_digests_pkey primary key (connection_id, generation, number),
  constraint connection_digests_connection_state foreign key (connection_id)
    references connection_states(connection_id) on delete cascade
);
