import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { connectionTableStatuses } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { columnChanges } from './drift.ts'
import { count, exactly, flag, identifier, oneOf, tableNames, text, unixSeconds } from './kinds.ts'
import { TransferError } from './transfer.ts'

const result = exactly(
  {
    transferId: identifier('the transfer', example.transferId),
    status: oneOf(['succeeded', 'failed', 'cancelled'], {
      description: 'succeeded: it is delivered, records can be rejected. failed, cancelled: it stopped before its end',
      examples: ['succeeded'],
    }),
    records: exactly(
      {
        read: count('Records read from the source', 500_000),
        accepted: count('Records that the destination accepted', 499_000),
        rejected: count('Records that were rejected', 1_000),
      },
      { description: 'Record counts of the table in this transfer' },
    ),
    finishedTime: unixSeconds('When it ended'),
    error: Type.Union([Type.Unsafe<TransferError>({ ...TransferError, description: 'Why it failed' }), Type.Null()]),
  },
  { description: 'Result of a table' },
)

/** A table of a connection that moves many tables. */
export const ConnectionTable = exactly(
  {
    table: text('Name of the table at the source', 'shop.orders'),
    destination: Type.Union([text('Name of the table at the destination', 'copied.shop_orders'), Type.Null()], {
      description: 'Name of the table at the destination, as the last transfer formed it; null: it is unknown',
    }),
    status: oneOf(connectionTableStatuses, {
      description:
        'active: transfers move it. failing: so do they, but its last result is an error. paused: transfers skip it. missing: the last transfer did not find it, because it is excluded, renamed or removed',
      examples: ['active'],
    }),
    cursor: flag('Whether incremental reading of the table continues after a record', true),
    resetTime: Type.Union([unixSeconds('When its state was last reset'), Type.Null()], {
      description: 'When its state was last reset, Unix time in seconds; null: never',
      examples: [null],
    }),
    lastResult: Type.Union([result, Type.Null()], {
      description: 'How its last transfer ended, without tests; null: no transfer has moved it yet',
    }),
    changes: columnChanges('Changed columns that stopped the table and are not accepted yet'),
  },
  { description: 'Table of a connection' },
)
export type ConnectionTable = Static<typeof ConnectionTable>

/** Request of Set Connection Tables. */
export const SetConnectionTables = exactly(
  {
    tables: tableNames(limits.driftTablesMax, 'The tables to pause or to resume'),
    paused: flag('Whether transfers skip these tables', true),
  },
  { description: 'Tables, and whether they are paused' },
)

/** Response of Set Connection Tables. */
export const ConnectionTables = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    tables: Type.Array(ConnectionTable, {
      maxItems: limits.driftTablesMax,
      description: 'The tables of the request, by name',
    }),
  },
  { description: 'Tables of a connection' },
)
