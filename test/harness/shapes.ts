import assert from 'node:assert/strict'

/**
 * The payloads of the specification, section 2, copied by hand and never derived from the contract: exactly these keys,
 * of these types.
 */
export type Shape =
  | 'string'
  | 'integer'
  | 'boolean'
  | 'number'
  /** Content that differs per connector. */
  | 'settings'
  | { readonly [key: string]: Shape }
  | readonly [Shape]
  /** That, or nothing. */
  | readonly [Shape, null]

/** 2.2 */
export const token = { accessToken: 'string', tokenType: 'string', expiry: 'integer' } as const satisfies Shape

/** 2.3 */
export const connector = {
  connectorId: 'string',
  platformId: 'string',
  name: 'string',
  dataType: 'string',
  dataTypeCategory: 'string',
  platformType: 'string',
  supportedType: 'string',
  integrated: 'boolean',
  logo: 'string',
  docUrl: 'string',
  overviewUrl: 'string',
  status: 'integer',
} as const satisfies Shape

/** 2.4 */
export const catalogueEntry = {
  connectorId: 'string',
  dataType: 'string',
  dataTypeCategory: 'string',
  platformId: 'string',
  name: 'string',
  platformType: 'string',
  supportedType: 'string',
  transfer: 'boolean',
} as const satisfies Shape

/** 2.5, the connectors added to a sub-account */
export const addedConnector = {
  configured: 'boolean',
  connectorId: 'string',
  dataType: 'string',
  dataTypeCategory: 'string',
  description: 'string',
  destConnections: 'integer',
  editable: 'boolean',
  env: 'string',
  platformId: 'string',
  name: 'string',
  platformType: 'string',
  srcConnections: 'integer',
  supportedType: 'string',
  transfer: 'boolean',
} as const satisfies Shape

/** 2.5, the supported connectors */
export const supportedConnector = {
  configured: 'boolean',
  connectorId: 'string',
  dataType: 'string',
  dataTypeCategory: 'string',
  description: 'string',
  destConnections: 'integer',
  platformId: 'string',
  name: 'string',
  platformType: 'string',
  srcConnections: 'integer',
  supportedType: 'string',
  transfer: 'boolean',
} as const satisfies Shape

/** 2.6, with the key of a field as `name` and a Select's choices as `options`; a mark means "where it applies" */
const group = {
  configurationId: 'string',
  name: 'string',
  secretName: 'string',
  configured: 'boolean',
  lastUpdated: 'integer',
  configuration: [
    {
      name: 'string',
      label: 'string',
      description: 'string',
      type: 'string',
      required: 'boolean',
      readonly: 'boolean',
      'min?': 'integer',
      'max?': 'integer',
      'options?': ['string'],
      value: 'string',
    },
  ],
} as const satisfies Shape
export const connectorConfiguration = {
  secretConfig: [group],
  connectionConfig: [group],
  editable: 'boolean',
  env: 'string',
  configured: 'boolean',
  lastUpdated: 'integer',
  secretName: 'string',
} as const satisfies Shape
export const savedConfiguration = {
  configurationId: 'string',
  name: 'string',
  secretName: 'string',
  configured: 'boolean',
  lastUpdated: 'integer',
} as const satisfies Shape
export const savedValues = {
  accountId: 'string',
  connectorId: 'string',
  slug: 'string',
  ...savedConfiguration,
  first: 'boolean',
  settings: 'settings',
  secrets: ['string'],
  references: 'settings',
  authorized: 'boolean',
  editable: 'boolean',
  env: 'string',
  etag: 'string',
} as const satisfies Shape

