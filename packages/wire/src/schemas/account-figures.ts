import { example } from '../examples.ts'
import { type Static, Type } from '../type.ts'
import { AlertIncident } from './alert.ts'
import { count, exactly, flag, identifier, text } from './kinds.ts'

/** Figures of sub-accounts and of the organization. Not in the specification. */

/** Orders of the figures of sub-accounts. A leading `-` reverses the order. Not in the specification. */
export const accountFiguresOrders = [
  '-failing',
  'failing',
  'name',
  '-name',
  'connections',
  '-connections',
  'rows',
  '-rows',
  'incident',
  '-incident',
] as const
export type AccountFiguresOrder = (typeof accountFiguresOrders)[number]

const connectionStates = (of: string) =>
  exactly(
    {
      failing: count('Connections that are broken or offline, and active connections whose newest transfer failed', 14),
      active: count('Active connections that do not fail', 48),
      draft: count('Connections that were never activated', 1),
      disabled: count('Disabled connections', 0),
    },
    { description: `Connections of the ${of} that are not deleted; each is in one of these numbers` },
  )
const max = (of: string, shown: number) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: `Limit of ${of}; null: no limit`,
    examples: [shown],
  })

const { id, ruleName, connectionId, connectionName, reasons, errorCode, openedTime, resolvedTime, acknowledgedTime } =
  AlertIncident.properties

/** A sub-account in figures. */
export const AccountFigures = exactly(
  {
    id: identifier('the sub-account', example.accountId),
    name: text('Name of the sub-account', 'Acme Outdoor'),
    enabled: flag('Whether the sub-account is enabled'),
    connections: connectionStates('sub-account'),
    connectionsMax: count('Limit of the connections of one sub-account', 1_000),
    rowsThisMonth: count('Rows delivered in this calendar month, UTC', 12_400_000),
    openIncidents: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Number of open incidents; null: the caller lacks `alerts:read`',
      examples: [1],
    }),
    lastIncident: Type.Union(
      [
        exactly(
          {
            id,
            ruleName,
            connectionId,
            connectionName,
            reasons,
            errorCode,
            openedTime,
            resolvedTime,
            acknowledgedTime,
          },
          { description: 'The newest open incident, otherwise the newest resolved one' },
        ),
        Type.Null(),
      ],
      { description: 'The last incident that is kept; null: no incident, or the caller lacks `alerts:read`' },
    ),
  },
  { description: 'Sub-account in figures' },
)
export type AccountFigures = Static<typeof AccountFigures>

/** The figures of an organization with its limits. */
export const Usage = exactly(
  {
    accounts: exactly(
      {
        used: count('Sub-accounts', 14),
        max: max('the sub-accounts', 1_000),
        failing: count('Sub-accounts with a failing connection', 6),
      },
      { description: 'Sub-accounts of the organization' },
    ),
    connections: connectionStates('organization'),
    rowsThisMonth: exactly(
      { used: count('Rows', 41_200_000), max: max('these rows', 60_000_000) },
      { description: 'Rows delivered in this calendar month, UTC' },
    ),
    openIncidents: Type.Union(
      [
        exactly(
          {
            count: count('Open incidents', 6),
            since: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
              description: 'When the oldest open incident began, Unix time in seconds; null: no open incident',
              examples: [example.createdTime],
            }),
          },
          { description: 'Open incidents of alert rules' },
        ),
        Type.Null(),
      ],
      { description: 'Open incidents; null: the caller lacks `alerts:read`' },
    ),
  },
  { description: 'Figures of an organization, with their limits' },
)
export type Usage = Static<typeof Usage>
