/** The closed sets of values of the specification, in its order and its letter case. */

/** Section 2.3.1. */
export const dataTypes = [
  'Custom Audiences',
  'identity management',
  'reporting',
  'data store',
  'Campaign',
  'customer match',
  'offline conversions',
  'analytics',
  'campaign posting',
  'Audiences - Data API',
  'audiences',
  'custom file audiences',
  'geo events',
  'events',
  'ads management',
  'raw real-time conversion events',
  'Conversions',
  'audience DMP segments',
  'Insights',
  'transcoding',
  'click conversions',
  'ads analytics',
  'ID match',
  'raw offline conversion events',
  'raw events data stream',
  'Audiences - CRM API',
] as const
export type DataType = (typeof dataTypes)[number]

/** Section 2.3.2. */
export const dataTypeCategories = [
  'audience activation',
  'identity management',
  'reporting',
  'data store',
  'campaign management',
  'events',
] as const
export type DataTypeCategory = (typeof dataTypeCategories)[number]

/** Section 2.3.3. */
export const platformTypes = [
  'Social Media Platform',
  'CRM Platform',
  'Demand-Side Platform (DSP)',
  'Cloud Storage Provider',
  'Media Management System',
  'Identity Management',
  'Supply-Side Platform (SSP)',
  'Customer Data Platform (CDP)',
  'E-Commerce Platform',
  'Data Provider',
] as const
export type PlatformType = (typeof platformTypes)[number]

/** Section 2.3.4: the role of a connector in a connection. */
export const roles = ['Source', 'Destination'] as const
export type Role = (typeof roles)[number]

/** The values of `supportedType`; a connector with both roles lists them. */
export const supportedTypes = ['Source', 'Destination', 'Source, Destination'] as const
export type SupportedType = (typeof supportedTypes)[number]

/** Section 3: the status of a connection. */
export const connectionStatuses = ['In-progress', 'active', 'disabled', 'deleted', 'broken', 'offline'] as const
export type ConnectionStatus = (typeof connectionStatuses)[number]

/** Orders of the list of connections. A leading `-` reverses the order. Not in the specification. */
export const connectionOrders = [
  '-created',
  'created',
  'name',
  '-name',
  '-lastTransfer',
  'lastTransfer',
  'nextTransfer',
  '-nextTransfer',
] as const
export type ConnectionOrder = (typeof connectionOrders)[number]

/** Statuses of a transfer. Not in the specification. */
export const transferStatuses = ['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled'] as const
export type TransferStatus = (typeof transferStatuses)[number]

/** Orders of the list of all transfers. A leading `-` reverses the order. Not in the specification. */
export const transferOrders = ['-created', 'created'] as const
export type TransferOrder = (typeof transferOrders)[number]

/** Orders of the transfers of one connection. A leading `-` reverses the order. Not in the specification. */
export const connectionTransferOrders = [
  ...transferOrders,
  '-duration',
  'duration',
  '-read',
  'read',
  '-rejected',
  'rejected',
] as const
export type ConnectionTransferOrder = (typeof connectionTransferOrders)[number]

/** Orders of the connectors of a sub-account. A leading `-` reverses the order. Not in the specification. */
export const addedConnectorOrders = [
  '-added',
  'added',
  'name',
  '-name',
  'configured',
  '-configured',
  '-connections',
  'connections',
] as const
export type AddedConnectorOrder = (typeof addedConnectorOrders)[number]

/** Identifiers of a person at the platforms of destinations. Not in the specification. */
export const personIdentifiers = ['email', 'phone', 'externalId'] as const
export type PersonIdentifierKind = (typeof personIdentifiers)[number]

/** Answers of a destination to the demand to erase a person; `unknown`: it did not answer, so ask again. Not in the specification. */
export const erasureOutcomes = ['requested', 'deleted', 'notFound', 'refused', 'unknown'] as const
export type ErasureOutcome = (typeof erasureOutcomes)[number]

/** Triggers of a transfer. Not in the specification. */
export const transferTriggers = ['manual', 'schedule', 'replay', 'dependency', 'url', 'rejects'] as const
export type TransferTrigger = (typeof transferTriggers)[number]

/** Reactions of a connection to columns that changed since the last successful transfer. Not in the specification. */
/** Why a valid record is not sent: the filter, no change since the last transfer, another record with the same key, no consent, the control group. */
export const skipReasons = ['filtered', 'unchanged', 'duplicates', 'noConsent', 'controlGroup'] as const
export type SkipReason = (typeof skipReasons)[number]
/** Numbers of skipped records, by reason. */
export type Skipped = Readonly<Record<SkipReason, number>>