/** Ours: a connector by its definition */
const fieldDefinition = {
  name: 'string',
  label: 'string',
  description: 'string',
  type: 'string',
  required: 'boolean',
  readonly: 'boolean',
  'min?': 'integer',
  'max?': 'integer',
  'options?': ['string'],
  'optionLabels?': 'settings',
  'asked?': 'boolean',
  'meanings?': 'settings',
  'purpose?': 'string',
  'default?': 'string',
  'when?': 'settings',
  'role?': 'string',
  'keepsState?': 'boolean',
} as const satisfies Shape
const sideDefinition = {
  'integrated?': 'boolean',
  fields: [fieldDefinition],
  records: [
    {
      name: 'string',
      description: 'string',
      required: 'boolean',
      'normalise?': 'string',
      'hashed?': ['string'],
      'oneOf?': 'string',
      'together?': 'string',
      'values?': ['string'],
      'synonyms?': ['string'],
    },
  ],
  'discover?': ['string'],
  'removes?': 'boolean',
  'audienceSizes?': 'boolean',
  'batch?': { rowsMax: 'integer', bytesMax: 'integer' },
  'columnTypes?': ['string'],
  'creates?': { what: 'string', records: ['string'], settings: ['string'] },
} as const satisfies Shape
export const connectorDefinition = {
  connectorId: 'string',
  name: 'string',
  description: 'string',
  api: [{ version: 'string', ends: 'string' }, null],
  notes: ['string', null],
  tested: ['string', null],
  secretFields: [fieldDefinition],
  prepare: ['string'],
  authorization: [{ platform: 'string', scopes: ['string'], fields: ['string'] }, null],
  source: [sideDefinition, null],
  destination: [sideDefinition, null],
} as const satisfies Shape

export const connectorWords = {
  connectorId: 'string',
  platform: 'string',
  kind: ['string', null],
  alsoCalled: ['string'],
} as const satisfies Shape

export const connectorAuthorization = {
  supported: 'boolean',
  available: 'boolean',
  authorized: 'boolean',
  attempt: ['string', null],
} as const satisfies Shape
export const authorizationLink = { url: 'string', expiresTime: 'integer' } as const satisfies Shape

/** 2.7: entries of the list are without `userEmail` */
export const accountEntry = {
  id: 'string',
  name: 'string',
  enabled: 'boolean',
  connections: 'string',
  createdTime: 'integer',
  updatedTime: 'integer',
  env: { host: 'string', id: 'string', name: 'string' },
  userId: 'string',
  volume: 'integer',
} as const satisfies Shape
export const account = { ...accountEntry, userEmail: 'string' } as const satisfies Shape

/** Ours: sub-accounts in figures */
const connectionStates = { failing: 'integer', active: 'integer', draft: 'integer', disabled: 'integer' } as const
export const accountFigures = {
  id: 'string',
  name: 'string',
  enabled: 'boolean',
  connections: connectionStates,
  connectionsMax: 'integer',
  rowsThisMonth: 'integer',
  openIncidents: ['integer', null],
  lastIncident: [
    {
      id: 'string',
      ruleName: 'string',
      connectionId: 'string',
      connectionName: 'string',
      reasons: ['string'],
      errorCode: ['string', null],
      openedTime: 'integer',
      resolvedTime: ['integer', null],
      acknowledgedTime: ['integer', null],
    },
    null,
  ],
} as const satisfies Shape
export const usage = {
  accounts: { used: 'integer', max: ['integer', null], failing: 'integer' },
  connections: connectionStates,
  rowsThisMonth: { used: 'integer', max: ['integer', null] },
  openIncidents: [{ count: 'integer', since: ['integer', null] }, null],
} as const satisfies Shape

