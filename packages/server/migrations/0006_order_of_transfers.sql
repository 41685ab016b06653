-- Values by which the transfers of a connection are sorted. They are set when a transfer ends, so that confirming a batch writes
-- no index.

alter table transfers
  add column duration interval generated always as (finished_time - started_time) stored,
  add column ended_read bigint generated always as (case when finished_time is not null then read end) stored,
  add column ended_rejected bigint generated always as (case when finished_time is not null then rejected end) stored;

create index transfers_of_connection_by_duration
  on transfers (connection_id, status, duration desc nulls last, created_time desc, id desc);
create index transfers_of_connection_by_read
  on transfers (connection_id, status, ended_read desc nulls last, created_time desc, id desc);
create index transfers_of_connection_by_rejected
  on transfers (connection_id, status, ended_rejected desc nulls last, created_time desc, id desc);
