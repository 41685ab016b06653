import {
  type AlertConditionName,
  type AlertConditions,
  alertAmounts,
  alertConditionNames,
  alertConditions,
  alertReasons,
  isAlertAmount,
} from '../alert-conditions.ts'
import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type UserRole, userRoleNames } from '../scopes.ts'
import { alertChannels, alertResolutions, errorSides } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { AuditActor } from './audit.ts'
import {
  addressPatterns,
  exactly,
  flag,
  Identifier,
  identifier,
  name,
  oneOf,
  secret,
  text,
  unixSeconds,
} from './kinds.ts'
import { emailPattern } from './user.ts'

/** Alert rules and their incidents. Not in the specification. */

const orNull = <S extends Parameters<typeof Type.Optional>[0]>(schema: S, description: string, shown: unknown) =>
  Type.Union([schema, Type.Null()], { description, examples: [shown] })
const maybeTime = (description: string, shown: number | null) =>
  orNull(Type.Integer({ minimum: 0 }), `${description}, Unix time in seconds`, shown)

function conditionSchema(name: AlertConditionName) {
  const { begins } = alertConditions[name]
  if (!isAlertAmount(name)) return flag(begins)
  const { min: minimum, max: maximum, usual, isDecimal } = alertAmounts[name]
  const amount = isDecimal ? Type.Number({ minimum, maximum }) : Type.Integer({ minimum, maximum })
  return orNull(amount, `${begins}; null: not checked`, usual)
}
const schemas = alertConditionNames.map((name) => [name, conditionSchema(name)] as const)
const conditions = Type.Unsafe<AlertConditions>(
  exactly(Object.fromEntries(schemas), { description: 'Conditions of the rule' }),
)
const askedConditions = Type.Unsafe<Partial<AlertConditions>>(
  Type.Object(Object.fromEntries(schemas.map(([name, schema]) => [name, Type.Optional(schema)])), {
    additionalProperties: false,
    minProperties: 1,
    description: 'Conditions of the rule, at least one; omitted conditions are not checked',
  }),
)

const role = Type.Unsafe<UserRole>(oneOf(userRoleNames, { description: 'Role', examples: ['owner'] }))
const recipients = 'Roles whose people get an e-mail about the connections that they can see'
const addresses = 'E-mail addresses that get a message'
const connectionIds =
  'Connections that the rule covers; null: all of the sub-account or the organization, including later ones'
const isSet = (platform: string) =>
  orNull(Type.String(), `${platform}: ******** if an address is saved; null: no address`, '********')

export const AlertRule = exactly(
  {
    id: identifier('the rule', example.alertRuleId),
    name: text('Name', 'Failures'),
    accountId: orNull(Identifier, 'Sub-account that the rule covers; null: the organization', null),
    connectionIds: orNull(Type.Array(Identifier), connectionIds, null),
    enabled: flag('Whether it is on'),
    conditions,
    emails: Type.Array(Type.String(), { description: addresses, examples: [['data@example.com']] }),
    emailRoles: Type.Array(role, { description: recipients, examples: [['owner']] }),
    slackUrl: isSet('Slack'),
    teamsUrl: isSet('Microsoft Teams'),
    mutedUntil: maybeTime('Time until which the rule sends no messages; null: it is not muted', null),
    deliveryError: orNull(
      exactly(
        {
          channel: oneOf(alertChannels, { description: 'Where', examples: ['slack'] }),
          message: text('What happened, and what to do', 'Slack answered 404: check the address of the webhook.'),
          time: unixSeconds('When'),
        },
        { description: 'The last message that could not be sent' },
      ),
      'The last message that could not be sent; null if the last message was sent',
      null,
    ),
    openIncidents: Type.Integer({ minimum: 0, description: 'Number of open incidents', examples: [1] }),
    createdTime: unixSeconds('When it was created', example.createdTime),
    updatedTime: unixSeconds('When it was last changed', example.updatedTime),
  },
  { description: 'Alert rule' },
)
export type AlertRule = Static<typeof AlertRule>

const webhookUrl = (platform: string) =>
  Type.Optional(
    Type.Union(
      [
        secret(
          `${platform}. It must be an address that begins with https://, without user name, password or fragment`,
          'https://hooks.example.com/…',
          { minLength: 1, maxLength: limits.alertUrlLengthMax, pattern: addressPatterns.secretReceiver },
        ),
        Type.Null(),
      ],
      {
        description: `${platform}. Omitted or ********: unchanged; null: no address`,
        examples: ['https://hooks.example.com/…'],
      },
    ),
  )
