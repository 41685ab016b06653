CREATE TABLE "connection_events" (
	"connection_id" text NOT NULL,
	"number" integer NOT NULL,
	"kind" text NOT NULL,
	"was" text,
	"became" text,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "connection_events_connection_id_number_pk" PRIMARY KEY("connection_id","number")
);
--> statement-breakpoint
ALTER TABLE "transfers" ADD COLUMN "latest" boolean DEFAULT true NOT NULL;--> statement-breakpoint
update transfers t set latest = false
where exists (
  select from transfers n
  where n.connection_id = t.connection_id and (n.created_time, n.id) > (t.created_time, t.id)
);
--> statement-breakpoint
ALTER TABLE "connection_events" ADD CONSTRAINT "connection_events_connection_id_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "transfers_of_account_by_status" ON "transfers" USING btree ("account_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "transfers_of_organization_by_status" ON "transfers" USING btree ("organization_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_latest" ON "transfers" USING btree ("connection_id") WHERE "transfers"."latest";--> statement-breakpoint
CREATE INDEX "transfers_latest_of_account" ON "transfers" USING btree ("account_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "transfers"."latest";--> statement-breakpoint
CREATE INDEX "transfers_latest_of_organization" ON "transfers" USING btree ("organization_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "transfers"."latest";
--> statement-breakpoint
-- The newest transfer of a connection is marked, so that it is found among thousands by an index. Transfers of one
-- connection are never made two at once: whoever makes one holds the connection.
create function mark_latest_transfer() returns trigger language plpgsql as $$
begin
  update transfers set latest = false where connection_id = new.connection_id and latest;
  return new;
end $$;
--> statement-breakpoint
create trigger transfers_mark_latest before insert on transfers
  for each row when (new.latest) execute function mark_latest_transfer();
--> statement-breakpoint
insert into connection_events (connection_id, number, kind, became, created_time)
select id, 1, 'created', name, created_time from connections;
--> statement-breakpoint
-- Whoever writes the history of a connection holds the connection, so that no number is given twice. The numbers have no
-- gap, and those that are dropped are the lowest: the newest number and the oldest one tell how many there are.
create function add_connection_event(connection text, what text, before_it text, after_it text) returns void
language plpgsql as $$
declare
  next integer;
begin
  select coalesce(max(number), 0) + 1 into next from connection_events where connection_id = connection;
  insert into connection_events (connection_id, number, kind, was, became)
  values (connection, next, what, before_it, after_it);
  -- As many are kept as the limit connectionEventsMax says.
  delete from connection_events where connection_id = connection and number <= next - 1000;
end $$;
--> statement-breakpoint
create function tell_created_connections() returns trigger language plpgsql as $$
begin
  insert into connection_events (connection_id, number, kind, became) select id, 1, 'created', name from after_rows;
  return null;
end $$;
--> statement-breakpoint
create trigger connections_tell_created after insert on connections
  referencing new table as after_rows for each statement execute function tell_created_connections();
--> statement-breakpoint
create function tell_changed_connection() returns trigger language plpgsql as $$
begin
  if old.name <> new.name then perform add_connection_event(new.id, 'renamed', old.name, new.name); end if;
  if old.src_config <> new.src_config then perform add_connection_event(new.id, 'settings', null, 'Source'); end if;
  if old.dest_config <> new.dest_config then
    perform add_connection_event(new.id, 'settings', null, 'Destination');
  end if;
  if old.status <> new.status then perform add_connection_event(new.id, 'status', old.status, new.status); end if;
  return null;
end $$;
--> statement-breakpoint
-- By row and by column, so that volumes, which change with every batch of a transfer, never come here.
create trigger connections_tell_changed after update of name, src_config, dest_config, status on connections
  for each row when (
    old.name <> new.name or old.status <> new.status
    or old.src_config <> new.src_config or old.dest_config <> new.dest_config
  )
  execute function tell_changed_connection();
--> statement-breakpoint
create function schedule_in_words(schedule schedules) returns text language sql immutable as $$
  select schedule.cron || ' ' || schedule.timezone || case when schedule.enabled then '' else ' off' end;
$$;
--> statement-breakpoint
create function tell_changed_schedule() returns trigger language plpgsql as $$
declare
  connection text := coalesce(new.connection_id, old.connection_id);
begin
  perform from connections where id = connection for no key update;
  -- A schedule also goes with its connection, which has no history any more.
  if not found then return null; end if;
  perform add_connection_event(
    connection,
    'schedule',
    case when tg_op <> 'INSERT' then schedule_in_words(old) end,
    case when tg_op <> 'DELETE' then schedule_in_words(new) end
  );
  return null;
end $$;
--> statement-breakpoint
create trigger schedules_tell_set after insert or delete on schedules
  for each row execute function tell_changed_schedule();
--> statement-breakpoint
-- When a schedule runs is not told here: only what it says.
create trigger schedules_tell_changed after update of cron, timezone, enabled on schedules
  for each row when ((old.cron, old.timezone, old.enabled) is distinct from (new.cron, new.timezone, new.enabled))
  execute function tell_changed_schedule();