/** 2.8 */
const side = {
  configured: 'boolean',
  connectorId: 'string',
  connectorLogo: 'string',
  connectorName: 'string',
} as const satisfies Shape
export const connection = {
  id: 'string',
  accountId: 'string',
  name: 'string',
  createdTime: 'integer',
  updatedTime: 'integer',
  deleted: 'boolean',
  editable: 'boolean',
  enabled: 'boolean',
  env: 'string',
  status: 'string',
  monthlyVolume: 'integer',
  totalVolume: 'integer',
  usedVolume: 'integer',
  src: side,
  dest: side,
} as const satisfies Shape
export const connectionDetails = {
  ...connection,
  srcConfigurationId: 'string',
  destConfigurationId: 'string',
  srcConnectionConfig: 'settings',
  destConnectionConfig: 'settings',
} as const satisfies Shape
export const updatedConnection = {
  id: 'string',
  name: 'string',
  srcConnectionConfig: 'settings',
  destConnectionConfig: 'settings',
} as const satisfies Shape
const blackout = [{ timezone: 'string', windows: [{ days: ['string'], from: 'string', to: 'string' }] }, null] as const
const connectionRule = {
  check: 'string',
  action: 'string',
  'column?': 'string',
  'count?': 'integer',
  'percent?': 'number',
  'hours?': 'number',
  'values?': ['string'],
  'min?': 'number',
  'max?': 'number',
} as const
const labels = {
  tags: ['string'],
  owner: [{ id: 'string', name: ['string', null], email: 'string' }, null],
} as const
export const connectionWithSettings = {
  ...connectionDetails,
  drift: 'string',
  rules: [connectionRule],
  blackout,
  runAfter: ['string'],
  group: ['string', null],
  ...labels,
  etag: 'string',
} as const satisfies Shape
export const connectionLabels = { connectionId: 'string', accountId: 'string', ...labels } as const satisfies Shape
export const savedFilter = {
  id: 'string',
  name: 'string',
  query: 'string',
  accountId: ['string', null],
  shared: 'boolean',
  createdTime: 'integer',
} as const satisfies Shape
export const mappingTemplate = {
  id: 'string',
  name: 'string',
  accountId: ['string', null],
  builtIn: 'boolean',
  destConnectorId: 'string',
  destConnectorName: 'string',
  srcConnectorId: ['string', null],
  fields: 'integer',
  createdBy: { kind: 'string', id: ['string', null], name: ['string', null] },
  createdTime: 'integer',
  updatedTime: 'integer',
} as const satisfies Shape
export const mappingTemplateDetails = { ...mappingTemplate, mapping: 'string' } as const satisfies Shape
export const appliedMappingTemplate = {
  mapping: 'string',
  columns: [{ field: 'string', templateColumn: 'string', column: ['string', null], candidates: ['string'] }],
  findings: [{ field: 'string', message: 'string' }],
  losses: [{ column: 'string', message: 'string' }],
} as const satisfies Shape
export const connectionTag = { tag: 'string', connections: 'integer' } as const satisfies Shape

/** Ours: the history of a connection */
export const connectionEvent = {
  id: 'string',
  connectionId: 'string',
  time: 'integer',
  kind: 'string',
  from: ['string', null],
  to: ['string', null],
  changes: [[{ key: 'string', from: ['string', null], to: ['string', null] }], null],
  actor: [{ kind: 'string', id: ['string', null], name: ['string', null] }, null],
} as const satisfies Shape

