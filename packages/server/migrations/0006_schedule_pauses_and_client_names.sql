CREATE TABLE "schedule_pauses" (
	"reason" text PRIMARY KEY NOT NULL,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "name" text;