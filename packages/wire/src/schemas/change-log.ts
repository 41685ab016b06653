import { example } from '../examples.ts'
import { changeLogStatuses } from '../terms.ts'
import { type TSchema, Type } from '../type.ts'
import { count, exactly, flag, oneOf, text, unixSeconds } from './kinds.ts'

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

const server = text('Host, port and database of the server', 'db.example.com:5432/crm')

/** The last measurement of the server log from which a connection reads changes. Not in the specification. */
export const changeLog = exactly(
  {
    server,
    slot: orNull(
      text(
        'Replication slot for which the server keeps its log, also while the connection is disabled or deleted; null: the server keeps nothing for a connection',
        'penstock_people',
      ),
    ),
    status: orNull(
      oneOf(changeLogStatuses, {
        description:
          'Whether the server has all changes that were not read yet. reserved: yes. extended: yes, beyond max_wal_size. unreserved: it removes them soon. lost: it has removed them. null: not measured yet, or no transfer has read from the log',
        examples: ['reserved'],
      }),
    ),
    keptBytes: orNull(count('Bytes that the server keeps for the slot', 52_428_800)),
    safeBytes: orNull(
      count('Bytes that it can still write before it removes changes; null: without a limit', 1_073_741_824),
    ),
    limitBytes: orNull(count('Most bytes that it keeps for a slot; null: without a limit', 21_474_836_480)),
    behindBytes: orNull(count('Bytes of the log that the next transfer reads', 1_048_576)),
    behindFiles: orNull(count('Files of the binary log that the next transfer reads', 1)),
    olderFiles: orNull(count('Older files of the binary log that the server has', 6)),
    keptSeconds: orNull(count('Seconds for which the server keeps its binary log; null: without a limit', 604_800)),
    deliveredTime: orNull(unixSeconds('Changes that were committed until then are delivered', example.createdTime)),
    measuredTime: orNull(unixSeconds('When the log was measured')),
    problem: orNull(text('Why the log could not be measured the last time', 'db.example.com does not answer.')),
    warns: flag('Whether it needs attention: the server keeps very much, or will not have the changes', false),
  },
  { description: 'Log of the server from which changes are read, as it was last measured' },
)

/** A replication slot that the connection used and no longer reads. Not in the specification. */
export const leftSlot = exactly(
  {
    server,
    slot: text('Replication slot', 'penstock_people'),
    since: unixSeconds('When a worker noticed that the connection no longer reads it'),
    stays: flag('Whether it must be dropped by a person; if not, it is being dropped', false),
    problem: orNull(text('Why it is not dropped yet', 'db.example.com does not answer.')),
    statement: text('Statement that drops it', "SELECT pg_drop_replication_slot('penstock_people');"),
  },
  { description: 'Slot that the connection no longer reads' },
)
