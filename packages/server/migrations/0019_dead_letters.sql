-- Transfers that ended with rejected records, in their order: a connection whose source is the rejected records of another one reads them.

create table rejecting_transfers (
  connection_id text not null,
  position integer not null,
  transfer_id text not null,
  ended_time timestamptz not null,
  rejected bigint not null,
  ends integer[] not null,
  constraint rejecting_transfers_pkey primary key (connection_id, position),
  constraint rejecting_transfers_transfer foreign key (transfer_id) references transfers(id) on delete cascade
);
create index rejecting_transfers_of_transfer on rejecting_transfers (transfer_id);

-- The last number of the rejected records of each part: a transfer that was retried is listed once more, with the later ones.
create function ends_of_rejects(of_transfer text) returns integer[] language sql stable as $$
  select coalesce(array_agg(last), '{}')
  from (select max(number) as last from rejects where transfer_id = of_transfer group by number / 1000000) parts;
$$;

-- One transfer of a connection ends after the other, so that no position is taken twice.
create function keep_rejecting_transfer() returns trigger language plpgsql as $$
begin
  insert into rejecting_transfers (connection_id, position, transfer_id, ended_time, rejected, ends)
  select new.connection_id, coalesce(max(position), 0) + 1, new.id, coalesce(new.finished_time, now()), new.rejected, ends_of_rejects(new.id)
  from rejecting_transfers where connection_id = new.connection_id;
  return null;
end $$;
create trigger transfers_keep_rejecting after update of status on transfers
  for each row
  when (new.rejected > 0 and new.test_rows is null
  and old.status in ('queued', 'running') and new.status not in ('queued', 'running'))
  execute function keep_rejecting_transfer();

insert into rejecting_transfers (connection_id, position, transfer_id, ended_time, rejected, ends)
select connection_id, row_number() over (partition by connection_id order by finished_time, id), id, finished_time, rejected, ends_of_rejects(id)
from transfers
where rejected > 0 and test_rows is null and finished_time is not null and data_key_id is not null;

-- Of a connection that reads the rejected records of another one: which, and the position up to which it delivered them.
alter table connection_states add column rejects_of text;
alter table connection_states add column rejects_read integer;

-- A rejected record with values that a person corrected, sealed: a replay sends these.
alter table rejects add column edited_sealed bytea;

-- Between the ends of a transfer and the retries of its failed parts.
alter table transfers add column paused interval default '0' not null;

-- A transfer in parts that ended without success keeps what its parts need to continue until the next transfer of its connection starts.
create function drop_left_parts() returns trigger language plpgsql as $$
begin
  update transfer_parts set key_sealed = null, checkpoint_sealed = null, pending = null
  where transfer_id = new.id and coalesce(key_sealed, checkpoint_sealed) is not null;
  if new.rejected = 0 then new.data_key_id := null; end if;
  return new;
end $$;
create trigger transfers_drop_left_parts before update of latest on transfers
  for each row when (old.latest and not new.latest and old.parts is not null) execute function drop_left_parts();
