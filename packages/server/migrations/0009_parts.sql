-- Transfers in parts, which several workers move concurrently. Such a transfer is running and has no heartbeat of its own, so that
-- neither a claim nor the search for lost transfers of an older worker finds it.

alter table transfers add column parts integer;

create table transfer_parts (
  transfer_id text not null,
  number integer not null,
  key_sealed bytea,
  share double precision not null,
  status text default 'queued' not null,
  attempt integer default 0 not null,
  crashes integer default 0 not null,
  pending integer,
  checkpoint_sealed bytea,
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
  constraint transfer_parts_pkey primary key (transfer_id, number),
  constraint transfer_parts_status check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped')),
  constraint transfer_parts_transfer foreign key (transfer_id) references transfers(id) on delete cascade
);

create index transfer_parts_queued on transfer_parts (transfer_id, number) where status = 'queued';
create index transfer_parts_running on transfer_parts (transfer_id) where status = 'running';
-- Transfers in parts that have not ended.
create index transfers_in_parts on transfers (account_id, created_time, id) where status = 'running' and parts is not null;
