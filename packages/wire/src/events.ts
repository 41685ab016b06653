import { alertReasons } from './alert-conditions.ts'
import { example } from './examples.ts'
import { count, exactly, flag, identifier, oneOf, text, unixSeconds } from './schemas/kinds.ts'
import type { Scope } from './scopes.ts'
import { alertResolutions, connectionStatuses, roles, ruleActions, ruleChecks, transferTriggers } from './terms.ts'
import { type Static, type TSchema, Type } from './type.ts'

/**
 * Events, as webhooks receive them: when each type is sent, and the schema of its data. The documents, the contract and the
 * client are derived from this table. Data never contains a secret or a value of a record.
 */

const orNull = (schema: TSchema, description: string, shown: unknown = null) =>
  Type.Union([schema, Type.Null()], { description, examples: [shown] })

const transfer = exactly(
  {
    transferId: identifier('the transfer', example.transferId),
    status: oneOf(['succeeded', 'partial', 'failed', 'cancelled'], {
      description: 'How it ended; partial: some records were rejected',
      examples: ['partial'],
    }),
    trigger: oneOf(transferTriggers, { description: 'What started it', examples: ['schedule'] }),
    replayOf: Type.Union([Type.String(), Type.Null()], {
      description: 'The transfer whose rejected records it sent again; null: not a replay',
      examples: [null],
    }),
    test: flag('Whether it was a test, which sends a few records and adds no volume', false),
    read: count('Records read from the source', 1000),
    sent: count('Records sent to the destination', 998),
    accepted: count('Records that the destination accepted', 990),
    rejected: count('Records rejected', 10),
    changedColumns: count('Columns that changed since the last successful transfer', 0),
    errorCode: Type.Union([Type.String(), Type.Null()], {
      description: 'Code of the error; null: no error',
      examples: [null],
    }),
    errorSide: Type.Union([oneOf(roles, { description: 'Side', examples: ['Source'] }), Type.Null()], {
      description: 'Where the error happened; null: at neither side',
      examples: [null],
    }),
    createdTime: unixSeconds('When it was requested', example.createdTime),
    startedTime: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'When it started, Unix time in seconds; null: it did not start',
      examples: [example.createdTime],
    }),
    finishedTime: unixSeconds('When it ended'),
  },
  { description: 'A transfer that ended' },
)
const rulesBroken = exactly(
  {
    transferId: identifier('the transfer', example.transferId),
    status: oneOf(['succeeded', 'partial', 'failed', 'cancelled'], {
      description: 'How the transfer ended; failed if a rule stopped it',
      examples: ['failed'],
    }),
    rules: Type.Array(
      exactly(
        {
          check: oneOf(ruleChecks, { description: 'Check of the rule', examples: ['rejected'] }),
          action: oneOf(ruleActions, { description: 'Reaction to a broken rule', examples: ['stop'] }),
          column: orNull(Type.String(), 'The column; null: the rule has no column', null),
          message: text('The numbers that broke it', '30 of 1,000 records were rejected (3 %), at most 2 %.'),
        },
        { description: 'Broken rule' },
      ),
      { description: 'Broken rules that stop or warn' },
    ),
  },
  { description: 'A transfer that broke rules' },
)
const status = oneOf(connectionStatuses, { description: 'Status', examples: ['active'] })
const connectionStatus = exactly(
  { name: text('Name of the connection', 'Spring customers'), from: status, to: status },
  { description: 'A connection whose status changed' },
)
const connectionDeleted = exactly(
  { name: text('Name of the connection', 'Spring customers'), from: status },
  { description: 'A connection that was deleted' },
)
const connector = {
  connectorId: identifier('the connector in the catalogue', example.destination.connectorId),
  configurationId: identifier('the configuration', example.destination.configurationId),
}
const connectorConfigured = exactly(
  {
    ...connector,
    name: text('Name of the configuration', example.destination.name),
    configured: flag('Whether all required values are saved'),
  },
  { description: 'A connector whose configuration was saved' },
)
const authorizationRevoked = exactly(connector, {
  description: 'A connector that no longer has the access that a user of the platform granted with a click',
})
const account = exactly(
  { name: text('Name of the sub-account', 'Acme Outdoor'), enabled: flag('Whether transfers start in it') },
  { description: 'A sub-account' },
)
const client = exactly(
  {
    clientId: text('Identifier of the client', example.clientId),
    name: orNull(Type.String(), 'Name', 'Nightly jobs'),
  },
  { description: 'Client credentials, without the secret' },
)
const connectLinkCompleted = exactly(
  {
    connectLinkId: identifier('the connect link', example.linkId),
    connectorIds: Type.Array(Type.String(), {
      description: 'Connectors that the customer configured',
      examples: [[example.destination.connectorId]],
    }),
    connectionId: orNull(Type.String(), 'The connection that was created; null: no connection', example.connectionId),
  },
  { description: 'A connect link that a customer finished' },
)
const incident = {
  incidentId: identifier('the incident', example.alertIncidentId),
  ruleId: identifier('the alert rule', example.alertRuleId),
  ruleName: text('Name of the rule', 'Failures'),
  reasons: Type.Array(oneOf(alertReasons, { description: 'Reason', examples: ['connection_broken'] }), {
    description: 'Reasons that were found, the worst first',
    examples: [['connection_broken', 'transfer_failed']],
  }),
  numbers: Type.Array(Type.String(), {
    description: 'Numbers of the reasons when they were found, a sentence each',
    examples: [[]],
  }),
  transferId: orNull(Type.String(), 'The transfer that caused the incident; null: no transfer', example.transferId),
  errorCode: orNull(Type.String(), 'Code of the error of that transfer; null: no error', 'invalid_credentials'),
  errorSide: orNull(
    oneOf(roles, { description: 'Side', examples: ['Destination'] }),
    'Where that error happened; null: at neither side',
    'Destination',
  ),
  openedTime: unixSeconds('Since when', example.createdTime),
}
const alertOpened = exactly(incident, { description: 'An incident that began' })
const alertResolved = exactly(
  {
    ...incident,
    resolvedTime: unixSeconds('When it ended'),
    resolution: oneOf(alertResolutions, {
      description:
        'recovered: it works again. stopped: the connection was disabled or deleted. rule_changed: the rule no longer covers it',
      examples: ['recovered'],
    }),
  },
  { description: 'An incident that ended' },
)
const people = (description: string, shown: number | null) =>
  orNull(Type.Integer({ minimum: 0 }), `${description}; null: the platform does not say it`, shown)
