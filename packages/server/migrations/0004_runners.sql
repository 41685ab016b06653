ALTER TABLE "transfers" ADD COLUMN "src_settings" jsonb;--> statement-breakpoint
ALTER TABLE "transfers" ADD COLUMN "dest_settings" jsonb;--> statement-breakpoint
ALTER TABLE "transfers" ADD COLUMN "crashes" integer DEFAULT 0 NOT NULL;