const givenFields = {
  connectionIds: Type.Optional(
    Type.Union(
      [Type.Array(Identifier, { minItems: 1, maxItems: limits.alertConnectionsMax, uniqueItems: true }), Type.Null()],
      { description: `${connectionIds}; at most ${limits.alertConnectionsMax}`, examples: [[example.connectionId]] },
    ),
  ),
  enabled: Type.Optional(flag('Whether it is on')),
  emails: Type.Optional(
    Type.Array(Type.String({ maxLength: limits.emailLengthMax, pattern: emailPattern }), {
      maxItems: limits.alertEmailsMax,
      uniqueItems: true,
      description: `${addresses}, at most ${limits.alertEmailsMax}`,
      examples: [['data@example.com']],
    }),
  ),
  emailRoles: Type.Optional(
    Type.Unsafe<UserRole[]>(
      Type.Array(role, { uniqueItems: true, description: recipients, examples: [['owner', 'admin']] }),
    ),
  ),
  slackUrl: webhookUrl('Address of an incoming webhook of Slack'),
  teamsUrl: webhookUrl('Address of a workflow of Microsoft Teams that posts a webhook to a channel or a chat'),
}

export const CreateAlertRule = exactly(
  {
    name: name('Orders'),
    accountId: Type.Optional(
      orNull(
        Identifier,
        'Sub-account that the rule covers; null or omitted: the organization. Required for credentials that are limited to sub-accounts',
        example.accountId,
      ),
    ),
    conditions: askedConditions,
    ...givenFields,
  },
  { description: 'Alert rule to create' },
)
export const UpdateAlertRule = exactly(
  { name: Type.Optional(name('Orders')), conditions: Type.Optional(askedConditions), ...givenFields },
  { description: 'Changes to an alert rule' },
)
export const MuteAlertRule = exactly(
  {
    until: orNull(
      Type.Integer({ minimum: 1, maximum: limits.unixSecondsMax }),
      'Until when, in the future, Unix time in seconds; null: messages are sent again',
      example.updatedTime + 86_400,
    ),
  },
  { description: 'Until when to mute' },
)

export const AlertTest = exactly(
  { queued: Type.Integer({ minimum: 1, description: 'Messages that were queued', examples: [3] }) },
  { description: 'Test messages' },
)
export type AlertTest = Static<typeof AlertTest>

export const AlertIncident = exactly(
  {
    id: identifier('the incident', example.alertIncidentId),
    ruleId: identifier('the rule', example.alertRuleId),
    ruleName: text('Name of the rule', 'Failures'),
    accountId: identifier('the sub-account', example.accountId),
    accountName: text('Name of the sub-account', 'Acme Outdoor'),
    connectionId: identifier('the connection', example.connectionId),
    connectionName: text('Name of the connection', 'Spring customers'),
    reasons: Type.Array(oneOf(alertReasons, { description: 'Reason', examples: ['connection_broken'] }), {
      description: 'Reasons that were found since the incident began, the worst first',
      examples: [['connection_broken', 'transfer_failed']],
    }),
    numbers: Type.Array(Type.String(), {
      description: 'Numbers of the reasons when they were found, a sentence each',
      examples: [[]],
    }),
    transferId: orNull(Identifier, 'The transfer that caused the incident; null: no transfer', example.transferId),
    errorCode: orNull(Type.String(), 'Code of the error of that transfer; null: no error', 'invalid_credentials'),
    errorSide: orNull(
      oneOf(errorSides, { description: 'Side', examples: ['destination'] }),
      'Where that error happened; null: no error',
      'destination',
    ),
    table: orNull(
      Type.String(),
      'The table of the side that failed, as the connection names it now; null: no error, or no table',
      'crm.customers',
    ),
    columns: Type.Array(Type.String(), {
      description: 'Names of the first 5 columns whose change stopped that transfer',
      examples: [['phone']],
    }),
    openedTime: unixSeconds('Since when'),
    resolvedTime: maybeTime('When the incident ended; null: it is open', null),
    resolution: orNull(
      oneOf(alertResolutions, { description: 'Resolution', examples: ['recovered'] }),
      'recovered: the cause is gone; after a failed transfer or a broken connection, a transfer succeeded. stopped: the connection was disabled or deleted. rule_changed: the rule no longer covers it. null: it is open',
      null,
    ),
    acknowledgedTime: maybeTime('When it was acknowledged; null: not acknowledged', null),
    acknowledgedBy: orNull(AuditActor, 'Who acknowledged it; null: nobody', null),
  },
  { description: 'Incident of an alert rule, from its beginning to its end' },
)
export type AlertIncident = Static<typeof AlertIncident>
