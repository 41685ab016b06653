-- Conditions of transfers: connections that a connection runs after, and groups with a limit. And addresses that start transfers.

create table transfer_groups (
  account_id text not null,
  name text not null,
  transfers_max integer not null,
  constraint transfer_groups_pkey primary key (account_id, name),
  constraint transfer_groups_transfers_max check (transfers_max > 0),
  constraint transfer_groups_account foreign key (account_id) references accounts(id) on delete cascade
);

create table connection_groups (
  connection_id text not null,
  account_id text not null,
  group_name text not null,
  constraint connection_groups_pkey primary key (connection_id),
  constraint connection_groups_connection foreign key (connection_id) references connections(id) on delete cascade,
  constraint connection_groups_group foreign key (account_id, group_name) references transfer_groups(account_id, name) on delete cascade
);
create index connection_groups_of_group on connection_groups (account_id, group_name);

-- Of the group that the connection has, also while the transfer waits or runs.
alter table active_transfers add column group_name text;

create or replace function keep_active_transfer() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.status not in ('queued', 'running') then
    delete from active_transfers where transfer_id = new.id;
  else
    insert into active_transfers
      (transfer_id, organization_id, account_id, src_connector_id, dest_connector_id, running, divided, created_time, group_name)
    values (new.id, new.organization_id, new.account_id, new.src_connector_id, new.dest_connector_id,
      new.status = 'running', new.parts is not null, new.created_time,
      (select group_name from connection_groups where connection_id = new.connection_id))
    on conflict (transfer_id) do update set running = excluded.running, divided = excluded.divided;
  end if;
  return null;
end $$;

create function regroup_active_transfer() returns trigger language plpgsql as $$
begin
  update active_transfers set group_name = case when tg_op <> 'DELETE' then new.group_name end
  where transfer_id = (
    select id from transfers
    where connection_id = coalesce(new.connection_id, old.connection_id) and status in ('queued', 'running')
  );
  return null;
end $$;
create trigger connection_groups_regroup_active after insert or update or delete on connection_groups
  for each row execute function regroup_active_transfer();

-- Transfers and parts that run in a group.
create function runs_of_group(account text, named text) returns bigint language sql stable as $$
  select count(*) from active_transfers t
  left join transfer_parts p on t.divided and p.transfer_id = t.transfer_id and p.status = 'running'
  where t.account_id = account and t.group_name = named and t.running and (not t.divided or p.transfer_id is not null);
$$;

-- The group that has no place for a transfer that waits; null: it does not wait for one.
create function group_waited_for(transfer text) returns text language sql stable as $$
  select g.name from active_transfers t join transfer_groups g on g.account_id = t.account_id and g.name = t.group_name
  where t.transfer_id = transfer and not t.running and runs_of_group(g.account_id, g.name) >= g.transfers_max;
$$;

create table connection_dependencies (
  connection_id text not null,
  after_connection_id text not null,
  organization_id text not null,
  account_id text not null,
  constraint connection_dependencies_pkey primary key (connection_id, after_connection_id),
  constraint connection_dependencies_other check (connection_id <> after_connection_id),
  -- One that is gone for ever stays named: its dependents wait, until a person says otherwise.
  constraint connection_dependencies_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index connection_dependencies_after on connection_dependencies (after_connection_id);
create index connection_dependencies_of_organization on connection_dependencies (organization_id, account_id);

-- Connections that are to be looked at, since another one that they run after has ended a transfer or stopped. Triggers note them with the
-- change; the worker that looks removes the note, in the transaction that starts the transfer.
create table dependent_checks (
  number bigint generated always as identity not null,
  connection_id text not null,
  after_connection_id text not null,
  status text not null,
  constraint dependent_checks_pkey primary key (number),
  constraint dependent_checks_connection foreign key (connection_id) references connections(id) on delete cascade
);
create index dependent_checks_of_connection on dependent_checks (connection_id);

create function note_dependents() returns trigger language plpgsql as $$
begin
  insert into dependent_checks (connection_id, after_connection_id, status)
  select connection_id, new.connection_id, new.status from connection_dependencies
  where after_connection_id = new.connection_id;
  return null;
end $$;
create trigger transfers_note_dependents after update of status on transfers
  for each row
  when ((old.status in ('queued', 'running')) and (new.status not in ('queued', 'running'))
  and new.test_rows is null and new.trigger <> 'replay')
  execute function note_dependents();

create function note_dependents_of_connection() returns trigger language plpgsql as $$
begin
  insert into dependent_checks (connection_id, after_connection_id, status)
  select connection_id, new.id, new.status from connection_dependencies
  where after_connection_id = new.id;
  return null;
end $$;
create trigger connections_note_dependents after update of status on connections
  for each row when (old.status <> new.status and new.status in ('disabled', 'deleted'))
  execute function note_dependents_of_connection();

-- When the newest transfer of a connection began to read; tests and replays are none. One that never began counts from its end.
create function last_run_time(connection text) returns timestamptz language sql stable as $$
  select coalesce(started_time, finished_time) from transfers
  where connection_id = connection and test_rows is null and trigger <> 'replay'
  order by created_time desc, id desc limit 1;
$$;

-- When the newest transfer that ended well has ended.
create function last_success_time(connection text) returns timestamptz language sql stable as $$
  select finished_time from transfers
  where connection_id = connection and status in ('succeeded', 'partial') and test_rows is null and trigger <> 'replay'
  order by created_time desc, id desc limit 1;
$$;

create table triggers (
  id text not null,
  organization_id text not null,
  account_id text not null,
  connection_id text not null,
  name text not null,
  secret_digest bytea not null,
  data_key_id text,
  signing_secret_sealed bytea,
  created_time timestamptz default now() not null,
  last_used_time timestamptz,
  constraint triggers_pkey primary key (id),
  constraint triggers_connection foreign key (connection_id) references connections(id) on delete cascade,
  constraint triggers_data_key foreign key (data_key_id) references data_keys(id)
);
create index triggers_of_connection on triggers (connection_id, created_time, id);
create index triggers_data_key on triggers (data_key_id) where data_key_id is not null;
