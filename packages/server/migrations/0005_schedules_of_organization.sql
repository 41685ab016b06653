ALTER TABLE "schedules" ADD COLUMN "organization_id" text;--> statement-breakpoint
CREATE INDEX "schedules_of_organization" ON "schedules" USING btree ("organization_id") WHERE "schedules"."enabled";--> statement-breakpoint
update schedules s set organization_id = c.organization_id from connections c where c.id = s.connection_id;
--> statement-breakpoint
-- A trigger and not the statement, since processes of the version before this one write schedules without it.
create function set_organization_of_schedule() returns trigger language plpgsql as $$
begin
  select organization_id into new.organization_id from connections where id = new.connection_id;
  return new;
end $$;
--> statement-breakpoint
create trigger schedules_set_organization before insert on schedules
  for each row execute function set_organization_of_schedule();