/** Ours: transfers and what belongs to them */
const transferError = { code: 'string', message: 'string', side: 'string', connectorId: ['string', null] } as const
const columnChange = {
  side: 'string',
  change: 'string',
  column: 'string',
  from: ['string', null],
  to: ['string', null],
} as const
export const transfer = {
  id: 'string',
  connectionId: 'string',
  accountId: 'string',
  status: 'string',
  trigger: 'string',
  startedBy: [{ kind: 'string', id: ['string', null], name: ['string', null] }, null],
  test: 'boolean',
  backfill: [{ from: 'string', to: 'string' }, null],
  'tables?': ['string'],
  createdTime: 'integer',
  startedTime: ['integer', null],
  finishedTime: ['integer', null],
  records: { read: 'integer', sent: 'integer', accepted: 'integer', rejected: 'integer' },
  removed: 'integer',
  skipped: {
    filtered: 'integer',
    unchanged: 'integer',
    duplicates: 'integer',
    noConsent: 'integer',
    controlGroup: 'integer',
  },
  bytes: 'integer',
  progress: ['number', null],
  attempt: 'integer',
  waitsForGroup: ['string', null],
  columnChanges: [columnChange],
  rules: [{ check: 'string', action: 'string', column: ['string', null], outcome: 'string', message: 'string' }],
  error: [transferError, null],
} as const satisfies Shape
/** Ours: what needs attention */
export const attentionEntry = {
  id: 'string',
  accountId: 'string',
  accountName: 'string',
  name: 'string',
  status: 'string',
  src: side,
  dest: side,
  srcConfigurationId: ['string', null],
  destConfigurationId: ['string', null],
  reasons: ['string'],
  notConfigured: ['string'],
  lastTransfer: [
    {
      id: 'string',
      status: 'string',
      finishedTime: ['integer', null],
      records: { read: 'integer', sent: 'integer', accepted: 'integer', rejected: 'integer' },
      error: [{ code: 'string', message: 'string', side: 'string', connectorId: ['string', null] }, null],
    },
    null,
  ],
} as const satisfies Shape
export const transferLogLine = {
  number: 'integer',
  attempt: 'integer',
  time: 'integer',
  kind: 'string',
  text: 'string',
} as const satisfies Shape
export const transferPart = {
  number: 'integer',
  status: 'string',
  attempt: 'integer',
  records: { read: 'integer', accepted: 'integer', rejected: 'integer' },
  progress: 'number',
  startedTime: ['integer', null],
  finishedTime: ['integer', null],
  error: [transferError, null],
} as const satisfies Shape
export const connectionTable = {
  table: 'string',
  destination: ['string', null],
  status: 'string',
  cursor: 'boolean',
  resetTime: ['integer', null],
  lastResult: [
    {
      transferId: 'string',
      status: 'string',
      records: { read: 'integer', accepted: 'integer', rejected: 'integer' },
      finishedTime: 'integer',
      error: [transferError, null],
    },
    null,
  ],
  changes: [columnChange],
} as const satisfies Shape
export const connectionTables = { connectionId: 'string', tables: [connectionTable] } as const satisfies Shape
export const replayable = { replayable: 'integer', replayed: 'integer', notKept: 'integer' } as const satisfies Shape
export const editedRejects = { edited: 'integer', restored: 'integer' } as const satisfies Shape
export const reject = {
  number: 'integer',
  row: ['integer', null],
  place: [{ file: 'string', sheet: ['string', null], unit: 'string', number: 'integer' }, null],
  count: 'integer',
  field: ['string', null],
  reason: 'string',
  record: 'settings',
  edited: ['settings', null],
  structural: 'boolean',
  superseded: 'boolean',
  editable: 'boolean',
  state: 'string',
  resent: [{ transferId: 'string', reason: ['string', null] }, null],
} as const satisfies Shape
/** Ours: one person in the kept records */
const progress = { searched: 'integer', notKept: 'integer', next: ['string', null] } as const satisfies Shape
export const foundDataSubject = {
  records: [
    {
      accountId: 'string',
      accountName: 'string',
      connectionId: 'string',
      connectionName: 'string',
      transferId: 'string',
      transferTime: 'integer',
      deliveredTime: ['integer', null],
      row: ['integer', null],
      field: ['string', null],
      reason: 'string',
      record: 'settings',
    },
  ],
  events: [
    {
      accountId: 'string',
      accountName: 'string',
      streamId: 'string',
      streamName: 'string',
      number: 'integer',
      receivedTime: 'integer',
      event: 'string',
    },
  ],
  elsewhere: [
    {
      users: [[{ id: 'string', name: 'string' }], null],
      files: 'integer',
      filesUntil: ['integer', null],
      rejectDays: 'integer',
    },
    null,
  ],
  ...progress,
} as const satisfies Shape
export const erasedDataSubject = {
  erased: 'integer',
  ...progress,
  activeTransfers: 'integer',
} as const satisfies Shape
/** Ours: erasing one person at destinations */
export const erasureDestination = {
  connectorId: 'string',
  connectorName: 'string',
  configurationId: 'string',
  configurationName: 'string',
  kinds: ['string'],
  deletes: ['string', null],
} as const satisfies Shape
export const erasedAtDestination = {
  results: [{ kind: 'string', value: 'string', outcome: 'string', reason: ['string', null] }],
  error: [transferError, null],
  erasedTime: 'integer',
} as const satisfies Shape
export const preview = {
  columns: ['string'],
  rows: [[['string', null]]],
  filtered: 'integer',
  duplicates: 'integer',
  noConsent: 'integer',
  controlGroup: 'integer',
  rejected: [{ row: 'integer', field: ['string', null], reason: 'string' }],
  lint: [
    {
      field: 'string',
      column: 'string',
      records: 'integer',
      missing: 'integer',
      malformed: 'integer',
      unnormalised: 'integer',
      alreadyHashed: 'integer',
      hashedTwice: 'integer',
      wrongHashLength: 'integer',
      mixedKinds: 'integer',
      samples: [{ before: 'string', after: ['string', null] }],
      'forms?': [{ setting: 'string', proposed: ['string', null], reason: 'string', example: ['string', null] }],
    },
  ],
  findings: [{ code: 'string', message: 'string', column: ['string', null] }],
  'masked?': 'boolean',
} as const satisfies Shape
export const schedule = {
  connectionId: 'string',
  cron: 'string',
  timezone: 'string',
  enabled: 'boolean',
  nextTime: ['integer', null],
  lastTime: ['integer', null],
  paused: 'boolean',
} as const satisfies Shape
const knownColumn = { name: 'string', type: ['string', null], required: 'boolean', key: 'boolean' } as const
export const connectionRules = { connectionId: 'string', rules: [connectionRule], blackout } as const satisfies Shape
export const runConditions = {
  connectionId: 'string',
  runAfter: [{ connectionId: 'string', name: ['string', null], state: 'string' }],
  group: ['string', null],
} as const satisfies Shape
export const purpose = {
  accountId: 'string',
  name: 'string',
  signals: [
    {
      kind: 'string',
      column: 'string',
      values: ['string'],
    },
  ],
  uses: ['string'],
  connections: 'integer',
} as const satisfies Shape
export const transferGroup = {
  accountId: 'string',
  name: 'string',
  transfersMax: 'integer',
  connections: 'integer',
  running: 'integer',
  waiting: 'integer',
} as const satisfies Shape
export const trigger = {
  id: 'string',
  connectionId: 'string',
  name: 'string',
  signed: 'boolean',
  createdTime: 'integer',
  lastUsedTime: ['integer', null],
} as const satisfies Shape
export const streamKey = {
  id: 'string',
  hint: 'string',
  createdTime: 'integer',
  lastUsedTime: ['integer', null],
} as const satisfies Shape
const streamFigures = {
  store: 'string',
  topic: ['string', null],
  accepted: 'integer',
  duplicates: ['integer', null],
  refused: 'integer',
  keptEvents: ['integer', null],
  keptBytes: ['integer', null],
  newestTime: ['integer', null],
  oldestTime: ['integer', null],
} as const satisfies Shape
const streamConsumer = {
  connectionId: 'string',
  name: 'string',
  status: 'string',
  readNumber: ['integer', null],
  behindEvents: 'integer',
  behindSeconds: 'integer',
} as const satisfies Shape
const streamVolume = {
  time: 'integer',
  accepted: 'integer',
  duplicates: 'integer',
  refused: 'integer',
} as const satisfies Shape
export const stream = {
  id: 'string',
  accountId: 'string',
  address: 'string',
  host: 'string',
  callbackAddress: ['string', null],
  keys: [streamKey],
  ...streamFigures,
  consumers: [[streamConsumer], null],
  columns: [{ name: 'string', kinds: ['string'] }],
  volumes: { minutes: [streamVolume], hours: [streamVolume] },
} as const satisfies Shape
export const streamEvent = {
  time: 'integer',
  outcome: 'string',
  reason: ['string', null],
  number: ['integer', null],
  events: 'integer',
  bytes: ['integer', null],
  messageId: ['string', null],
  type: ['string', null],
  name: ['string', null],
  test: 'boolean',
  value: ['string', null],
} as const satisfies Shape
export const streamEvents = {
  id: 'string',
  ...streamFigures,
  masked: 'boolean',
  searched: ['integer', null],
  events: [streamEvent],
  refusals: [{ reason: 'string', count: 'integer', newestTime: 'integer' }],
  consumers: [[{ ...streamConsumer, transfers: [{ id: 'string', after: 'integer', last: 'integer' }] }], null],
} as const satisfies Shape
export const drift = {
  connectionId: 'string',
  drift: 'string',
  source: [[knownColumn], null],
  destination: [[knownColumn], null],
  changes: [columnChange],
} as const satisfies Shape
export const connectionState = {
  connectionId: 'string',
  cursor: 'boolean',
  rows: 'integer',
  since: ['integer', null],
  mirrored: 'boolean',
  removed: 'integer',
  'removedRowsStay?': 'string',
  'changeLog?': {
    server: 'string',
    slot: ['string', null],
    status: ['string', null],
    keptBytes: ['integer', null],
    safeBytes: ['integer', null],
    limitBytes: ['integer', null],
    behindBytes: ['integer', null],
    behindFiles: ['integer', null],
    olderFiles: ['integer', null],
    keptSeconds: ['integer', null],
    deliveredTime: ['integer', null],
    measuredTime: ['integer', null],
    problem: ['string', null],
    warns: 'boolean',
  },
  'leftSlots?': [
    {
      server: 'string',
      slot: 'string',
      since: 'integer',
      stays: 'boolean',
      problem: ['string', null],
      statement: 'string',
    },
  ],
  'afresh?': 'string',
} as const satisfies Shape
export const scheduleEntry = { accountId: 'string', ...schedule } as const satisfies Shape
export const checkResult = {
  ok: 'boolean',
  message: 'string',
  checks: [
    { name: 'string', ok: 'boolean', message: 'string', suggestion: [{ field: 'string', value: 'string' }, null] },
  ],
  error: [transferError, null],
  checkedTime: 'integer',
} as const satisfies Shape

