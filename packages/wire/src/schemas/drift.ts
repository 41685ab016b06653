import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { columnChangeKinds, connectionSides, driftModes } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { exactly, flag, identifier, oneOf, text } from './kinds.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** A column that changed since the last successful transfer. */
export const ColumnChange = exactly(
  {
    side: oneOf(connectionSides, { description: 'Side of the connection', examples: ['source'] }),
    change: oneOf(columnChangeKinds, {
      description:
        'added, removed, renamed: from and to are names. retyped: its type, whether it needs a value, or its part in the key changed',
      examples: ['retyped'],
    }),
    column: text('Name of the column; of a renamed one, its name before', 'age'),
    from: maybe(text('What it was: the type, or the name; null if it was not there or its type is unknown', 'integer')),
    to: maybe(text('What it is: the type, or the name; null if it is not there or its type is unknown', 'text')),
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
      'ignore: transfers continue. stop: a transfer fails before its first record. add: columns that the source gained are added to the mapping and to the table of the destination; other changes stop',
    examples: ['stop'],
  }),
}

/** Request of Set Drift. */
export const SetDrift = Type.Object(
  {
    drift: Type.Optional(driftFields.drift),
    accept: Type.Optional(flag('Accepts the changes that stopped the newest transfer', true)),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'What to do if columns change; at least one of both',
  },
)

const knownColumns = (side: string) =>
  maybe(
    Type.Array(
      exactly(
        {
          name: text('Name of the column', 'email'),
          type: maybe(text('Type, in the words of the platform; null if it is unknown', 'text')),
          required: flag('Whether it needs a value', false),
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
    changes: columnChanges('Changes that stopped the newest transfer and are not accepted'),
  },
  { description: 'What a connection does if columns change' },
)
export type Drift = Static<typeof Drift>
