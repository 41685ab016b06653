CREATE TABLE "transfer_totals" (
	"status" text NOT NULL,
	"error_code" text NOT NULL,
	"transfers" bigint NOT NULL,
	"read" bigint NOT NULL,
	"sent" bigint NOT NULL,
	"accepted" bigint NOT NULL,
	"rejected" bigint NOT NULL,
	CONSTRAINT "transfer_totals_status_error_code_pk" PRIMARY KEY("status","error_code")
);

--> statement-breakpoint
create function count_ended_transfer() returns trigger language plpgsql as $$
begin
  insert into transfer_totals as t (status, error_code, transfers, read, sent, accepted, rejected)
  values (new.status, coalesce(new.error_code, ''), 1, new.read, new.sent, new.accepted, new.rejected)
  on conflict (status, error_code) do update set
    transfers = t.transfers + 1, read = t.read + excluded.read, sent = t.sent + excluded.sent,
    accepted = t.accepted + excluded.accepted, rejected = t.rejected + excluded.rejected;
  return null;
end $$;
--> statement-breakpoint
-- At the commit, so that transfers that end at once wait for each other's commit alone, and never crosswise.
create constraint trigger transfers_count_ended after update of status on transfers
  deferrable initially deferred for each row
  when (old.status in ('queued', 'running') and new.status not in ('queued', 'running'))
  execute function count_ended_transfer();
--> statement-breakpoint
-- After the trigger, which keeps others from writing transfers until the commit: each transfer is counted once.
insert into transfer_totals (status, error_code, transfers, read, sent, accepted, rejected)
select status, coalesce(error_code, ''), count(*), sum(read), sum(sent), sum(accepted), sum(rejected)
from transfers where status not in ('queued', 'running') group by 1, 2;