/** Ours: discovery */
export const discovery = {
  items: [
    {
      value: 'string',
      label: ['string', null],
      kind: 'string',
      type: ['string', null],
      key: ['boolean', null],
      required: ['boolean', null],
      rows: ['integer', null],
      'samples?': ['string'],
    },
  ],
  next: ['string', null],
  discoveredTime: 'integer',
} as const satisfies Shape

const shownAnswer = {
  status: 'integer',
  headers: [{ name: 'string', value: 'string' }],
  text: 'string',
  json: 'boolean',
  entriesMax: ['integer', null],
  bytes: 'integer',
  durationMs: 'integer',
} as const satisfies Shape

/** Ours: a few rows at a destination. */
export const destinationTrial = {
  exchanges: [{ request: { method: 'string', url: 'string', text: 'string' }, answer: shownAnswer }],
  rows: [{ state: 'string', reason: ['string', null] }],
  error: [transferError, null],
  triedTime: 'integer',
} as const satisfies Shape

/** Ours: one request of a source */
export const sourceAnswer = {
  request: [{ method: 'string', url: 'string' }, null],
  answer: [shownAnswer, null],
  error: [transferError, null],
  columns: ['string'],
  rows: [[['string', null]]],
  next: ['string', null],
  askedTime: 'integer',
} as const satisfies Shape

