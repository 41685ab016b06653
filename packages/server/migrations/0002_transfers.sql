CREATE TABLE "connection_memories" (
	"connection_id" text PRIMARY KEY NOT NULL,
	"marker" jsonb,
	"memory" jsonb,
	"replaced" bigint
);
--> statement-breakpoint
CREATE TABLE "data_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger" (
	"transfer_id" text NOT NULL,
	"number" integer NOT NULL,
	"organization_id" text NOT NULL,
	"account_id" text NOT NULL,
	"connection_id" text NOT NULL,
	"day" date NOT NULL,
	"read" integer NOT NULL,
	"accepted" integer NOT NULL,
	"rejected" integer NOT NULL,
	"replayed" integer NOT NULL,
	"bytes" bigint NOT NULL,
	"receipt" jsonb,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ledger_transfer_id_number_pk" PRIMARY KEY("transfer_id","number")
);
--> statement-breakpoint
CREATE TABLE "probes" (
	"connection_id" text PRIMARY KEY NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_time" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rejects" (
	"transfer_id" text NOT NULL,
	"number" integer NOT NULL,
	"row" bigint,
	"count" integer DEFAULT 1 NOT NULL,
	"field" text,
	"reason" text NOT NULL,
	"record" json NOT NULL,
	"sealed" "bytea",
	CONSTRAINT "rejects_transfer_id_number_pk" PRIMARY KEY("transfer_id","number")
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"connection_id" text PRIMARY KEY NOT NULL,
	"cron" text NOT NULL,
	"timezone" text NOT NULL,
	"enabled" boolean NOT NULL,
	"next_time" timestamp with time zone,
	"last_time" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "transfers" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"account_id" text NOT NULL,
	"connection_id" text NOT NULL,
	"src_connector_id" text NOT NULL,
	"dest_connector_id" text NOT NULL,
	"status" text NOT NULL,
	"trigger" text NOT NULL,
	"replay_of" text,
	"src_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"dest_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"confirmed" boolean DEFAULT false NOT NULL,
	"cancelling" boolean DEFAULT false NOT NULL,
	"read" bigint DEFAULT 0 NOT NULL,
	"sent" bigint DEFAULT 0 NOT NULL,
	"accepted" bigint DEFAULT 0 NOT NULL,
	"rejected" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"progress" double precision,
	"attempt" integer DEFAULT 0 NOT NULL,
	"position" jsonb,
	"pending" integer,
	"source_columns" jsonb,
	"columns" jsonb,
	"error_code" text,
	"error_message" text,
	"data_key_id" text,
	"marker" jsonb,
	"heartbeat_time" timestamp with time zone,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	"started_time" timestamp with time zone,
	"finished_time" timestamp with time zone,
	CONSTRAINT "transfers_status" CHECK ("transfers"."status" in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
	CONSTRAINT "transfers_account" CHECK ("transfers"."read" >= "transfers"."accepted" + "transfers"."rejected")
);
--> statement-breakpoint
ALTER TABLE "connection_memories" ADD CONSTRAINT "connection_memories_connection_id_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger" ADD CONSTRAINT "ledger_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "probes" ADD CONSTRAINT "probes_connection_id_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rejects" ADD CONSTRAINT "rejects_transfer_id_transfers_id_fk" FOREIGN KEY ("transfer_id") REFERENCES "public"."transfers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_connection_id_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "transfers" ADD CONSTRAINT "transfers_connection_id_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "data_keys_key" ON "data_keys" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "ledger_of_account" ON "ledger" USING btree ("organization_id","account_id","day");--> statement-breakpoint
CREATE INDEX "ledger_of_connection" ON "ledger" USING btree ("account_id","connection_id","day");--> statement-breakpoint
CREATE INDEX "probes_due" ON "probes" USING btree ("next_time");--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_time") WHERE "schedules"."enabled";--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_under_way" ON "transfers" USING btree ("connection_id") WHERE "transfers"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "transfers_of_connection" ON "transfers" USING btree ("connection_id","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "transfers_queued" ON "transfers" USING btree ("account_id","created_time","id") WHERE "transfers"."status" = 'queued';--> statement-breakpoint
CREATE INDEX "transfers_running" ON "transfers" USING btree ("account_id") WHERE "transfers"."status" = 'running';--> statement-breakpoint
CREATE INDEX "transfers_of_connection_by_status" ON "transfers" USING btree ("connection_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "transfers_with_rejects" ON "transfers" USING btree ("finished_time") WHERE "transfers"."data_key_id" is not null;--> statement-breakpoint
CREATE INDEX "transfers_data_key" ON "transfers" USING btree ("data_key_id") WHERE "transfers"."data_key_id" is not null;--> statement-breakpoint
CREATE INDEX "accounts_by_name" ON "accounts" USING btree ("organization_id",lower("name"),"id") WHERE "accounts"."deleted_time" is null;--> statement-breakpoint
CREATE INDEX "connections_by_name" ON "connections" USING btree ("account_id",lower("name"),"id") WHERE not "connections"."account_deleted";