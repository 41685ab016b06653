ALTER TABLE "rejects" ALTER COLUMN "reason" SET DEFAULT '';--> statement-breakpoint
ALTER TABLE "connection_memories" ADD COLUMN "data_key_id" text;--> statement-breakpoint
ALTER TABLE "connection_memories" ADD COLUMN "marker_sealed" "bytea";--> statement-breakpoint
ALTER TABLE "connection_memories" ADD COLUMN "memory_sealed" "bytea";--> statement-breakpoint
ALTER TABLE "ledger" ADD COLUMN "receipt_sealed" "bytea";--> statement-breakpoint
ALTER TABLE "rejects" ADD COLUMN "reason_sealed" "bytea";--> statement-breakpoint
ALTER TABLE "transfers" ADD COLUMN "position_sealed" "bytea";--> statement-breakpoint
ALTER TABLE "transfers" ADD COLUMN "marker_sealed" "bytea";--> statement-breakpoint
CREATE INDEX "connection_memories_data_key" ON "connection_memories" USING btree ("data_key_id") WHERE "connection_memories"."data_key_id" is not null;