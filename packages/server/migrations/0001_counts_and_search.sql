-- Names are found by any part of them (the filter q), in any letter case: those of one account, and those of
-- one organization. The organization is in no other index in this form, so that what is sought by it is sought here.
-- Those of a small account are read from its index, which holds what a filter asks: no row is touched but those shown.
create extension if not exists pg_trgm;
--> statement-breakpoint
create extension if not exists btree_gin;
--> statement-breakpoint
create index connections_name on connections using gin (account_id, (organization_id || ''), name gin_trgm_ops);
--> statement-breakpoint
drop index connections_of_account;
--> statement-breakpoint
create index connections_of_account on connections (account_id, created_time desc, id desc)
  include (name, src_connector_id, dest_connector_id, status, deleted_time) where not account_deleted;
--> statement-breakpoint
-- Every account has its row of counts from its first moment on.
create function make_connection_counts() returns trigger language plpgsql as $$
begin
  insert into connection_counts (account_id, organization_id) values (new.id, new.organization_id);
  return null;
end $$;
--> statement-breakpoint
create trigger accounts_make_counts after insert on accounts
  for each row execute function make_connection_counts();
--> statement-breakpoint
create function add_to_connection_counts(account text, counted text, change bigint) returns void language sql as $$
  update connection_counts set
    in_progress = in_progress + case counted when 'In-progress' then change else 0 end,
    active = active + case counted when 'active' then change else 0 end,
    disabled = disabled + case counted when 'disabled' then change else 0 end,
    deleted = deleted + case counted when 'deleted' then change else 0 end,
    broken = broken + case counted when 'broken' then change else 0 end,
    offline = offline + case counted when 'offline' then change else 0 end
  where account_id = account;
$$;
--> statement-breakpoint
-- So has every added connector.
create function make_connector_counts() returns trigger language plpgsql as $$
begin
  insert into connector_counts (account_id, connector_id) select account_id, connector_id from after_rows;
  return null;
end $$;
--> statement-breakpoint
create trigger added_connectors_make_counts after insert on added_connectors
  referencing new table as after_rows for each statement execute function make_connector_counts();
--> statement-breakpoint
create function add_to_connector_counts(account text, connector text, srcs integer, dests integer) returns void
language sql as $$
  update connector_counts set src_connections = src_connections + srcs, dest_connections = dest_connections + dests
  where account_id = account and connector_id = connector;
$$;
--> statement-breakpoint
-- Counts by statement, not by row: deleting an account with all its connections touches its counts a few times, not once
-- for each connection. An account has one row of counts, so two statements never wait for each other crosswise. Those of
-- connectors change only after their account's have changed: whoever comes to them holds the account's row.
create function keep_connection_counts() returns trigger language plpgsql as $$
begin
  case tg_op
    when 'INSERT' then
      perform add_to_connection_counts(account_id, status, n)
      from (select account_id, status, count(*) as n from after_rows group by 1, 2 order by 1) changes;
      perform add_to_connector_counts(account_id, connector_id, srcs, dests)
      from (
        select account_id, connector_id, sum(src)::int as srcs, sum(dest)::int as dests
        from (
          select account_id, live_src_connector_id as connector_id, 1 as src, 0 as dest from after_rows
          union all
          select account_id, live_dest_connector_id, 0, 1 from after_rows
        ) ends
        group by 1, 2
      ) changes;
    when 'UPDATE' then
      perform add_to_connection_counts(account_id, status, n)
      from (
        select account_id, status, sum(n)::bigint as n
        from (
          select account_id, status, 1 as n from after_rows
          union all
          select account_id, status, -1 from before_rows
        ) touched
        group by 1, 2 having sum(n) <> 0 order by 1
      ) changes;
      perform add_to_connector_counts(account_id, connector_id, srcs, dests)
      from (
        select account_id, connector_id, sum(src)::int as srcs, sum(dest)::int as dests
        from (
          select account_id, live_src_connector_id as connector_id, 1 as src, 0 as dest from after_rows
          union all
          select account_id, live_dest_connector_id, 0, 1 from after_rows
          union all
          select account_id, live_src_connector_id, -1, 0 from before_rows
          union all
          select account_id, live_dest_connector_id, 0, -1 from before_rows
        ) ends
        group by 1, 2 having sum(src) <> 0 or sum(dest) <> 0
      ) changes;
    when 'DELETE' then
      perform add_to_connection_counts(account_id, status, -n)
      from (select account_id, status, count(*) as n from before_rows group by 1, 2 order by 1) changes;
      perform add_to_connector_counts(account_id, connector_id, -srcs, -dests)
      from (
        select account_id, connector_id, sum(src)::int as srcs, sum(dest)::int as dests
        from (
          select account_id, live_src_connector_id as connector_id, 1 as src, 0 as dest from before_rows
          union all
          select account_id, live_dest_connector_id, 0, 1 from before_rows
        ) ends
        group by 1, 2
      ) changes;
  end case;
  return null;
end $$;
--> statement-breakpoint
create trigger connections_count_inserted after insert on connections
  referencing new table as after_rows for each statement execute function keep_connection_counts();
--> statement-breakpoint
create trigger connections_count_updated after update on connections
  referencing old table as before_rows new table as after_rows
  for each statement execute function keep_connection_counts();
--> statement-breakpoint
create trigger connections_count_deleted after delete on connections
  referencing old table as before_rows for each statement execute function keep_connection_counts();
