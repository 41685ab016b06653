import { limits } from '../limits.ts'
import { normalisations } from '../normalisations.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { count, exactly, flag, oneOf, text, viewId } from './kinds.ts'
import { OtherFaults } from './row-faults.ts'
import { runTimeConfigs } from './transfer.ts'
import { TransferRoute } from './transfer-route.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** Request of Preview Connection. */
export const PreviewConnection = exactly(
  {
    ...runTimeConfigs,
    unmapped: Type.Optional(
      flag('Returns the records with the columns of the source, before the mapping, and `matches`', true),
    ),
    view: viewId,
    formsOf: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLengthMax,
        description:
          'With `partial`: a field of the mapping. `forms` of the response shows its values in each form of `normalise`',
        examples: ['phone'],
      }),
    ),
    partial: Type.Optional(
      flag(
        'If a part of the mapping is invalid, shows the valid fields, and returns `mappingErrors`. The destination is not asked',
        true,
      ),
    ),
  },
  { description: 'Options of the preview', examples: [{}] },
)

const index = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description: `${description}, in UTF-16 code units`, examples: [example] })

/** Why an expression is wrong, and where. */
const Problem = exactly(
  {
    at: index('Index of the part that is wrong, from 0', 6),
    length: index('Length of this part', 6),
    message: text('The problem as a sentence', 'The expression has no column contry. Did you mean country?'),
    fix: Type.Optional(
      exactly(
        {
          at: index('Index of the part to replace, from 0', 6),
          length: index('Length of this part', 6),
          text: text('Text to write instead', 'country'),
        },
        { description: 'Correction, if there is only one' },
      ),
    ),
  },
  { description: 'Problem of an expression, with its place in the text' },
)

