import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { columnChangeKinds, connectionSides, driftModes } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { exactly, flag, identifier, oneOf, tableNames, text } from './kinds.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** A column that changed since the last successful transfer. */
export const ColumnChange = exactly(
  {
    side: oneOf(connectionSides, { description: 'Side of the connection', examples: ['source'] }),
    change: oneOf(columnChangeKinds, {
      description:
        'added, removed, renamed: from and to are names. retyped: its type, whether it requires a value, or its part in the key changed',
      examples: ['retyped'],
    }),
    column: text('Name of the column; for a renamed column, its previous name', 'age'),
    from: maybe(text('Previous type or name; null if the column did not exist or its type is unknown', 'integer')),
    to: maybe(text('New type or name; null if the column does not exist or its type is unknown', 'text')),
  },
  { description: 'Changed column' },
)
export type ColumnChange = Static<typeof ColumnChange>

/** A list of changed columns. @param description for the documents */
export const columnChanges = (description: string) =>
  Type.Array(ColumnChange, { maxItems: limits.columnChangesMax, description, examples: [[]] })

const driftFields = {
  drift: oneOf(driftModes, {
    description:
      'ignore: transfers continue; if all columns are sent, tables of PostgreSQL and MySQL get new columns. stop: a transfer fails before its first record. add: new columns of the source are added to the mapping and to the table of the destination; other changes stop the transfer',
    examples: ['stop'],
  }),
}

/** Request of Set Drift. */
export const SetDrift = Type.Object(
  {
    drift: Type.Optional(driftFields.drift),
    accept: Type.Optional(flag('Accepts the changes that stopped the newest transfer', true)),
    tables: Type.Optional(
      tableNames(
        limits.driftTablesMax,
        'With accept, if the connection moves many tables: accepts only the changes of these tables',
      ),
    ),
    add: Type.Optional(
      flag(
        'With accept: the next transfer also adds the new columns of the source to the mapping and to the table of the destination, with drift stop too; not with ignore',
        true,
      ),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'Reaction to changed columns; at least one of both',
  },
)

const knownColumns = (side: string) =>
  maybe(
    Type.Array(
      exactly(
        {
          name: text('Name of the column', 'email'),
          type: maybe(text('Type, in the words of the platform; null if it is unknown', 'text')),
          required: flag('Whether it requires a value', false),
          key: flag('Whether it is part of the key', false),
        },
        { description: 'Column' },
      ),
      {
        maxItems: limits.shapeColumnsMax,
        description: `Columns of the ${side} in the last successful transfer; null if they are unknown`,
      },
    ),
  )

/** The setting for changed columns, and the known columns. */
export const Drift = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    ...driftFields,
    source: knownColumns('source'),
    destination: knownColumns('destination'),
    changes: columnChanges('Changes that stopped the newest transfer and are not accepted yet'),
    tables: Type.Optional(
      Type.Array(
        exactly(
          {
            table: text('Name of the table', 'shop.orders'),
            changes: columnChanges('Changes that stopped the table'),
          },
          { description: 'Table whose columns changed' },
        ),
        {
          maxItems: limits.driftTablesMax,
          description:
            'Of a connection that moves many tables: the first tables that changes stopped, if there are any',
        },
      ),
    ),
  },
  { description: 'How a connection reacts to changed columns' },
)
export type Drift = Static<typeof Drift>