/** Ours: reports */
const volume = {
  read: 'integer',
  accepted: 'integer',
  rejected: 'integer',
  replayed: 'integer',
  bytes: 'integer',
} as const satisfies Shape
const periods = {
  total: volume,
  days: [{ day: 'string', ...volume }],
  months: [{ month: 'string', ...volume }],
} as const satisfies Shape
export const accountReport = { accountId: 'string', accountName: 'string', ...periods } as const satisfies Shape
export const connectionReport = {
  connectionId: 'string',
  connectionName: 'string',
  accountId: 'string',
  ...periods,
} as const satisfies Shape

const measuredAudience = {
  day: 'string',
  low: ['integer', null],
  high: ['integer', null],
  received: ['integer', null],
  matched: ['integer', null],
} as const satisfies Shape
/** Ours: the audiences of a connection in a period */
export const audienceReport = {
  connectionId: 'string',
  connectionName: 'string',
  accountId: 'string',
  measuredTime: ['integer', null],
  problem: ['string', null],
  audiences: [
    {
      id: 'string',
      name: ['string', null],
      status: ['string', null],
      first: [measuredAudience, null],
      last: measuredAudience,
    },
  ],
} as const satisfies Shape

/** Ours: client credentials and sessions */
export const client = {
  id: 'string',
  name: ['string', null],
  scopes: [['string'], null],
  accountIds: [['string'], null],
  createdTime: 'integer',
  expiresTime: ['integer', null],
  lastUsedTime: ['integer', null],
  previousSecretExpiresTime: ['integer', null],
  revokedTime: ['integer', null],
} as const satisfies Shape
export const clientWithSecret = { ...client, clientSecret: 'string' } as const satisfies Shape
/** Ours: webhooks */
export const webhook = {
  id: 'string',
  accountId: ['string', null],
  url: 'string',
  description: 'string',
  eventTypes: [['string'], null],
  enabled: 'boolean',
  disabledReason: ['string', null],
  failingSince: ['integer', null],
  lastSuccessTime: ['integer', null],
  previousSecretExpiresTime: ['integer', null],
  createdTime: 'integer',
  updatedTime: 'integer',
} as const satisfies Shape
export const webhookWithSecret = { ...webhook, secret: 'string' } as const satisfies Shape
export const webhookDelivery = {
  id: 'string',
  webhookId: 'string',
  eventId: 'string',
  eventType: 'string',
  status: 'string',
  attempts: 'integer',
  responseStatus: ['integer', null],
  errorCode: ['string', null],
  nextTime: ['integer', null],
  createdTime: 'integer',
} as const satisfies Shape
export const webhookDeliveryDetails = {
  ...webhookDelivery,
  payload: 'string',
  log: [
    {
      number: 'integer',
      time: 'integer',
      durationMs: 'integer',
      responseStatus: ['integer', null],
      errorCode: ['string', null],
      errorMessage: ['string', null],
      headers: 'settings',
      body: 'string',
    },
  ],
} as const satisfies Shape
export const sessionToken = {
  accessToken: 'string',
  tokenType: 'string',
  expiry: 'integer',
  sessionId: 'string',
  accountId: 'string',
  scopes: ['string'],
} as const satisfies Shape