/**
 * How a column records whether a person has agreed: by its values, or as a string of the IAB (TCF, GPP, US Privacy). Not in the
 * specification.
 */
export const consentSignals = ['values', 'tcf', 'gpp', 'usPrivacy'] as const
export type ConsentSignal = (typeof consentSignals)[number]

/** Fields of GPP sections by which a person opts out. Not in the specification. */
export const consentOptOuts = ['sale', 'sharing', 'targetedAdvertising'] as const
export type ConsentOptOut = (typeof consentOptOuts)[number]

/** Questions of the consent fields of platforms. Not in the specification. */
export const consentUses = ['userData', 'personalization', 'adStorage', 'sale'] as const
export type ConsentUse = (typeof consentUses)[number]

export const driftModes = ['ignore', 'stop', 'add'] as const
export type DriftMode = (typeof driftModes)[number]

/** States of a connection that another connection runs after. Not in the specification. */
export const dependencyStates = ['done', 'waiting', 'failed', 'inactive', 'deleted'] as const
export type DependencyState = (typeof dependencyStates)[number]

/** Days of the week, as blackouts name them. Not in the specification. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof weekdays)[number]

/** Rules of a connection: their checks, their reactions, and their results. Not in the specification. */
export const ruleChecks = ['rejected', 'rows', 'volume', 'freshness', 'empty', 'unique', 'values', 'range'] as const
export type RuleCheck = (typeof ruleChecks)[number]
export const ruleActions = ['stop', 'warn', 'record'] as const
export type RuleAction = (typeof ruleActions)[number]
export const ruleOutcomes = ['kept', 'broken', 'not_checked'] as const
export type RuleOutcome = (typeof ruleOutcomes)[number]

/** Kinds of lines in the log of a transfer. Not in the specification. */
export const transferPartStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'] as const
export type TransferPartStatus = (typeof transferPartStatuses)[number]

/** Statuses of a table of a connection that moves many tables. */
export const connectionTableStatuses = ['active', 'failing', 'paused', 'missing'] as const
export type ConnectionTableStatus = (typeof connectionTableStatuses)[number]

export const transferLogKinds = [
  'began',
  'opened',
  'route',
  'columns',
  'sent',
  'confirmed',
  'rejected',
  'waiting',
  'reported',
  'noted',
  'dropped',
  'ended',
] as const
export type TransferLogKind = (typeof transferLogKinds)[number]

/** How a column changed. Not in the specification. */
export const columnChangeKinds = ['added', 'removed', 'renamed', 'retyped'] as const
export type ColumnChangeKind = (typeof columnChangeKinds)[number]

/** Where an error happened: at a side of the connection, or at neither. Not in the specification. */
export const errorSides = ['source', 'destination', 'service'] as const

/** Why a connection needs attention, the worst first. Not in the specification. */
export const attentionReasons = [
  'broken',
  'offline',
  'transfer_failed',
  'transfer_retrying',
  'transfer_partial',
  'not_configured',
  'dependency_failed',
  'log_kept',
] as const
export type AttentionReason = (typeof attentionReasons)[number]

/** How an incident ended. Not in the specification. */
export const alertResolutions = ['recovered', 'stopped', 'rule_changed'] as const
export type AlertResolution = (typeof alertResolutions)[number]

/** How the messages of an alert rule are sent. Not in the specification. */
export const alertChannels = ['email', 'slack', 'teams'] as const
export type AlertChannel = (typeof alertChannels)[number]

/** The sides of a connection. Not in the specification. */
export const connectionSides = ['source', 'destination'] as const

/** Effects of choices of settings: which rows each transfer reads, and how they are written. Not in the specification. */
export const readMeanings = ['all', 'new', 'changed', 'log'] as const
export type ReadMeaning = (typeof readMeanings)[number]
export const writeMeanings = ['add', 'update', 'replace', 'mirror'] as const
export type WriteMeaning = (typeof writeMeanings)[number]

/**
 * Purposes of settings that a form explains together with others. Not in the specification. sent: which rows that were read are
 * sent. key: the columns by which rows are updated. lookBack: how much of the past each transfer reads again. start: where a
 * source that tracks its own position begins.
 */
export const settingPurposes = ['sent', 'key', 'lookBack', 'start'] as const
export type SettingPurpose = (typeof settingPurposes)[number]

/** The kinds of values that are discovered at a platform. Not in the specification. */
export const discoveredKinds = [
  'schema',
  'table',
  'view',
  'column',
  'folder',
  'file',
  'sheet',
  'account',
  'audience',
  'object',
] as const
export type DiscoveredKind = (typeof discoveredKinds)[number]

