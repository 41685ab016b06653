import { limits } from '../limits.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { count, exactly, flag, text } from './kinds.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** Rejected records of a transfer by their treatment in a replay: their sum is `rejected` of the transfer. */
export const Replayable = exactly(
  {
    replayable: count('Rejected records that a replay sends', 120),
    replayed: count('Rejected records that earlier replays delivered; they are not sent again', 20),
    notKept: count(
      'Rejected records that no replay can send: those of a test, those beyond the number or time that the operator keeps, very large ones, and those of which the destination reports only a count',
      10,
    ),
  },
  { description: 'What a replay sends of the rejected records' },
)
export type Replayable = Static<typeof Replayable>

/** Values by column. */
const rejectedValues = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  description: `The record as it was read, by column; of each value up to ${limits.rejectValueLengthMax} characters. Of a record that is not kept whole, or is too large to show, only the kind and the length of each value: "j… (16)"`,
  examples: [{ email: 'jane.doe(at)example.com', country: 'de' }],
})

/** A record that was not taken. */
export const Reject = exactly(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'Names the entry among those of the transfer, to correct its values',
      examples: [3],
    }),
    row: maybe(
      Type.Integer({
        minimum: 1,
        description: 'Number of the record in the source, from 1; null if the destination reports only a count',
        examples: [17],
      }),
    ),
    count: Type.Integer({
      minimum: 1,
      description: 'How many records this stands for; 1 where row is known',
      examples: [1],
    }),
    field: maybe(text('Field that caused it, if known', 'email')),
    reason: text('Why it was rejected', 'email is not an e-mail address'),
    record: rejectedValues,
    edited: maybe(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
        description: 'The record as a replay sends it, if values of it were corrected',
        examples: [{ email: 'jane.doe@example.com', country: 'de' }],
      }),
    ),
    editable: flag(
      'Whether its values can be corrected: they are kept whole, can be shown, and no replay has delivered the record',
      true,
    ),
  },
  { description: 'Rejected record' },
)
export type Reject = Static<typeof Reject>

/** Request of Edit Rejects. */
export const EditRejects = exactly(
  {
    edits: Type.Array(
      exactly(
        {
          number: Type.Integer({
            minimum: 1,
            maximum: 2_147_483_647,
            description: 'Number of the entry, as the list of rejected records has it',
            examples: [3],
          }),
          record: Type.Record(
            Type.String(),
            Type.Union([Type.String({ maxLength: limits.rejectEditLengthMax }), Type.Null()]),
            {
              maxProperties: limits.rejectEditColumnsMax,
              description:
                'Corrected values by column; all other columns keep the value that was read. Empty: takes back all corrections. A number or a boolean stays one if the text is one',
              examples: [{ email: 'jane.doe@example.com' }],
            },
          ),
        },
        { description: 'Corrected values of one rejected record' },
      ),
      { minItems: 1, maxItems: limits.rejectEditsMax, description: 'Corrections, each of another rejected record' },
    ),
  },
  { description: 'Corrections of rejected records' },
)

/** Response of Edit Rejects. */
export const EditedRejects = exactly(
  {
    edited: count('Rejected records whose values are corrected now', 2),
    restored: count('Rejected records whose corrections were taken back', 0),
  },
  { description: 'Corrected rejected records' },
)
export type EditedRejects = Static<typeof EditedRejects>
