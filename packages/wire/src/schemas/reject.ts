import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { placeUnits, rejectStates } from '../reject-terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { count, exactly, flag, identifier, oneOf, text } from './kinds.ts'
import { OtherFaults } from './row-faults.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** Rejected records of a transfer by their treatment in a replay: their sum is `rejected` of the transfer. */
export const Replayable = exactly(
  {
    replayable: count(
      'Rejected records that a replay reads again. It rejects superseded records again, and structural records that are not corrected',
      120,
    ),
    replayed: count('Rejected records that earlier replays delivered; they are not sent again', 20),
    notKept: count(
      'Rejected records that no replay can send: records of a test, records beyond the number or time that the operator keeps, very large records, and records of which the destination reports only a count',
      10,
    ),
  },
  { description: 'Rejected records by their treatment in a replay' },
)
export type Replayable = Static<typeof Replayable>

/** Values by column. */
const rejectedValues = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  description: `The record as it was read, by column, with up to ${limits.rejectValueLengthMax} characters of each value. If a record is not kept whole, or is too large to show, only the kind and the length of each value: "j… (16)"`,
  examples: [{ email: 'jane.doe(at)example.com', country: 'de' }],
})

/** A rejected record. */
export const Reject = exactly(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'Number of the entry in the transfer, to correct its values',
      examples: [3],
    }),
    table: Type.Optional(text('The table of the record, if the connection moves many tables', 'shop.orders')),
    row: maybe(
      Type.Integer({
        minimum: 1,
        description:
          'Number of the record in the source or the table, from 1; null if the destination reports only a count',
        examples: [17],
      }),
    ),
    place: maybe(
      exactly(
        {
          file: text('The file, as the source lists it. A spreadsheet without files: the sheet', 'orders.csv'),
          sheet: maybe(text('The sheet of a workbook', 'Orders')),
          unit: oneOf(placeUnits, {
            description:
              'Unit of the number: lines of a text file, rows of a sheet, or records of a file of another format. A line that is continued inside quotes is counted for each of its line breaks',
            examples: ['line'],
          }),
          number: Type.Integer({
            minimum: 1,
            description: 'Number of the first line, row or record, from 1, with header, empty and skipped lines',
            examples: [18],
          }),
        },
        {
          description:
            'Place of the record in its file; null if the source has no files, or row is null. A replay keeps it',
        },
      ),
    ),
    count: Type.Integer({
      minimum: 1,
      description: 'Number of records that the entry represents; 1 if row is known',
      examples: [1],
    }),
    field: maybe(text('Field that caused it, if known', 'email')),
    reason: text('Why it was rejected', 'email is not an e-mail address'),
    otherFaults: OtherFaults,
    record: rejectedValues,
    edited: maybe(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
        description: 'The record with its corrected values, as a replay sends it',
        examples: [{ email: 'jane.doe@example.com', country: 'de' }],
      }),
    ),
    structural: flag(
      'Whether the source could not read the record, for example because a line has too many values. A replay rejects it again until it is corrected',
      false,
    ),
    superseded: flag(
      'Whether a later record with the same key was delivered. A replay rejects the record again, so that it does not replace newer data',
      false,
    ),
    editable: flag(
      'Whether its values can be corrected: they are kept whole, can be shown, no replay has delivered the record, and it is not superseded',
      true,
    ),
    state: oneOf(rejectStates, {
      description:
        'waiting: a replay sends it as it was read. needs_correction: it is structural and not corrected, so no replay sends it. corrected: a replay sends its corrected values. sending: an active replay sends it. accepted: a replay delivered it. rejected_again: the last replay rejected it. left_out: it is superseded. expired: its values are not kept, so it cannot be sent again',
      examples: ['waiting'],
    }),
    resent: maybe(
      exactly(
        {
          transferId: identifier('the replay', example.transferId),
          reason: maybe(
            text(
              'Why the replay rejected it; null if it did not, or if the reason is not kept any more',
              'email is not an e-mail address',
            ),
          ),
          otherFaults: OtherFaults,
        },
        { description: 'The last replay of this transfer that sent the record; null if there is none' },
      ),
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
            description: 'Number of the entry in the list of rejected records',
            examples: [3],
          }),
          record: Type.Record(
            Type.String(),
            Type.Union([Type.String({ maxLength: limits.rejectEditLengthMax }), Type.Null()]),
            {
              maxProperties: limits.rejectEditColumnsMax,
              description:
                'Corrected values by column; all other columns keep their original value. Empty: removes all corrections. The value stays a number or a boolean if the text is one',
              examples: [{ email: 'jane.doe@example.com' }],
            },
          ),
        },
        { description: 'Corrected values of one rejected record' },
      ),
      { minItems: 1, maxItems: limits.rejectEditsMax, description: 'Corrections, one for each rejected record' },
    ),
  },
  { description: 'Corrections of rejected records' },
)

/** Response of Edit Rejects. */
export const EditedRejects = exactly(
  {
    edited: count('Number of rejected records with corrected values', 2),
    restored: count('Number of rejected records whose corrections were removed', 0),
  },
  { description: 'Corrected rejected records' },
)
export type EditedRejects = Static<typeof EditedRejects>
