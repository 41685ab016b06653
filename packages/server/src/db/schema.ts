import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

/**
 * Every table, in the order of the rooms that own them. A room writes its own tables alone.
 * `npm run migration` turns a change here into the next file of `migrations/`; what this language cannot say
 * (the trigram index, the trigger that counts) is in the migrations written by hand. `desc()` of Drizzle puts nulls last,
 * which no `order by … desc` asks for: hence `nullsFirst()` on every descending column of an index.
 */

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
/** 16 hexadecimal characters. */
const id = (name: string) => text(name)
const moment = (name: string) => timestamp(name, { withTimezone: true })
const createdTime = () => moment('created_time').notNull().defaultNow()
const updatedTime = () => moment('updated_time').notNull().defaultNow()
/** Counts the changes of a row; ETags derive from it. */
const version = () => integer('version').notNull().default(1)

// ── secrets/ ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** The master key in use, by its identifier; during a rotation also the next one, sealed under its predecessor. */
export const masterKeys = pgTable(
  'master_keys',
  {
    keyId: text('key_id').primaryKey(),
    /** New secrets are sealed under this key; one row at a time is it. */
    current: boolean('current').notNull(),
    /** This key, sealed under its predecessor, while processes still have to learn it. */
    sealedKey: bytea('sealed_key'),
    createdTime: createdTime(),
  },
  (t) => [uniqueIndex('master_keys_current').on(t.current).where(sql`${t.current}`)],
)

// ── tokens/ ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Deployments that wrote into this database; `env` of what they made. */
export const environments = pgTable('environments', {
  name: text('name').primaryKey(),
  id: id('id').notNull(),
  host: text('host').notNull(),
})

export const organizations = pgTable('organizations', {
  id: id('id').primaryKey(),
  name: text('name').notNull(),
  ownerId: id('owner_id').notNull(),
  ownerEmail: text('owner_email').notNull(),
  createdTime: createdTime(),
})

/** Client credentials (specification, section 5). The secret is never stored, only its SHA-256. */
export const clients = pgTable(
  'clients',
  {
    id: text('id').primaryKey(),
    organizationId: id('organization_id')
      .notNull()
      .references(() => organizations.id),
    secretDigest: bytea('secret_digest').notNull(),
    createdTime: createdTime(),
    revokedTime: moment('revoked_time'),
  },
  (t) => [index('clients_organization').on(t.organizationId)],
)

/** Access tokens, by the SHA-256 of the token. */
export const tokens = pgTable(
  'tokens',
  {
    digest: bytea('digest').primaryKey(),
    clientId: text('client_id')
      .notNull()
      .references(() => clients.id),
    expiresTime: moment('expires_time').notNull(),
  },
  (t) => [index('tokens_expires').on(t.expiresTime)],
)

// ── http/ ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** First answers of requests that carried an Idempotency-Key, written in the transaction of what they did. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    organizationId: id('organization_id')
      .notNull()
      .references(() => organizations.id),
    key: text('key').notNull(),
    /** SHA-256 over operation, path, accountId and body. */
    requestDigest: bytea('request_digest').notNull(),
    answer: jsonb('answer'),
    createdTime: createdTime(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.key] }), index('idempotency_keys_created').on(t.createdTime)],
)

// ── accounts/ ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const accounts = pgTable(
  'accounts',
  {
    id: id('id').primaryKey(),
    organizationId: id('organization_id')
      .notNull()
      .references(() => organizations.id),
    name: text('name').notNull(),
    enabled: boolean('enabled').notNull(),
    env: text('env')
      .notNull()
      .references(() => environments.name),
    /** Records delivered, all time; its ledger is the transfers'. */
    volume: bigint('volume', { mode: 'number' }).notNull().default(0),
    version: version(),
    createdTime: createdTime(),
    updatedTime: updatedTime(),
    deletedTime: moment('deleted_time'),
  },
  (t) => [
    index('accounts_listed')
      .on(t.organizationId, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`${t.deletedTime} is null`),
    index('accounts_deleted').on(t.deletedTime).where(sql`${t.deletedTime} is not null`),
  ],
)

// ── connectors/ ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Connectors added to sub-accounts (invariant 1). What they are stands in the catalogue, under `connector_id`. */
export const addedConnectors = pgTable(
  'added_connectors',
  {
    accountId: id('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    connectorId: id('connector_id').notNull(),
    configurationId: id('configuration_id').notNull(),
    configured: boolean('configured').notNull().default(false),
    /** Name of the configuration and of its secret, as the caller chose or by default. */
    name: text('name').notNull(),
    secretName: text('secret_name').notNull(),
    /** Values of the fields that are no secrets. */
    settings: jsonb('settings').$type<Record<string, string | number | boolean | string[]>>().notNull().default({}),
    savedTime: moment('saved_time'),
    env: text('env')
      .notNull()
      .references(() => environments.name),
    version: version(),
    createdTime: createdTime(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.connectorId] }),
    unique('added_connectors_configuration').on(t.configurationId),
    index('added_connectors_by_connector').on(t.connectorId),
  ],
)

/** Secret values, sealed; a row opens only under its own account, connector and name (invariant 6). */
export const secrets = pgTable(
  'secrets',
  {
    accountId: id('account_id').notNull(),
    connectorId: id('connector_id').notNull(),
    name: text('name').notNull(),
    keyId: text('key_id').notNull(),
    sealed: bytea('sealed').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.connectorId, t.name] }),
    foreignKey({
      name: 'secrets_added_connector',
      columns: [t.accountId, t.connectorId],
      foreignColumns: [addedConnectors.accountId, addedConnectors.connectorId],
    }).onDelete('cascade'),
    index('secrets_key').on(t.keyId),
  ],
)