const audienceMeasured = exactly(
  {
    measuredTime: unixSeconds('When the platform was asked'),
    audiences: Type.Array(
      exactly(
        {
          id: text('Identifier at the platform', '23850001'),
          low: people('Number of people; of a range, its lower end', 8_100),
          high: people('Number of people; of a range, its upper end', 8_100),
          received: people('People that the platform received', 9_000),
          matched: people('People that it matched', 8_100),
          status: orNull(Type.String(), 'In the words of the platform; null: it does not say it', 'READY'),
        },
        { description: 'An audience' },
      ),
      { description: 'At most 20 audiences' },
    ),
  },
  { description: 'The audiences that a connection feeds, as the platform measures them' },
)
const webhookDisabled = exactly(
  {
    webhookId: identifier('the webhook', example.webhookId),
    url: text('Its address', 'https://example.com/penstock'),
    reason: oneOf(['gone', 'failing'], {
      description: 'gone: it answered with the status 410. failing: no delivery succeeded for a week',
      examples: ['failing'],
    }),
  },
  { description: 'Another webhook, which the service disabled' },
)
const webhookTest = exactly(
  { webhookId: identifier('the webhook', example.webhookId) },
  { description: 'A test that was requested' },
)

/** Every type of event: when it is sent, its data, and the scope that is required to subscribe to it or to read it. */
export const events = {
  'transfer.succeeded': {
    when: 'A transfer ended and no record was rejected',
    data: transfer,
    scope: 'transfers:read',
  },
  'transfer.partial': {
    when: 'A transfer ended and some records were rejected',
    data: transfer,
    scope: 'transfers:read',
  },
  'transfer.failed': { when: 'A transfer failed', data: transfer, scope: 'transfers:read' },
  'transfer.cancelled': { when: 'A transfer was cancelled', data: transfer, scope: 'transfers:read' },
  'transfer.rules_broken': {
    when: 'A transfer broke rules of its connection that stop or warn',
    data: rulesBroken,
    scope: 'transfers:read',
  },
  'connection.status_changed': {
    when: 'The status of a connection changed: it was activated, disabled or restored, became broken or offline, or recovered',
    data: connectionStatus,
    scope: 'connections:read',
  },
  'connection.deleted': {
    when: 'A connection was deleted, separately or with its sub-account',
    data: connectionDeleted,
    scope: 'connections:read',
  },
  'connector.configured': {
    when: 'The configuration of a connector was saved',
    data: connectorConfigured,
    scope: 'connectors:read',
  },
  'authorization.revoked': {
    when: 'A connector that was authorized with a click was removed, or its authorization was cleared or replaced',
    data: authorizationRevoked,
    scope: 'connectors:read',
  },
  'audience.measured': {
    when: 'A platform was asked for the sizes of the audiences that a connection feeds, which happens once a day',
    data: audienceMeasured,
    scope: 'connections:read',
  },
  'alert.opened': { when: 'An incident of an alert rule began', data: alertOpened, scope: 'alerts:read' },
  'alert.resolved': { when: 'An incident of an alert rule ended', data: alertResolved, scope: 'alerts:read' },
  'account.created': { when: 'A sub-account was added', data: account, scope: 'accounts:read' },
  'account.updated': { when: 'A sub-account was renamed, enabled or disabled', data: account, scope: 'accounts:read' },
  'account.deleted': { when: 'A sub-account was deleted', data: account, scope: 'accounts:read' },
  'account.restored': { when: 'The operator restored a sub-account', data: account, scope: 'accounts:read' },
  'connect_link.completed': {
    when: 'A customer finished a connect link',
    data: connectLinkCompleted,
    scope: 'connect:read',
  },
  'client.created': { when: 'Client credentials were created', data: client, scope: 'clients:read' },
  'client.renamed': { when: 'Client credentials were renamed', data: client, scope: 'clients:read' },
  'client.rotated': { when: 'The secret of client credentials was rotated', data: client, scope: 'clients:read' },
  'client.revoked': { when: 'Client credentials were revoked', data: client, scope: 'clients:read' },
  'webhook.disabled': {
    when: 'The service disabled another webhook of the organization',
    data: webhookDisabled,
    scope: 'webhooks:read',
  },
  'webhook.test': {
    when: 'A test of the webhook was requested. It is sent regardless of the types of the webhook',
    data: webhookTest,
    scope: 'webhooks:read',
  },
} as const satisfies Record<string, { when: string; data: TSchema; scope: Scope }>