/** Response of Preview Connection. */
export const Preview = exactly(
  {
    columns: Type.Array(
      text('Field of the destination, or column of the source if the destination accepts any columns', 'email'),
      {
        description: 'The fields that would be sent',
      },
    ),
    rows: Type.Array(
      Type.Array(maybe(text('Value as it would be sent; a mask unless the request has a `view`', 'xxxxxxxx…'))),
      {
        description:
          'Up to 100 records as they would be sent. Values that can identify a person are masks without a `view`',
      },
    ),
    createdColumns: Type.Optional(
      Type.Array(
        exactly(
          { name: text('Name of the column', 'zip'), type: text('Type, in the words of the platform', 'text') },
          { description: 'Column of the table that is created' },
        ),
        {
          description:
            'Columns of the table that a transfer would create, with their types. The setting columnTypes of the destination changes them. Absent if no table is created',
        },
      ),
    ),
    sourceTypes: Type.Optional(
      Type.Array(maybe(text('Type, or `text`, `number` or `boolean` if the source declares no types', 'text')), {
        description:
          'With `unmapped`: the type of each of the `columns` in the source. Null without values, or with values of several kinds',
      }),
    ),
    filtered: count('Number of read records that the filter skips', 0),
    duplicates: count('Number of read records with the same key as another record that is sent', 0),
    noConsent: count('Number of read records without the consent that the connection requires', 0),
    controlGroup: count('Number of read records of the control group', 0),
    rejected: Type.Array(
      exactly(
        {
          row: Type.Integer({ minimum: 1, description: 'Number of the record, from 1', examples: [3] }),
          field: maybe(text('Field that caused it, if known', 'email')),
          reason: text('Why it would not be sent', 'email is not an e-mail address'),
          otherFaults: OtherFaults,
        },
        { description: 'Record that would not be sent' },
      ),
    ),
    lint: Type.Array(
      exactly(
        {
          field: text('Field of the destination', 'email'),
          column: text('Column of the source that fills it, or the expression', 'E-Mail'),
          records: count('Records looked at', 100),
          missing: count('Records without a value', 2),
          malformed: count('Values that cannot be converted to the format of the field', 1),
          unnormalised: count('Values that were normalised', 12),
          alreadyHashed: count('Values that are hashed already', 0),
          hashedTwice: count('Values that look hashed twice', 0),
          wrongHashLength: count('Values that look like a hash of another kind', 0),
          mixedKinds: count('Values of another kind than most values of the column', 0),
          samples: Type.Array(
            exactly(
              {
                before: text('Value of the source, shown like `rows`', 'Xxx@xxxx….xxx'),
                after: maybe(text('Value as it would be sent; null if it cannot be used', 'xxxxxxxx…')),
              },
              { description: 'Value before and after the mapping' },
            ),
            { description: 'Up to 3 different values: a valid one, an invalid one, then others' },
          ),
          forms: Type.Optional(
            Type.Array(
              exactly(
                {
                  setting: oneOf(['numbers', 'dates', 'timezone'] as const, {
                    description: 'Key of the mapping entry that defines the form of the values',
                    examples: ['numbers'],
                  }),
                  proposed: maybe(
                    text('Value of that key for which all values are valid; null if it is ambiguous', 'comma'),
                  ),
                  reason: oneOf(['shown', 'ambiguous', 'contradicting', 'missing', 'default'] as const, {
                    description:
                      '`shown`: a value can be read in only one way. `ambiguous`: values can be read in two ways. `contradicting`: some values can be read only in one way, others only in the other way. `missing`: times have no time zone. `default`: times have no time zone, and `defaultTimezone` of the destination applies',
                    examples: ['shown'],
                  }),
                  example: maybe(text('Value that shows it; null if it is too long', '1.001,50')),
                },
                { description: 'Finding about the form of values' },
              ),
              {
                description:
                  'Forms of numbers and times that the mapping does not define: detected from the values, or ambiguous. A proposal has no effect until it is in the mapping',
              },
            ),
          ),
        },
        { description: 'Statistics on the values of one field' },
      ),
    ),
    findings: Type.Array(
      exactly(
        {
          code: text('Stable code; equals the error code of a transfer that would fail', 'column_not_found'),
          message: text('What was found, and what to do', 'The table people has no column city; add it.'),
          column: maybe(text('Column of the problem, or null', 'city')),
        },
        {
          description:
            'Problem that would make a transfer fail, reject or skip records, or not read rows of the source',
        },
      ),
      {
        maxItems: limits.previewFindingsMax,
        description:
          'Problems that the source and the destination report for these fields; empty without problems, if the connectors do not support this, and with `unmapped`',
      },
    ),
    route: Type.Optional(TransferRoute),
    matches: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Field of the destination', 'email'),
            column: maybe(text('Column that matches by name; null if this is not certain', 'E-Mail Address')),
            candidates: Type.Array(Type.String(), {
              description: 'Possible columns if no column matches with certainty',
              examples: [['Billing Country', 'Shipping Country']],
            }),
            byDefault: maybe(text('Column that a transfer uses if the mapping does not contain the field', 'email')),
          },
          { description: 'Columns that match a field by name' },
        ),
        {
          description:
            'With `unmapped`: proposals for a mapping, for fields that match a column by name. A transfer uses only `byDefault`',
        },
      ),
    ),
    sampled: Type.Optional(
      exactly(
        {
          rows: count('Rows of the source from which `readings` and `sourceTypes` follow', 20_000),
          whole: flag('Whether these are all rows of the source', false),
        },
        {
          description:
            'With `unmapped`, if the source declares no types: the rows from which types are proposed. Of a file, these are all rows, at most 50,000 rows, 400,000 values or 5 seconds. A later value that does not fit the type is rejected',
        },
      ),
    ),
    readings: Type.Optional(
      Type.Array(
        exactly(
          {
            column: text('Column of the source', 'Umsatz'),
            records: count('Values looked at', 100),
            reason: oneOf(['shown', 'mostly', 'ambiguous', 'contradicting'] as const, {
              description:
                '`shown`: all values can be read in one way. `mostly`: at least 80 % can, and the other values in no way. `ambiguous`: they can be read in two ways. `contradicting`: some can be read only in one way, others only in the other way',
              examples: ['shown'],
            }),
            choices: Type.Array(
              exactly(
                {
                  reading: exactly(
                    {
                      numbers: Type.Optional(
                        oneOf(['comma', 'point'] as const, {
                          description: 'Sign before decimals',
                          examples: ['comma'],
                        }),
                      ),
                      unit: Type.Optional(text('Unit next to the numbers', '€')),
                      dates: Type.Optional(
                        oneOf(['DMY', 'MDY', 'YMD'] as const, {
                          description: 'Order of day, month and year',
                          examples: ['DMY'],
                        }),
                      ),
                      values: Type.Optional(
                        Type.Record(Type.String(), Type.String(), { description: 'Value for each word' }),
                      ),
                    },
                    {
                      description: 'Keys of a mapping entry; none if the destination reads the values as they are',
                      examples: [{ numbers: 'comma' }],
                    },
                  ),
                  type: text('Type for `columnTypes` of the destination', 'numeric'),
                  fits: count('Values that can be read in this way', 100),
                  before: text('Value of the source, shown like `rows`', '1.234,56'),
                  after: text('Value as it would be sent', '1234.56'),
                },
                { description: 'Way to read the values' },
              ),
              { description: 'Ways to read the values, one or two' },
            ),
            others: Type.Array(text('Value of the source, shown like `rows`', 'n/a'), {
              description:
                'Up to 3 different values that can be read in none of these ways; a transfer would reject them',
            }),
          },
          { description: 'Column whose values are or mostly are numbers, times or booleans' },
        ),
        {
          description:
            'With `unmapped`: columns whose values are numbers, times or booleans in a local form, or mostly are numbers, times or booleans, if the destination has types and accepts any columns. A choice has no effect until it is in the mapping, and its type in `columnTypes` of the destination',
        },
      ),
    ),
    mappingErrors: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Path of the field in the settings', 'destConnectionConfig.mapping.email'),
            message: text('The problem, and what to do', 'has no column in the source'),
            place: Type.Optional(Problem),
          },
          { description: 'Error of a field of the mapping' },
        ),
        { description: 'With `partial`: why the mapping is invalid; absent if it is valid' },
      ),
    ),
    expressions: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Path of the expression in the settings', 'destConnectionConfig.mapping.net'),
            columns: Type.Array(Type.String(), {
              description: 'Columns that the expression reads, up to 4',
              examples: [['price']],
            }),
            records: count('Records looked at', 100),
            failed: count('Records for which the expression has no valid value', 7),
            met: count('Records for which the value is true', 0),
            rows: Type.Array(
              exactly(
                {
                  row: Type.Integer({ minimum: 1, description: 'Number of the record, from 1', examples: [3] }),
                  inputs: Type.Array(maybe(text('Value of a column', '59,90')), {
                    description: 'Values of `columns`, in their order',
                  }),
                  value: maybe(text('Value of the expression; null if it is empty or fails', '50.34')),
                  problem: maybe(Problem),
                },
                { description: 'Record with the value of the expression' },
              ),
              {
                description:
                  'Up to 12 records in groups of 3; one of a group fails as long as there are records that fail',
              },
            ),
          },
          { description: 'Expression of the mapping, or the filter' },
        ),
        { description: 'With `partial`: results of the valid expressions for the records; absent without expressions' },
      ),
    ),
    forms: Type.Optional(
      exactly(
        {
          field: text('Field of the mapping', 'phone'),
          records: count('Values looked at', 98),
          values: Type.Array(text('Value', '0171 5550123'), { description: 'Up to 3 different values' }),
          forms: Type.Array(
            exactly(
              {
                form: oneOf(normalisations, { description: 'Form of `normalise`', examples: ['phone-e164'] }),
                fits: count('Values that can be brought into the form', 97),
                values: Type.Array(maybe(text('Value in the form; null if it does not fit', '+491715550123')), {
                  description: 'The `values` above in this form',
                }),
              },
              { description: 'Form, and the values that fit it' },
            ),
            { description: 'All forms' },
          ),
        },
        { description: 'With `formsOf`: its values in each form; absent if nothing fills the field' },
      ),
    ),
    masked: Type.Optional(flag('Values that can identify a person are masks. Absent if all values are whole', true)),
  },
  { description: 'Records that a transfer would send, and problems at the source and at the destination' },
)
export type Preview = Static<typeof Preview>
