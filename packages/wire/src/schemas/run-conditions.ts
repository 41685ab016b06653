import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { dependencyStates } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, identifier, namePattern, oneOf, text } from './kinds.ts'

/** Run conditions: transfers of a connection wait for them. Not in the specification. */

const groupName = Type.String({
  pattern: namePattern,
  maxLength: limits.nameLengthMax,
  description: 'Name of the group',
  examples: ['warehouse'],
})
const maybeGroup = Type.Union([groupName, Type.Null()], {
  description: 'Group of the sub-account, whose limit its transfers share; null: no group',
  examples: ['warehouse'],
})

/** The connections after which a connection runs, by identifier. */
export const runAfterIds = Type.Array(identifier('a connection of the same sub-account', example.upstreamId), {
  maxItems: limits.runAfterMax,
  uniqueItems: true,
  description: 'Connections after which it runs; can be empty',
  examples: [[example.upstreamId]],
})
export const connectionGroup = maybeGroup

/** Request of Set Run Conditions. */
export const SetRunConditions = exactly(
  { runAfter: runAfterIds, group: Type.Optional(maybeGroup) },
  { description: 'Run conditions of the connection; no group if omitted' },
)

/** Response of Get and Set Run Conditions. */
export const RunConditions = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    runAfter: Type.Array(
      exactly(
        {
          connectionId: identifier('the connection after which it runs', example.upstreamId),
          name: Type.Union([text('Its name; null if it was removed permanently', 'Orders'), Type.Null()]),
          state: oneOf(dependencyStates, {
            description:
              'done: it has succeeded since the last start of this connection. waiting: not yet. failed: its newest transfer failed or was cancelled. inactive: it is not active. deleted: it was deleted',
            examples: ['done'],
          }),
        },
        { description: 'Connection after which it runs' },
      ),
      { description: 'A transfer starts once all of these are done' },
    ),
    group: maybeGroup,
  },
  { description: 'Run conditions of a connection' },
)
export type RunConditions = Static<typeof RunConditions>

const transfersMax = Type.Integer({
  minimum: 1,
  maximum: limits.groupTransfersMax,
  description: 'Maximum concurrent transfers of the group; each part of a divided transfer counts',
  examples: [2],
})

/** Request of Set Transfer Groups. */
export const SetTransferGroups = exactly(
  {
    groups: Type.Array(exactly({ name: groupName, transfersMax }, { description: 'Group' }), {
      maxItems: limits.transferGroupsMax,
      description: 'All groups of the sub-account',
      examples: [[{ name: 'warehouse', transfersMax: 2 }]],
    }),
  },
  { description: 'Groups of a sub-account' },
)

/** A group of a sub-account. */
export const TransferGroup = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    name: groupName,
    transfersMax,
    connections: Type.Integer({ minimum: 0, description: 'Connections in the group', examples: [3] }),
    running: Type.Integer({ minimum: 0, description: 'Number of running transfers and parts', examples: [2] }),
    waiting: Type.Integer({ minimum: 0, description: 'Number of transfers that wait for a worker', examples: [1] }),
  },
  { description: 'Group' },
)
export type TransferGroup = Static<typeof TransferGroup>

/** Response of Set Transfer Groups. */
export const TransferGroups = exactly(
  { groups: Type.Array(TransferGroup, { description: 'All groups of the sub-account, by name' }) },
  { description: 'Groups of a sub-account' },
)
