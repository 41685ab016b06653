CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"enabled" boolean NOT NULL,
	"env" text NOT NULL,
	"volume" bigint DEFAULT 0 NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_time" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_time" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "added_connectors" (
	"account_id" text NOT NULL,
	"connector_id" text NOT NULL,
	"configuration_id" text NOT NULL,
	"configured" boolean DEFAULT false NOT NULL,
	"name" text NOT NULL,
	"secret_name" text NOT NULL,
	"settings" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"saved_time" timestamp with time zone,
	"env" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "added_connectors_account_id_connector_id_pk" PRIMARY KEY("account_id","connector_id"),
	CONSTRAINT "added_connectors_configuration" UNIQUE("configuration_id")
);
--> statement-breakpoint
CREATE TABLE "clients" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"secret_digest" "bytea" NOT NULL,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_time" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "connection_counts" (
	"account_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"in_progress" integer DEFAULT 0 NOT NULL,
	"active" integer DEFAULT 0 NOT NULL,
	"disabled" integer DEFAULT 0 NOT NULL,
	"deleted" integer DEFAULT 0 NOT NULL,
	"broken" integer DEFAULT 0 NOT NULL,
	"offline" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "connections" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"remembered_status" text,
	"src_connector_id" text NOT NULL,
	"dest_connector_id" text NOT NULL,
	"src_configuration_id" text NOT NULL,
	"dest_configuration_id" text NOT NULL,
	"live_src_connector_id" text GENERATED ALWAYS AS (case when status <> 'deleted' then src_connector_id end) STORED,
	"live_dest_connector_id" text GENERATED ALWAYS AS (case when status <> 'deleted' then dest_connector_id end) STORED,
	"src_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"dest_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"env" text NOT NULL,
	"total_volume" bigint DEFAULT 0 NOT NULL,
	"used_volume" bigint DEFAULT 0 NOT NULL,
	"monthly_volume" bigint DEFAULT 0 NOT NULL,
	"volume_month" text DEFAULT '' NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_time" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_time" timestamp with time zone,
	"account_deleted" boolean DEFAULT false NOT NULL,
	CONSTRAINT "connections_status" CHECK ("connections"."status" in ('In-progress', 'active', 'disabled', 'deleted', 'broken', 'offline')),
	CONSTRAINT "connections_remembered" CHECK (case when "connections"."status" in ('disabled', 'deleted') then "connections"."remembered_status" is not null and "connections"."remembered_status" in ('In-progress', 'active', 'broken', 'offline') else "connections"."remembered_status" is null end),
	CONSTRAINT "connections_deleted" CHECK (("connections"."status" = 'deleted') = ("connections"."deleted_time" is not null))
);
--> statement-breakpoint
CREATE TABLE "connector_counts" (
	"account_id" text NOT NULL,
	"connector_id" text NOT NULL,
	"src_connections" integer DEFAULT 0 NOT NULL,
	"dest_connections" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "connector_counts_account_id_connector_id_pk" PRIMARY KEY("account_id","connector_id")
);
--> statement-breakpoint
CREATE TABLE "environments" (
	"name" text PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"host" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"organization_id" text NOT NULL,
	"key" text NOT NULL,
	"request_digest" "bytea" NOT NULL,
	"answer" jsonb,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_organization_id_key_pk" PRIMARY KEY("organization_id","key")
);
--> statement-breakpoint
CREATE TABLE "master_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"current" boolean NOT NULL,
	"sealed_key" "bytea",
	"created_time" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"owner_id" text NOT NULL,
	"owner_email" text NOT NULL,
	"created_time" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"account_id" text NOT NULL,
	"connector_id" text NOT NULL,
	"name" text NOT NULL,
	"key_id" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	CONSTRAINT "secrets_account_id_connector_id_name_pk" PRIMARY KEY("account_id","connector_id","name")
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"client_id" text NOT NULL,
	"expires_time" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_env_environments_name_fk" FOREIGN KEY ("env") REFERENCES "public"."environments"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "added_connectors" ADD CONSTRAINT "added_connectors_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "added_connectors" ADD CONSTRAINT "added_connectors_env_environments_name_fk" FOREIGN KEY ("env") REFERENCES "public"."environments"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clients" ADD CONSTRAINT "clients_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connection_counts" ADD CONSTRAINT "connection_counts_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_env_environments_name_fk" FOREIGN KEY ("env") REFERENCES "public"."environments"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_src_added" FOREIGN KEY ("account_id","live_src_connector_id") REFERENCES "public"."added_connectors"("account_id","connector_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_dest_added" FOREIGN KEY ("account_id","live_dest_connector_id") REFERENCES "public"."added_connectors"("account_id","connector_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_counts" ADD CONSTRAINT "connector_counts_added" FOREIGN KEY ("account_id","connector_id") REFERENCES "public"."added_connectors"("account_id","connector_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_added_connector" FOREIGN KEY ("account_id","connector_id") REFERENCES "public"."added_connectors"("account_id","connector_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_client_id_clients_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."clients"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "accounts_listed" ON "accounts" USING btree ("organization_id","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "accounts"."deleted_time" is null;--> statement-breakpoint
CREATE INDEX "accounts_deleted" ON "accounts" USING btree ("deleted_time") WHERE "accounts"."deleted_time" is not null;--> statement-breakpoint
CREATE INDEX "added_connectors_by_connector" ON "added_connectors" USING btree ("connector_id");--> statement-breakpoint
CREATE INDEX "clients_organization" ON "clients" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "connection_counts_organization" ON "connection_counts" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "connections_src" ON "connections" USING btree ("account_id","live_src_connector_id");--> statement-breakpoint
CREATE INDEX "connections_dest" ON "connections" USING btree ("account_id","live_dest_connector_id");--> statement-breakpoint
CREATE INDEX "connections_of_account" ON "connections" USING btree ("account_id","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE not "connections"."account_deleted";--> statement-breakpoint
CREATE INDEX "connections_of_account_by_status" ON "connections" USING btree ("account_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE not "connections"."account_deleted";--> statement-breakpoint
CREATE INDEX "connections_of_organization" ON "connections" USING btree ("organization_id","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE not "connections"."account_deleted";--> statement-breakpoint
CREATE INDEX "connections_of_organization_by_status" ON "connections" USING btree ("organization_id","status","created_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE not "connections"."account_deleted";--> statement-breakpoint
CREATE INDEX "connections_by_src" ON "connections" USING btree ("src_connector_id","organization_id");--> statement-breakpoint
CREATE INDEX "connections_by_dest" ON "connections" USING btree ("dest_connector_id","organization_id");--> statement-breakpoint
CREATE INDEX "connections_deleted" ON "connections" USING btree ("deleted_time") WHERE "connections"."status" = 'deleted';--> statement-breakpoint
CREATE INDEX "connections_deleted_of_organization" ON "connections" USING btree ("organization_id","deleted_time","account_id") WHERE "connections"."status" = 'deleted' and not "connections"."account_deleted";--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_time");--> statement-breakpoint
CREATE UNIQUE INDEX "master_keys_current" ON "master_keys" USING btree ("current") WHERE "master_keys"."current";--> statement-breakpoint
CREATE INDEX "secrets_key" ON "secrets" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "tokens_expires" ON "tokens" USING btree ("expires_time");