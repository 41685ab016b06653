import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { audiences } from './audience.ts'
import { changeLog, leftSlot } from './change-log.ts'
import { count, exactly, flag, identifier, tableNames, text, unixSeconds } from './kinds.ts'

/** The state that a connection keeps from one transfer to the next. */
export const ConnectionState = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    cursor: flag('Whether incremental reading continues after a record', true),
    rows: count('Number of rows at the destination, if only changed rows are sent', 1000),
    since: Type.Union([unixSeconds('When the first of these rows was sent'), Type.Null()], {
      description: 'Since when rows are kept, Unix time in seconds; null: no rows are kept',
      examples: [example.createdTime],
    }),
    mirrored: flag('Whether the keys of the rows are kept, so that a mirror removes rows that leave the source', false),
    removed: count('Rows that the last transfer removed at the destination', 0),
    removedRowsStay: Type.Optional(
      text(
        'Warning that the next transfer copies a table again whose changes were read, and that rows that were removed in the meantime can stay at the destination. Absent if no rows can stay',
        'The table is copied again. Rows that were removed from it since 2026-11-28 12:00 UTC, when the last transfer succeeded, and before the copy can stay at the destination. Remove them there.',
      ),
    ),
    afresh: Type.Optional(
      text(
        'Why the next transfer reads the source from its beginning although there is a cursor: settings of the connection or of a connector were changed since the last transfer. Absent if it continues',
        'The next transfer reads the source from its beginning, because the last transfer ran with other settings: "Table" of the source.',
      ),
    ),
    changeLog: Type.Optional(changeLog),
    audiences: Type.Optional(audiences),
    leftSlots: Type.Optional(
      Type.Array(leftSlot, {
        description: 'Slots that the connection used and no longer reads. Absent if there are no such slots',
      }),
    ),
  },
  { description: 'State of a connection' },
)
export type ConnectionState = Static<typeof ConnectionState>

/** Request of Reset Connection State. */
export const ResetConnectionState = Type.Object(
  {
    cursor: Type.Optional(flag('Deletes the cursor: the next transfer reads everything', true)),
    rows: Type.Optional(
      flag(
        'Deletes the list of rows at the destination: the next transfer sends every row. The keys of a mirror are kept, so that it still removes rows that left the source',
        true,
      ),
    ),
    slot: Type.Optional(
      flag(
        'Drops the replication slot, so that the server keeps its log no more, and forgets where reading continues: the next transfer creates the slot, and copies the table again',
        false,
      ),
    ),
    tables: Type.Optional(
      tableNames(
        limits.driftTablesMax,
        'With cursor, if the connection moves many tables: resets only these tables. The other tables continue',
      ),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'The parts of the state to delete; at least one of them',
  },
)
