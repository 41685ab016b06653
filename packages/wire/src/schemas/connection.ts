import { example } from '../examples.ts'
import { statusActions } from '../lifecycle.ts'
import { limits } from '../limits.ts'
import { connectionEventKinds, connectionStatuses, driftModes } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { AuditActor } from './audit.ts'
import { maybeBlackout, ruleList } from './connection-rule.ts'
import {
  configuration,
  configured,
  count,
  editable,
  env,
  etag,
  exactly,
  flag,
  identifier,
  Name,
  oneOf,
  text,
  unixSeconds,
} from './kinds.ts'
import { labelFields } from './labels.ts'
import { connectionGroup, runAfterIds } from './run-conditions.ts'

const connectionConfig = (ofSide: string, settings: Record<string, unknown>) =>
  configuration(limits.textLengthMax, `Settings of ${ofSide} of the connection, by field`, settings)
export const ConnectionConfig = connectionConfig('one end', example.destination.settings)
export type ConnectionConfig = Static<typeof ConnectionConfig>
const connectionConfigs = {
  srcConnectionConfig: connectionConfig('the source end', example.source.settings),
  destConnectionConfig: connectionConfig('the destination end', example.destination.settings),
}

const side = (description: string, { connectorId, logo, name }: { connectorId: string; logo: string; name: string }) =>
  exactly(
    {
      configured,
      connectorId: identifier('the connector', connectorId),
      connectorLogo: text('Address of the platform’s logo', logo),
      connectorName: text('Connector name', name),
    },
    { description },
  )
const connectionFields = {
  id: identifier('the connection', example.connectionId),
  accountId: identifier('the sub-account', example.accountId),
  name: text('Connection name', 'Spring customers'),
  createdTime: unixSeconds('When it was created', example.createdTime),
  updatedTime: unixSeconds('When it last changed'),
  deleted: flag('Whether the connection is deleted', false),
  editable,
  enabled: flag('Whether the connection is enabled'),
  env,
  status: oneOf(connectionStatuses, {
    description: 'Status of the connection',
    examples: ['active'],
  }),
  monthlyVolume: count('Records delivered in this calendar month, UTC', 40_000),
  totalVolume: count('Records read from the source, all time; a replay reads none of them again', 121_000),
  usedVolume: count('Records delivered, all time', 120_000),
  src: side('Source', example.source),
  dest: side('Destination', example.destination),
}

const connectorIds = {
  srcConnectorId: identifier('the source connector', example.source.connectorId),
  destConnectorId: identifier('the destination connector', example.destination.connectorId),
}
const configurationIds = {
  srcConfigurationId: identifier('the source’s configuration', example.source.configurationId),
  destConfigurationId: identifier('the destination’s configuration', example.destination.configurationId),
}

/** Section 2.8. */
export const Connection = exactly(connectionFields, { description: 'Connection' })
export type Connection = Static<typeof Connection>

/** Section 2.8 with the parameters, as Get Connection Details answers it (section 4.4). */
export const ConnectionDetails = exactly(
  { ...connectionFields, ...configurationIds, ...connectionConfigs },
  { description: 'Connection with its parameters' },
)
export type ConnectionDetails = Static<typeof ConnectionDetails>

/** Entry of the list of connections with their settings (not in the specification). */
export const ConnectionWithSettings = exactly(
  {
    ...connectionFields,
    ...configurationIds,
    ...connectionConfigs,
    drift: oneOf(driftModes, { description: 'Reaction to changed columns', examples: ['ignore'] }),
    rules: ruleList,
    blackout: maybeBlackout,
    runAfter: runAfterIds,
    group: connectionGroup,
    ...labelFields,
    etag: etag('connection'),
  },
  { description: 'Connection with its parameters, its labels and its version' },
)
export type ConnectionWithSettings = Static<typeof ConnectionWithSettings>

export const CreateConnection = exactly(
  {
    name: Name,
    ...connectorIds,
    srcConfigurationId: Type.Optional(configurationIds.srcConfigurationId),
    destConfigurationId: Type.Optional(configurationIds.destConfigurationId),
    srcConnectionConfig: Type.Optional(connectionConfigs.srcConnectionConfig),
    destConnectionConfig: Type.Optional(connectionConfigs.destConnectionConfig),
  },
  { description: 'Connection to create' },
)
export const UpdateConnection = exactly(
  {
    id: Type.Optional(connectionFields.id),
    name: Type.Optional(Name),
    srcConnectorId: Type.Optional(connectorIds.srcConnectorId),
    destConnectorId: Type.Optional(connectorIds.destConnectorId),
    srcConfigurationId: Type.Optional(configurationIds.srcConfigurationId),
    destConfigurationId: Type.Optional(configurationIds.destConfigurationId),
    srcConnectionConfig: Type.Optional(connectionConfigs.srcConnectionConfig),
    destConnectionConfig: Type.Optional(connectionConfigs.destConnectionConfig),
  },
  {
    description: 'Changes to the connection',
    examples: [{ name: 'Spring customers', destConnectionConfig: example.destination.settings }],
  },
)

/** Response of Update Connection (section 4.4). */
export const UpdatedConnection = exactly(
  {
    id: connectionFields.id,
    name: connectionFields.name,
    ...connectionConfigs,
  },
  { description: 'Name and settings of a connection' },
)
export type UpdatedConnection = Static<typeof UpdatedConnection>

const maybeText = (description: string, example: string) => Type.Union([text(description, example), Type.Null()])

/** An entry of the history of a connection (not in the specification). Settings of a connection are not secret. */
export const ConnectionEvent = exactly(
  {
    id: identifier('the event', example.eventId),
    connectionId: connectionFields.id,
    time: unixSeconds('When it happened'),
    kind: oneOf(connectionEventKinds, {
      description:
        'created: to is its name. renamed: both names. settings: settings changed; to is the side, Source or Destination. status: both statuses, after a change by a caller, a transfer or a probe. schedule: both schedules, null without a schedule. columns: columns changed since the last successful transfer; to is the side. state: parts of the state were reset; to is cursor, rows or slot; with the slot in from, slot dropped or slot stays. run_conditions: the connections after which it runs, and its group. dependency_failed: it did not start, because a connection after which it runs did not succeed; to is the name of that connection, and from is the status of its transfer or of the connection',
      examples: ['status'],
    }),
    from: maybeText('Previous value; null if there was no value', 'active'),
    to: maybeText(
      'New value; null if it was removed. A schedule is its cron and its time zone, followed by “off” if it is not enabled: 0 6 * * * Europe/Berlin',
      'broken',
    ),
    changes: Type.Union(
      [
        Type.Array(
          exactly(
            {
              key: text('Setting or column', 'audienceSource'),
              from: maybeText('Previous value, at most 200 characters; null if there was no value', 'CRM'),
              to: maybeText('New value, at most 200 characters; null without a value', 'Website'),
            },
            { description: 'Setting that changed' },
          ),
        ),
        Type.Null(),
      ],
      { description: 'For settings and columns: each change; null if unknown', examples: [null] },
    ),
    actor: Type.Union([AuditActor, Type.Null()], {
      description: 'The actor; null for events from before actors were recorded',
    }),
  },
  { description: 'Event of a connection' },
)
export type ConnectionEvent = Static<typeof ConnectionEvent>

/** Request of Update Connection Status. */
export const StatusUpdate = exactly(
  { action: oneOf(statusActions, { description: 'What to do', examples: ['activate'] }) },
  { description: 'Status action' },
)
