import { example } from '../examples.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, flag, identifier, unixSeconds } from './kinds.ts'

/** The state that a connection keeps from one transfer to the next. */
export const ConnectionState = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    cursor: flag('Whether incremental reading continues after a record', true),
    rows: count('Rows that the destination has, if only changed rows are sent', 1000),
    since: Type.Union([unixSeconds('When the first of these rows was sent'), Type.Null()], {
      description: 'Since when rows are kept, Unix time in seconds; null: none are',
      examples: [example.createdTime],
    }),
    mirrored: flag('Whether the keys of the rows are kept, so that a mirror removes rows that leave the source', false),
    removed: count('Rows that the last transfer removed at the destination', 0),
  },
  { description: 'State of a connection' },
)
export type ConnectionState = Static<typeof ConnectionState>

/** Request of Reset Connection State. */
export const ResetConnectionState = Type.Object(
  {
    cursor: Type.Optional(
      flag('Forgets where incremental reading continues: the next transfer reads everything', true),
    ),
    rows: Type.Optional(
      flag(
        'Forgets which rows the destination has: the next transfer sends every row. The keys of a mirror stay, so that it still removes rows that left the source',
        true,
      ),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'The parts of the state to forget; at least one of both',
  },
)
