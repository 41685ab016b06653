ALTER TABLE "connection_memories" ADD COLUMN "pending" integer;--> statement-breakpoint
ALTER TABLE "rejects" ADD COLUMN "origin_id" text;--> statement-breakpoint
ALTER TABLE "rejects" ADD COLUMN "origin_number" integer;--> statement-breakpoint
ALTER TABLE "rejects" ADD COLUMN "replayed_by" text;--> statement-breakpoint
CREATE INDEX "rejects_of_origin" ON "rejects" USING btree ("origin_id","origin_number") WHERE "rejects"."origin_id" is not null;