/** Ours: the audit log */
export const auditEvent = {
  number: 'integer',
  time: 'integer',
  actor: { kind: 'string', id: ['string', null], name: ['string', null] },
  address: ['string', null],
  requestId: ['string', null],
  action: 'string',
  accountId: ['string', null],
  targetId: ['string', null],
  targetName: ['string', null],
  outcome: 'string',
  before: ['settings', null],
  after: ['settings', null],
  details: ['settings', null],
  previousHash: ['string', null],
  hash: 'string',
} as const satisfies Shape
export const auditVerification = {
  events: 'integer',
  number: 'integer',
  lastNumber: 'integer',
  removed: 'integer',
  sealed: 'boolean',
  problem: [{ number: 'integer', message: 'string' }, null],
  next: ['integer', null],
} as const satisfies Shape
/** Ours: alert rules and their incidents */
export const alertRule = {
  id: 'string',
  name: 'string',
  accountId: ['string', null],
  connectionIds: [['string'], null],
  enabled: 'boolean',
  conditions: {
    transferFailed: 'boolean',
    connectionBroken: 'boolean',
    rejectedPercent: ['number', null],
    noSuccessHours: ['integer', null],
    volumePercent: ['integer', null],
    logKeptGb: ['integer', null],
    behindMinutes: ['integer', null],
    audienceBelow: ['integer', null],
    matchFellPercent: ['integer', null],
  },
  emails: ['string'],
  emailRoles: ['string'],
  slackUrl: ['string', null],
  teamsUrl: ['string', null],
  mutedUntil: ['integer', null],
  deliveryError: [{ channel: 'string', message: 'string', time: 'integer' }, null],
  openIncidents: 'integer',
  createdTime: 'integer',
  updatedTime: 'integer',
} as const satisfies Shape
export const upload = {
  id: 'string',
  accountId: 'string',
  name: 'string',
  sizeBytes: 'integer',
  createdTime: 'integer',
  expiresTime: 'integer',
} as const satisfies Shape
export const sample = {
  available: 'boolean',
  obstacle: ['string', null],
  connectionId: ['string', null],
  transferId: ['string', null],
  database: ['string', null],
  table: ['string', null],
  createdTime: ['integer', null],
} as const satisfies Shape
export const alertIncident = {
  id: 'string',
  ruleId: 'string',
  ruleName: 'string',
  accountId: 'string',
  accountName: 'string',
  connectionId: 'string',
  connectionName: 'string',
  reasons: ['string'],
  numbers: ['string'],
  transferId: ['string', null],
  errorCode: ['string', null],
  errorSide: ['string', null],
  table: ['string', null],
  columns: ['string'],
  openedTime: 'integer',
  resolvedTime: ['integer', null],
  resolution: ['string', null],
  acknowledgedTime: ['integer', null],
  acknowledgedBy: [{ kind: 'string', id: ['string', null], name: ['string', null] }, null],
} as const satisfies Shape
/** Ours: people and their sessions */
export const user = {
  id: 'string',
  email: 'string',
  name: ['string', null],
  role: 'string',
  accountIds: [['string'], null],
  status: 'string',
  createdTime: 'integer',
  lastSignedInTime: ['integer', null],
  invitationExpiresTime: ['integer', null],
} as const satisfies Shape
export const invitedUser = { user, link: 'string', mailed: 'boolean' } as const satisfies Shape
export const me = {
  kind: 'string',
  id: 'string',
  name: ['string', null],
  email: ['string', null],
  organizationId: 'string',
  organizationName: 'string',
  role: ['string', null],
  scopes: [['string'], null],
  accountIds: [['string'], null],
  method: 'string',
  hasPassword: 'boolean',
  mustRegisterPasskey: 'boolean',
  mail: 'boolean',
  csrfToken: ['string', null],
} as const satisfies Shape
export const userSession = {
  id: 'string',
  current: 'boolean',
  method: 'string',
  createdTime: 'integer',
  lastUsedTime: 'integer',
  expiresTime: 'integer',
  address: 'string',
  userAgent: ['string', null],
} as const satisfies Shape
export const passkey = {
  id: 'string',
  name: 'string',
  backedUp: 'boolean',
  createdTime: 'integer',
  lastUsedTime: ['integer', null],
} as const satisfies Shape
export const passkeyRegistration = {
  rp: { id: 'string', name: 'string' },
  user: { id: 'string', name: 'string', displayName: 'string' },
  challenge: 'string',
  pubKeyCredParams: [{ type: 'string', alg: 'integer' }],
  timeout: 'integer',
  excludeCredentials: [{ type: 'string', id: 'string', transports: ['string'] }],
  authenticatorSelection: { residentKey: 'string', requireResidentKey: 'boolean', userVerification: 'string' },
  attestation: 'string',
} as const satisfies Shape
export const passkeySignIn = {
  challenge: 'string',
  rpId: 'string',
  timeout: 'integer',
  userVerification: 'string',
} as const satisfies Shape
export const singleSignOn = {
  issuer: 'string',
  clientId: 'string',
  clientSecret: 'string',
  emailDomains: [['string'], null],
  newUsers: [{ role: 'string', accountIds: [['string'], null] }, null],
  required: 'boolean',
  redirectUri: 'string',
  signInUrl: 'string',
  savedTime: 'integer',
} as const satisfies Shape
export const connectLink = {
  id: 'string',
  accountId: 'string',
  connectorIds: ['string'],
  configurationIds: ['string'],
  connectionTemplate: [{ name: 'string' }, null],
  redirectUrl: ['string', null],
  status: 'string',
  connectionId: ['string', null],
  createdTime: 'integer',
  expiresTime: 'integer',
  openedTime: ['integer', null],
  finishedTime: ['integer', null],
} as const satisfies Shape
const look = { logo: ['string', null], colours: [{ primary: 'string', text: 'string' }, null] } as const
export const branding = { name: ['string', null], ...look, allowedOrigins: ['string'] } as const satisfies Shape
export const connectPage = {
  id: 'string',
  accountId: 'string',
  accountName: 'string',
  organizationName: 'string',
  ...look,
  allowedOrigins: ['string'],
  connectors: [
    {
      connectorId: 'string',
      name: 'string',
      logo: 'string',
      platform: 'string',
      configured: 'boolean',
      checkable: 'boolean',
    },
  ],
  connectionName: ['string', null],
  activates: 'boolean',
  opened: 'boolean',
  expiresTime: 'integer',
} as const satisfies Shape
export const signInRules = { secondFactorRequired: 'boolean', redirectUri: 'string' } as const satisfies Shape
export const invitation = {
  email: ['string', null],
  name: ['string', null],
  role: 'string',
  organizationId: 'string',
  organizationName: 'string',
  expiresTime: 'integer',
} as const satisfies Shape
export const passwordReset = { email: 'string', organizationId: 'string' } as const satisfies Shape
export const done = { done: 'boolean' } as const satisfies Shape

