-- Transfers that wait or run, in a table of their own, which stays small: whose turn is next is found without passing what ended
-- transfers leave in the indexes of theirs. Triggers keep it, so that processes of earlier versions do.

create table active_transfers (
  transfer_id text primary key,
  organization_id text not null,
  account_id text not null,
  src_connector_id text not null,
  dest_connector_id text not null,
  running boolean not null,
  divided boolean not null,
  created_time timestamptz not null,
  constraint active_transfers_transfer foreign key (transfer_id) references transfers (id) on delete cascade
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, vacuum_index_cleanup = on);

create index active_transfers_waiting on active_transfers (created_time, transfer_id) where not running;
create index active_transfers_waiting_of_organization on active_transfers (organization_id, created_time, transfer_id)
  where not running;
create index active_transfers_waiting_of_account on active_transfers (account_id, created_time, transfer_id)
  where not running;
create index active_transfers_running on active_transfers (account_id) where running;
create index active_transfers_divided on active_transfers (created_time, transfer_id) where divided;

create function keep_active_transfer() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.status not in ('queued', 'running') then
    delete from active_transfers where transfer_id = new.id;
  else
    insert into active_transfers
      (transfer_id, organization_id, account_id, src_connector_id, dest_connector_id, running, divided, created_time)
    values (new.id, new.organization_id, new.account_id, new.src_connector_id, new.dest_connector_id,
      new.status = 'running', new.parts is not null, new.created_time)
    on conflict (transfer_id) do update set running = excluded.running, divided = excluded.divided;
  end if;
  return null;
end $$;
create trigger transfers_keep_active_inserted after insert on transfers
  for each row when (new.status in ('queued', 'running')) execute function keep_active_transfer();
create trigger transfers_keep_active_updated after update of status, parts on transfers
  for each row when (old.status <> new.status or old.parts is distinct from new.parts) execute function keep_active_transfer();

insert into active_transfers
  (transfer_id, organization_id, account_id, src_connector_id, dest_connector_id, running, divided, created_time)
select id, organization_id, account_id, src_connector_id, dest_connector_id, status = 'running', parts is not null, created_time
from transfers where status = 'queued'
union all
select id, organization_id, account_id, src_connector_id, dest_connector_id, true, parts is not null, created_time
from transfers where status = 'running';
