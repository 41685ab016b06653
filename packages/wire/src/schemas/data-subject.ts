import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, identifier, text, unixSeconds } from './kinds.ts'
import { Reject } from './reject.ts'

/** One person in the kept records (not in the specification). */

/** A place among transfers, or, with `s`, among streams. */
const cursorPattern = '^s?[0-9a-f]{16}-[0-9]{1,16}$'

/** Request of Find Data Subject and of Erase Data Subject. */
export const DataSubject = exactly(
  {
    values: Type.Array(
      Type.String({
        minLength: limits.personValueLengthMin,
        maxLength: limits.personValueLengthMax,
        pattern: '\\S',
        description: 'An e-mail address, a telephone number, or another identifier of the person',
      }),
      {
        minItems: 1,
        maxItems: limits.personValuesMax,
        description:
          'Values that identify the person. A record belongs to the person if one of its values equals one of these in any letter case, contains it as a word, is the same telephone number in another form, or is its SHA-256 or MD5 digest',
        examples: [['jane.doe@example.com', '+49 30 1234567']],
      },
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: cursorPattern,
        description: '`next` of the previous response, with the same values',
        examples: [`${example.transferId}-17`],
      }),
    ),
  },
  { description: 'One person, by values that identify the person' },
)
export type DataSubject = Static<typeof DataSubject>

const progress = {
  searched: count('Number of records that this call searched', 5_000),
  notKept: count(
    'Number of these records without kept values: only the kind and length of values are kept, and the reason, which was searched',
    12,
  ),
  next: Type.Union([
    text(
      '`cursor` of the next call, which continues with older transfers, and then with streams',
      `${example.transferId}-17`,
    ),
    Type.Null(),
  ]),
}

const elsewhere = exactly(
  {
    users: Type.Union(
      [
        Type.Array(
          exactly(
            { id: identifier('the person', example.ownerId), name: text('Name or e-mail address', 'Jane Doe') },
            { description: 'Person who can sign in' },
          ),
          { description: 'People of the organization with one of these e-mail addresses' },
        ),
        Type.Null(),
      ],
      { description: 'People of the organization; null: the caller lacks `users:read`' },
    ),
    files: count('Number of uploaded files that are kept. They are sealed, and no search reads them', 2),
    filesUntil: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'When the last of these files is deleted, Unix time in seconds; null: no files',
      examples: [example.createdTime],
    }),
    rejectDays: Type.Integer({
      minimum: 0,
      description: 'Number of days for which rejected records are kept. Accepted records are not kept',
      examples: [30],
    }),
  },
  { description: 'Places other than rejected records' },
)

/** Response of Find Data Subject. */
export const FoundDataSubject = exactly(
  {
    records: Type.Array(
      exactly(
        {
          accountId: identifier('the sub-account', example.accountId),
          accountName: text('Name of the sub-account', 'Acme Outdoor'),
          connectionId: identifier('the connection', example.connectionId),
          connectionName: text('Name of the connection', 'Orders to Meta'),
          transferId: identifier('the transfer that rejected the record', example.transferId),
          transferTime: unixSeconds('When the transfer was requested', example.createdTime),
          deliveredTime: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
            description:
              'When the transfer was requested that delivered the record later, Unix time in seconds; null: no replay delivered it',
            examples: [null],
          }),
          row: Reject.properties.row,
          field: Reject.properties.field,
          reason: Reject.properties.reason,
          record: Reject.properties.record,
        },
        { description: 'Rejected record of the person' },
      ),
      { description: 'Rejected records of the person, beginning with the newest transfer' },
    ),
    events: Type.Array(
      exactly(
        {
          accountId: identifier('the sub-account', example.accountId),
          accountName: text('Name of the sub-account', 'Acme Outdoor'),
          streamId: identifier('the event stream, or the record of outcomes', example.source.configurationId),
          streamName: text('Name of the configuration', 'Shop clicks'),
          number: count('Number of the event in its stream', 17),
          receivedTime: unixSeconds('When it was stored', example.createdTime),
          event: text('The event or the outcome, as JSON', '{"userId":"jane.doe@example.com"}'),
        },
        { description: 'Event or outcome of the person' },
      ),
      { description: 'Events of streams and outcomes of rows that name the person' },
    ),
    elsewhere: Type.Union([elsewhere, Type.Null()], {
      description: 'Other places that keep something; null: this call continues with a `cursor`',
    }),
    ...progress,
  },
  { description: 'Kept records of a person' },
)
export type FoundDataSubject = Static<typeof FoundDataSubject>

/** Response of Erase Data Subject. */
export const ErasedDataSubject = exactly(
  {
    erased: count('Number of records, events and outcomes that this call erased', 3),
    ...progress,
    activeTransfers: count(
      'Number of active transfers, which can still reject a record of the person: erase again once they have ended',
      0,
    ),
  },
  { description: 'Erased records of a person' },
)
export type ErasedDataSubject = Static<typeof ErasedDataSubject>
