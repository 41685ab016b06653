import { transferPartStatuses } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { count, exactly, oneOf, unixSeconds } from './kinds.ts'
import { TransferError } from './transfer.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** A part of a transfer that several workers share, or a table of a connection that moves many tables. */
export const TransferPart = exactly(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'Number of the part, from 1, in the order of the source',
      examples: [3],
    }),
    table: Type.Optional(
      Type.String({
        description: 'The table that the part is, if the connection moves many tables',
        examples: ['shop.orders'],
      }),
    ),
    status: oneOf(transferPartStatuses, {
      description:
        'queued: waiting for a worker. running. succeeded: it is delivered, records can be rejected. failed, cancelled: it stopped before its end. skipped: no worker began it, because another part failed in a way that affects all parts, or because its table is new',
      examples: ['succeeded'],
    }),
    attempt: count('Number of attempts; more than 1 after a crash', 1),
    records: exactly(
      {
        read: count('Records read from the source', 500_000),
        accepted: count('Records that the destination accepted', 499_000),
        rejected: count('Records that were rejected', 1_000),
      },
      { description: 'Record counts of the part; the counts of the transfer are the sums of its parts' },
    ),
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Processed share of the part, 0 to 1',
      examples: [1],
    }),
    startedTime: maybe(unixSeconds('When a worker first claimed it')),
    finishedTime: maybe(unixSeconds('When it ended')),
    error: maybe(
      Type.Unsafe<TransferError>({
        ...TransferError,
        description: 'Why it failed, or the error after which it is being retried',
      }),
    ),
  },
  { description: 'Part of a transfer' },
)
export type TransferPart = Static<typeof TransferPart>
