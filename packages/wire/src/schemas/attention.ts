import { example } from '../examples.ts'
import { attentionReasons, connectionSides } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { Connection } from './connection.ts'
import { exactly, identifier, oneOf, text } from './kinds.ts'
import { Transfer } from './transfer.ts'

const { id, accountId, name, status, src, dest } = Connection.properties
const configurationOf = (side: string) =>
  Type.Union([identifier('the configuration', example.destination.configurationId), Type.Null()], {
    description: `Configuration that the ${side} uses; null: the first one of its connector`,
  })

const lastTransfer = exactly(
  {
    id: Transfer.properties.id,
    status: Transfer.properties.status,
    finishedTime: Transfer.properties.finishedTime,
    records: Transfer.properties.records,
    error: Transfer.properties.error,
  },
  { description: 'The newest transfer of the connection' },
)

/** A connection that needs attention (not in the specification): the reasons, and data for advice. */
export const AttentionEntry = exactly(
  {
    id,
    accountId,
    accountName: text('Name of the sub-account', 'Acme Outdoor'),
    name,
    status,
    src,
    dest,
    srcConfigurationId: configurationOf('source'),
    destConfigurationId: configurationOf('destination'),
    reasons: Type.Array(
      oneOf(attentionReasons, {
        description:
          'broken, offline: the status of the connection. transfer_failed, transfer_partial: how the newest transfer ended. transfer_retrying: the newest transfer is retried after an error. not_configured: a side has no configuration. dependency_failed: a connection that it runs after failed, or is not active. log_kept: the server of the source keeps much of its log for the connection (even if it is disabled), or has removed or will remove changes that were not read',
        examples: ['broken'],
      }),
      { minItems: 1, description: 'Why it needs attention, the worst reason first' },
    ),
    notConfigured: Type.Array(
      oneOf(connectionSides, { description: 'Side of the connection', examples: ['destination'] }),
      { description: 'Sides whose connector is not configured in the sub-account' },
    ),
    lastTransfer: Type.Union([lastTransfer, Type.Null()]),
  },
  { description: 'Connection that needs attention' },
)
export type AttentionEntry = Static<typeof AttentionEntry>
