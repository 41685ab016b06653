import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  date,
  doublePrecision,
  foreignKey,
  index,
  integer,
  json,
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

/**
 * Keys that many values are sealed under, where one master key for all would make every rotation seal them anew: each is
 * itself sealed under a master key.
 */
export const dataKeys = pgTable(
  'data_keys',
  {
    id: id('id').primaryKey(),
    keyId: text('key_id').notNull(),
    sealed: bytea('sealed').notNull(),
  },
  (t) => [index('data_keys_key').on(t.keyId)],
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
    /** What the operator calls it; no one else sees it. */
    name: text('name'),
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
    index('accounts_by_name').on(t.organizationId, sql`lower(${t.name})`, t.id).where(sql`${t.deletedTime} is null`),
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
    index('added_connectors_not_configured').on(t.accountId, t.connectorId).where(sql`not ${t.configured}`),
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
    index('connections_by_name').on(t.accountId, sql`lower(${t.name})`, t.id).where(sql`not ${t.accountDeleted}`),
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

/**
 * What changed of a connection, numbered for each connection from 1 on, without a gap. Triggers on `connections` and
 * `schedules` write it and drop all but the newest; nothing else does.
 */
export const connectionEvents = pgTable(
  'connection_events',
  {
    connectionId: id('connection_id')
      .notNull()
      .references(() => connections.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    kind: text('kind').notNull(),
    was: text('was'),
    became: text('became'),
    createdTime: createdTime(),
  },
  (t) => [primaryKey({ columns: [t.connectionId, t.number] })],
)

// ── transfers/ ─────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Runs of connections. Its counts are those of its ledger: both change in one transaction, when a batch is confirmed.
 * `attempt` also fences: a worker that lost a transfer to another one finds its attempt gone, and can write nothing more.
 */
export const transfers = pgTable(
  'transfers',
  {
    id: id('id').primaryKey(),
    organizationId: id('organization_id').notNull(),
    accountId: id('account_id').notNull(),
    connectionId: id('connection_id')
      .notNull()
      .references(() => connections.id, { onDelete: 'cascade' }),
    srcConnectorId: id('src_connector_id').notNull(),
    destConnectorId: id('dest_connector_id').notNull(),
    status: text('status').notNull(),
    trigger: text('trigger').notNull(),
    /** The transfer whose rejected records this one sends again. */
    replayOf: id('replay_of'),
    /** The connection's settings that it runs with, as they were when it was started. */
    srcConfig: jsonb('src_config').$type<Record<string, string | number | boolean | string[]>>().notNull().default({}),
    destConfig: jsonb('dest_config')
      .$type<Record<string, string | number | boolean | string[]>>()
      .notNull()
      .default({}),
    /** The saved configuration of both connectors without secrets, as it was then; none in rows of earlier versions. */
    srcSettings: jsonb('src_settings').$type<Record<string, string | number | boolean | string[]>>(),
    destSettings: jsonb('dest_settings').$type<Record<string, string | number | boolean | string[]>>(),
    confirmed: boolean('confirmed').notNull().default(false),
    cancelling: boolean('cancelling').notNull().default(false),
    read: bigint('read', { mode: 'number' }).notNull().default(0),
    sent: bigint('sent', { mode: 'number' }).notNull().default(0),
    accepted: bigint('accepted', { mode: 'number' }).notNull().default(0),
    rejected: bigint('rejected', { mode: 'number' }).notNull().default(0),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    progress: doublePrecision('progress'),
    attempt: integer('attempt').notNull().default(0),
    /** Runners of it that died since a batch was last confirmed. */
    crashes: integer('crashes').notNull().default(0),
    /** How far the source is read, of what is confirmed: opaque to all but the connector (invariant 9). Sealed under the data key. */
    positionSealed: bytea('position_sealed'),
    /** The same as the version before wrote it, in plain; where it is set, it is newer than the sealed one. */
    position: jsonb('position'),
    /** How many records of the source the batch covers that is being delivered; after a crash it comes again as it was. */
    pending: integer('pending'),
    /** The columns that the source gave, and those that the destination gets. */
    sourceColumns: jsonb('source_columns').$type<string[]>(),
    columns: jsonb('columns').$type<string[]>(),
    /** The newest of its connection. A trigger takes it from the one before. */
    latest: boolean('latest').notNull().default(true),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    /** The side of the connection that the error happened at; none where it is of neither. */
    errorSide: text('error_side').$type<'Source' | 'Destination'>(),
    /** The key that its position, receipts and rejected records are sealed under. */
    dataKeyId: id('data_key_id'),
    /**
     * Where the next transfer begins, once this one has ended: what the last confirmed records had as marker. Sealed under
     * the data key of the connection, which takes it over as it is.
     */
    markerSealed: bytea('marker_sealed'),
    marker: jsonb('marker'),
    heartbeatTime: moment('heartbeat_time'),
    createdTime: createdTime(),
    startedTime: moment('started_time'),
    finishedTime: moment('finished_time'),
  },
  (t) => [
    check('transfers_status', sql`${t.status} in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')`),
    check('transfers_account', sql`${t.read} >= ${t.accepted} + ${t.rejected}`),
    /** Never two at once for one connection. */
    uniqueIndex('transfers_under_way').on(t.connectionId).where(sql`${t.status} in ('queued', 'running')`),
    index('transfers_of_connection').on(t.connectionId, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst()),
    index('transfers_queued').on(t.accountId, t.createdTime, t.id).where(sql`${t.status} = 'queued'`),
    index('transfers_running').on(t.accountId).where(sql`${t.status} = 'running'`),
    index('transfers_of_connection_by_status').on(
      t.connectionId,
      t.status,
      t.createdTime.desc().nullsFirst(),
      t.id.desc().nullsFirst(),
    ),
    index('transfers_of_account_by_status').on(
      t.accountId,
      t.status,
      t.createdTime.desc().nullsFirst(),
      t.id.desc().nullsFirst(),
    ),
    index('transfers_of_organization_by_status').on(
      t.organizationId,
      t.status,
      t.createdTime.desc().nullsFirst(),
      t.id.desc().nullsFirst(),
    ),
    uniqueIndex('transfers_latest').on(t.connectionId).where(sql`${t.latest}`),
    index('transfers_latest_of_account')
      .on(t.accountId, t.status, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`${t.latest}`),
    index('transfers_latest_of_organization')
      .on(t.organizationId, t.status, t.createdTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`${t.latest}`),
    /** Those that keep rejected records, for the purge. */
    index('transfers_with_rejects').on(t.finishedTime).where(sql`${t.dataKeyId} is not null`),
    index('transfers_data_key').on(t.dataKeyId).where(sql`${t.dataKeyId} is not null`),
  ],
)

/**
 * The ledger: an entry for each delivery that a destination confirmed, and what volume is the sum of (invariant 10).
 * Entries are only ever added. Receipts are what a writer needs to go on; they are dropped when the transfer has ended.
 */
export const ledger = pgTable(
  'ledger',
  {
    transferId: id('transfer_id').notNull(),
    number: integer('number').notNull(),
    organizationId: id('organization_id').notNull(),
    /** Entries outlive their connection, and go with the account. */
    accountId: id('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    connectionId: id('connection_id').notNull(),
    /** UTC. */
    day: date('day').notNull(),
    read: integer('read').notNull(),
    accepted: integer('accepted').notNull(),
    rejected: integer('rejected').notNull(),
    /** Of the accepted ones, those that had been rejected before. */
    replayed: integer('replayed').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    /** Sealed under the data key of the transfer. */
    receiptSealed: bytea('receipt_sealed'),
    receipt: jsonb('receipt'),
    createdTime: createdTime(),
  },
  (t) => [
    primaryKey({ columns: [t.transferId, t.number] }),
    index('ledger_of_account').on(t.organizationId, t.accountId, t.day),
    index('ledger_of_connection').on(t.accountId, t.connectionId, t.day),
  ],
)

/** Rejected records: why, a redacted copy for people, and the record itself, sealed, to be sent again. */
export const rejects = pgTable(
  'rejects',
  {
    transferId: id('transfer_id')
      .notNull()
      .references(() => transfers.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    /** The number of the record in the source; null where the destination told only how many. */
    row: bigint('row', { mode: 'number' }),
    count: integer('count').notNull().default(1),
    field: text('field'),
    /** A destination's own words, which may repeat the record; empty in plain, except in rows of the version before. */
    reason: text('reason').notNull().default(''),
    reasonSealed: bytea('reason_sealed'),
    /** Not `jsonb`, which would not keep the columns in their order. */
    record: json('record').$type<Record<string, string | null>>().notNull(),
    sealed: bytea('sealed'),
    /** Of a record that a replay rejected again: the reject that it was first. */
    originId: id('origin_id'),
    originNumber: integer('origin_number'),
    /** The replay in which the destination accepted it; it is not sent again by another one. */
    replayedBy: id('replayed_by'),
  },
  (t) => [
    primaryKey({ columns: [t.transferId, t.number] }),
    index('rejects_of_origin').on(t.originId, t.originNumber).where(sql`${t.originId} is not null`),
  ],
)

/** What connections remember from one transfer to the next. */
export const connectionMemories = pgTable(
  'connection_memories',
  {
    connectionId: id('connection_id')
      .primaryKey()
      .references(() => connections.id, { onDelete: 'cascade' }),
    /** The key that marker and memory are sealed under. */
    dataKeyId: id('data_key_id'),
    /** Where incremental reading continues. */
    markerSealed: bytea('marker_sealed'),
    /** What the destination asked to be remembered. */
    memorySealed: bytea('memory_sealed'),
    /** The same as the version before wrote them, in plain; where one is set, it is newer than the sealed one. */
    marker: jsonb('marker'),
    memory: jsonb('memory'),
    /** How many records behind the marker the last transfer may have delivered as one batch without a confirmation. */
    pending: integer('pending'),
    /** How many records the last transfer that replaced everything sent; the brake compares with it. */
    replaced: bigint('replaced', { mode: 'number' }),
  },
  (t) => [index('connection_memories_data_key').on(t.dataKeyId).where(sql`${t.dataKeyId} is not null`)],
)

export const schedules = pgTable(
  'schedules',
  {
    connectionId: id('connection_id')
      .primaryKey()
      .references(() => connections.id, { onDelete: 'cascade' }),
    /** A trigger fills it in, from the connection. */
    organizationId: id('organization_id'),
    cron: text('cron').notNull(),
    timezone: text('timezone').notNull(),
    enabled: boolean('enabled').notNull(),
    nextTime: moment('next_time'),
    lastTime: moment('last_time'),
  },
  (t) => [
    index('schedules_due').on(t.nextTime).where(sql`${t.enabled}`),
    index('schedules_of_organization').on(t.organizationId).where(sql`${t.enabled}`),
  ],
)

/** While there is a row, no schedule starts anything, in no process. */
export const schedulePauses = pgTable('schedule_pauses', {
  /** Who paused them: `restore` or `operator`. */
  reason: text('reason').primaryKey(),
  createdTime: createdTime(),
})

/**
 * How many transfers ended in each way, and their records, so that the metrics need not read every transfer. A trigger on
 * `transfers` adds each one when it commits its end; nothing else writes it. What is purged stays counted.
 */
export const transferTotals = pgTable(
  'transfer_totals',
  {
    status: text('status').notNull(),
    /** Empty where the transfer has no error. */
    errorCode: text('error_code').notNull(),
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
    read: bigint('read', { mode: 'number' }).notNull(),
    sent: bigint('sent', { mode: 'number' }).notNull(),
    accepted: bigint('accepted', { mode: 'number' }).notNull(),
    rejected: bigint('rejected', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.status, t.errorCode] })],
)

/** Connections that went offline: when they are tried again. */
export const probes = pgTable(
  'probes',
  {
    connectionId: id('connection_id')
      .primaryKey()
      .references(() => connections.id, { onDelete: 'cascade' }),
    attempts: integer('attempts').notNull().default(0),
    nextTime: moment('next_time').notNull(),
  },
  (t) => [index('probes_due').on(t.nextTime)],
)