/** Content of a refusal. */
export const refused = {
  error: 'string',
  requestId: 'string',
  details: [{ field: 'string', message: 'string' }],
} as const satisfies Shape

/** Fails unless the value has the shape: exactly its keys, all the way down. */
export function assertShape(value: unknown, shape: Shape, path = 'response'): void {
  if (shape === 'string' || shape === 'boolean' || shape === 'number') {
    assert.equal(typeof value, shape, path)
  } else if (shape === 'integer') {
    assert(Number.isSafeInteger(value), `${path} is not an integer: ${value}`)
  } else if (Array.isArray(shape) && shape.length === 2) {
    if (value !== null) assertShape(value, shape[0] as Shape, path)
  } else if (Array.isArray(shape)) {
    assert(Array.isArray(value), `${path} is no array`)
    for (const [i, entry] of value.entries()) assertShape(entry, shape[0] as Shape, `${path}.${i}`)
  } else {
    assert(typeof value === 'object' && value !== null && !Array.isArray(value), `${path} is no object`)
    if (shape !== 'settings') assertKeys(value as Record<string, unknown>, shape as Record<string, Shape>, path)
  }
}

function assertKeys(value: Record<string, unknown>, shape: Record<string, Shape>, path: string): void {
  const expected = Object.entries(shape)
    .map(([key, inner]): [string, Shape] => [key.replace('?', ''), inner])
    .filter(([key]) => !(`${key}?` in shape) || key in value)
  assert.deepEqual(Object.keys(value).sort(), expected.map(([key]) => key).sort(), path)
  for (const [key, inner] of expected) assertShape(value[key], inner, `${path}.${key}`)
}
