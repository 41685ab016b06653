-- Tags and owners of connections, and times by which their lists are sorted.

alter table connections
  add column tags text[] default '{}' not null,
  add column tag_keys text[] default '{}' not null,
  add column owner_id text,
  add column last_transfer_time timestamptz,
  add column next_transfer_time timestamptz;
alter table connections
  add constraint connections_owner foreign key (owner_id) references users(id) on delete set null;

update connections c set last_transfer_time = t.created_time
from transfers t where t.connection_id = c.id and t.latest;
update connections c set next_transfer_time = s.next_time
from schedules s where s.connection_id = c.id and s.enabled;

create index connections_tagged on connections using gin (organization_id, tag_keys)
  where tag_keys <> '{}' and not account_deleted;
create index connections_owned on connections (owner_id, created_time desc, id desc) where owner_id is not null;
create index connections_of_organization_by_name on connections (organization_id, lower(name), id)
  where not account_deleted;
create index connections_of_account_by_last on connections (account_id, last_transfer_time desc nulls last, id desc)
  where not account_deleted;
create index connections_of_organization_by_last on connections (organization_id, last_transfer_time desc nulls last, id desc)
  where not account_deleted;
create index connections_of_account_by_next on connections (account_id, next_transfer_time, id) where not account_deleted;
create index connections_of_organization_by_next on connections (organization_id, next_transfer_time, id)
  where not account_deleted;

create or replace function mark_latest_transfer() returns trigger language plpgsql as $$
begin
  update transfers set latest = false where connection_id = new.connection_id and latest;
  update connections set last_transfer_time = new.created_time where id = new.connection_id;
  return new;
end $$;

create function note_next_transfer() returns trigger language plpgsql as $$
declare
  connection text := case when tg_op = 'DELETE' then old.connection_id else new.connection_id end;
  next timestamptz := case when tg_op <> 'DELETE' and new.enabled then new.next_time end;
begin
  update connections set next_transfer_time = next where id = connection and next_transfer_time is distinct from next;
  return null;
end $$;
create trigger schedules_note_next after insert or delete or update of enabled, next_time on schedules
  for each row execute function note_next_transfer();

create table saved_filters (
  id text not null,
  organization_id text not null,
  account_id text,
  user_id text,
  name text not null,
  query text not null,
  created_time timestamptz default now() not null,
  constraint saved_filters_pkey primary key (id),
  constraint saved_filters_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint saved_filters_organization foreign key (organization_id) references organizations(id),
  constraint saved_filters_user foreign key (user_id) references users(id) on delete cascade
);
create index saved_filters_shared on saved_filters (organization_id, lower(name), id) where user_id is null;
create index saved_filters_own on saved_filters (user_id, lower(name), id) where user_id is not null;
create index saved_filters_of_account on saved_filters (account_id) where account_id is not null;