export type EventType = keyof typeof events
export const eventTypeNames = Object.keys(events) as EventType[]

export const isEventType = (type: string): type is EventType => Object.hasOwn(events, type)

/** The scopes that are required to subscribe to events of these types, or to read them. `null` means every type. */
export const scopesOfEvents = (types: readonly EventType[] | null): Scope[] => [
  ...new Set((types ?? eventTypeNames).map((type) => events[type].scope)),
]

/** The schema of the whole event of a type: the body of the request. */
export const eventSchema = <T extends EventType>(type: T) =>
  exactly(
    {
      type: Type.Literal(type, { description: 'Type of the event', examples: [type] }),
      timestamp: unixSeconds('When it happened'),
      organizationId: identifier('the organization', example.ownerId),
      accountId: Type.Union([Type.String(), Type.Null()], {
        description: 'The sub-account of the event; null: no sub-account',
        examples: [/^(?:client|webhook)/.test(type) ? null : example.accountId],
      }),
      connectionId: Type.Union([Type.String(), Type.Null()], {
        description: 'The connection of the event; null: no connection',
        examples: [/^(?:transfer|connection|alert)\./.test(type) ? example.connectionId : null],
      }),
      data: events[type].data as (typeof events)[T]['data'],
    },
    { description: events[type].when },
  )

/** An event as its receiver parses it, of one type or of any. */
export type PenstockEvent<T extends EventType = EventType> = {
  [K in T]: Omit<Static<ReturnType<typeof eventSchema<K>>>, 'type'> & { readonly type: K }
}[T]