// ── connections/ ───────────────────────────────────────────────────────────────────────────────────────────────────

export const connections = pgTable(
  'connections',
  {
    id: id('id').primaryKey(),
    organizationId: id('organization_id')
      .notNull()
      .references(() => organizations.id),
    accountId: id('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    status: text('status').notNull(),
    /** Where `enable` leads back to from `disabled`. */
    rememberedStatus: text('remembered_status'),
    srcConnectorId: id('src_connector_id').notNull(),
    destConnectorId: id('dest_connector_id').notNull(),
    /** The ends' configurations when it was made; what an end has now counts more, while it is there. */
    srcConfigurationId: id('src_configuration_id').notNull(),
    destConfigurationId: id('dest_configuration_id').notNull(),
    /** The ends while the connection is not deleted: foreign keys on these keep a used connector in place (invariant 4). */
    liveSrcConnectorId: id('live_src_connector_id').generatedAlwaysAs(
      sql`case when status <> 'deleted' then src_connector_id end`,
    ),
    liveDestConnectorId: id('live_dest_connector_id').generatedAlwaysAs(
      sql`case when status <> 'deleted' then dest_connector_id end`,
    ),
    srcConfig: jsonb('src_config').$type<Record<string, string | number | boolean | string[]>>().notNull().default({}),
    destConfig: jsonb('dest_config')
      .$type<Record<string, string | number | boolean | string[]>>()
      .notNull()
      .default({}),
    env: text('env')
      .notNull()
      .references(() => environments.name),
    /** Records, from the transfers' ledger: read and delivered all time, and delivered in the month that `volume_month` names. */
    totalVolume: bigint('total_volume', { mode: 'number' }).notNull().default(0),
    usedVolume: bigint('used_volume', { mode: 'number' }).notNull().default(0),
    monthlyVolume: bigint('monthly_volume', { mode: 'number' }).notNull().default(0),
    volumeMonth: text('volume_month').notNull().default(''),
    version: version(),
    createdTime: createdTime(),
    updatedTime: updatedTime(),
    deletedTime: moment('deleted_time'),
    /** The account is deleted, and so nobody sees this connection until an operator restores the account. */
    accountDeleted: boolean('account_deleted').notNull().default(false),
  },
  (t) => [
    check(
      'connections_status',
      sql`${t.status} in ('In-progress', 'active', 'disabled', 'deleted', 'broken', 'offline')`,
    ),
    check(
      'connections_remembered',
      sql`case when ${t.status} in ('disabled', 'deleted') then ${t.rememberedStatus} is not null and ${t.rememberedStatus} in ('In-progress', 'active', 'broken', 'offline') else ${t.rememberedStatus} is null end`,
    ),
    check('connections_deleted', sql`(${t.status} = 'deleted') = (${t.deletedTime} is not null)`),
    foreignKey({
      name: 'connections_src_added',
      columns: [t.accountId, t.liveSrcConnectorId],
      foreignColumns: [addedConnectors.accountId, addedConnectors.connectorId],
    }),
    foreignKey({
      name: 'connections_dest_added',
      columns: [t.accountId, t.liveDestConnectorId],
      foreignColumns: [addedConnectors.accountId, addedConnectors.connectorId],
    }),
    index('connections_src').on(t.accountId, t.liveSrcConnectorId),
    index('connections_dest').on(t.accountId, t.liveDestConnectorId),
    index('connections_of_account')
      .on(t.accountId, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`not ${t.accountDeleted}`),
    index('connections_of_account_by_status')
      .on(t.accountId, t.status, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`not ${t.accountDeleted}`),
    index('connections_of_organization')
      .on(t.organizationId, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`not ${t.accountDeleted}`),
    index('connections_of_organization_by_status')
      .on(t.organizationId, t.status, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`not ${t.accountDeleted}`),
    index('connections_by_src').on(t.srcConnectorId, t.organizationId),
    index('connections_by_dest').on(t.destConnectorId, t.organizationId),
    index('connections_deleted').on(t.deletedTime).where(sql`${t.status} = 'deleted'`),
    index('connections_deleted_of_organization')
      .on(t.organizationId, t.deletedTime, t.accountId)
      .where(sql`${t.status} = 'deleted' and not ${t.accountDeleted}`),
  ],
)

/**
 * How many connections of each status an account has, so that no list counts rows. A trigger on `accounts` makes the
 * row, triggers on `connections` keep it; nothing else writes it.
 */
export const connectionCounts = pgTable(
  'connection_counts',
  {
    accountId: id('account_id')
      .primaryKey()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    organizationId: id('organization_id').notNull(),
    inProgress: integer('in_progress').notNull().default(0),
    active: integer('active').notNull().default(0),
    disabled: integer('disabled').notNull().default(0),
    deleted: integer('deleted').notNull().default(0),
    broken: integer('broken').notNull().default(0),
    offline: integer('offline').notNull().default(0),
  },
  (t) => [index('connection_counts_organization').on(t.organizationId)],
)

/**
 * How many connections that are not deleted an added connector is an end of. Triggers make the row and keep it; nothing
 * else writes it. It is no part of the added connector's own row, which is held while its configuration is used.
 */
export const connectorCounts = pgTable(
  'connector_counts',
  {
    accountId: id('account_id').notNull(),
    connectorId: id('connector_id').notNull(),
    srcConnections: integer('src_connections').notNull().default(0),
    destConnections: integer('dest_connections').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.connectorId] }),
    foreignKey({
      name: 'connector_counts_added',
      columns: [t.accountId, t.connectorId],
      foreignColumns: [addedConnectors.accountId, addedConnectors.connectorId],
    }).onDelete('cascade'),
  ],
)