/** Section 2.6: the kind of a configuration field. `Password` fields are secrets. */
export const fieldTypes = ['Text', 'Password', 'Number', 'Date', 'Boolean', 'Select', 'Multi-Select'] as const
export type FieldType = (typeof fieldTypes)[number]

/** Whether a server has the changes that a connection still has to read. Not in the specification. */
export const changeLogStatuses = ['reserved', 'extended', 'unreserved', 'lost'] as const
export type ChangeLogStatus = (typeof changeLogStatuses)[number]

/** Which changes are in the history of a connection. Not in the specification. */
export const connectionEventKinds = [
  'created',
  'renamed',
  'settings',
  'status',
  'schedule',
  'columns',
  'rules',
  'state',
  'run_conditions',
  'dependency_failed',
] as const
export type ConnectionEventKind = (typeof connectionEventKinds)[number]

/**
 * Kinds of actors: client credentials, a session token, a person, the page of a connect link or a trigger, the operator with the
 * command line, a schedule or a connection that others run after, or the service itself. Not in the specification.
 */
export const auditActorKinds = ['client', 'session', 'user', 'link', 'operator', 'schedule', 'service'] as const
export type AuditActorKind = (typeof auditActorKinds)[number]

/** Outcomes of an event in the audit log. Not in the specification. */
export const auditOutcomes = ['done', 'refused', 'failed'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** Section 2.3, `status` of a connector. The integers are not in the specification. */
export const connectorStatus = { withdrawn: 0, available: 1, preview: 2 } as const

/** Returned instead of a secret that is set. If it is sent back, it means "unchanged". */
export const secretMask = '********'

/** The digests in which an identifier can be sent. Not in the specification. */
export const digests = ['sha256', 'sha512', 'md5'] as const
export type Digest = (typeof digests)[number]

/** The encoding of a digest. Hexadecimal is in lower case. Not in the specification. */
export const digestEncodings = ['hex', 'base64'] as const
export type DigestEncoding = (typeof digestEncodings)[number]

/** The forms that a secret can require (not in the specification): `whsec_` and a key in Base64, by Standard Webhooks. */
export const secretForms = ['standard-webhooks'] as const
export type SecretForm = (typeof secretForms)[number]

/** How a person can sign in. Not in the specification. */
export const signInMethods = ['password', 'passkey', 'single sign-on'] as const
export type SignInMethod = (typeof signInMethods)[number]
/** How a request can be authenticated. Not in the specification. */
export const authenticationMethods = ['client credentials', 'session token', 'connect link', ...signInMethods] as const

/** Status of the delivery of an event. */
export const webhookDeliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type WebhookDeliveryStatus = (typeof webhookDeliveryStatuses)[number]

/** Status of the last authorization of a connector if access is not granted yet. Not in the specification. */
export const authorizationAttempts = ['pending', 'declined', 'failed'] as const

/**
 * Status of a connect link. Not in the specification.
 * pending    it was not opened yet
 * opened     a customer works on its page
 * completed  the customer has finished
 * cancelled  the customer has left without finishing
 * expired    it was not opened, or not finished, in time
 * revoked    it was revoked, or its creator cannot use it any more
 */
export const connectLinkStatuses = ['pending', 'opened', 'completed', 'cancelled', 'expired', 'revoked'] as const
export type ConnectLinkStatus = (typeof connectLinkStatuses)[number]

/** Kinds of values whose local forms the engine reads. */
export const recordReadings = ['number', 'time'] as const

/** Why a deployment cannot have a sample. */
export const sampleObstacles = ['external_database', 'network_policy'] as const
export type SampleObstacle = (typeof sampleObstacles)[number]

/** The schedule of a connection that starts a transfer as soon as its source has received events. */
export const continuousSchedule = '@continuous'

/** Kinds of values in events. Not in the specification. */
export const eventValueKinds = ['text', 'integer', 'number', 'boolean', 'json', 'time'] as const
export type EventValueKind = (typeof eventValueKinds)[number]

/** Outcomes of an event that was sent to a stream. Not in the specification. */
export const streamOutcomes = ['stored', 'repeated', 'refused'] as const
export type StreamOutcome = (typeof streamOutcomes)[number]

/** Why a stream refused a request or an event. Not in the specification. */
export const streamRefusals = [
  'wrong_key',
  'bad_signature',
  'wrong_origin',
  'wrong_address',
  'turned_off',
  'over_rate',
  'storage_full',
  'busy',
  'too_large',
  'wrong_media_type',
  'invalid_body',
  'invalid_event',
  'topic_unavailable',
] as const
export type StreamRefusal = (typeof streamRefusals)[number]

/** The stores of events that a stream can have. */
export const streamStores = ['postgresql', 'kafka'] as const
export type StreamStore = (typeof streamStores)[number]
