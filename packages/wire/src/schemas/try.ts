import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { ShownAnswer, UnsavedConfiguration } from './ask.ts'
import { ConnectionConfig } from './connection.ts'
import { exactly, text, unixSeconds } from './kinds.ts'
import { TransferError } from './transfer.ts'

/** A few rows for a destination, for people who write its definition (ours). */

/** Request of Try Destination. */
export const TryDestination = exactly(
  {
    secretConfig: UnsavedConfiguration,
    settings: Type.Optional(
      Type.Unsafe<ConnectionConfig>({
        ...ConnectionConfig,
        description: 'Settings of a connection, such as the operation',
        examples: [{ operation: 'upsert people' }],
      }),
    ),
    rows: Type.Array(
      Type.Record(
        Type.String({ minLength: 1, maxLength: 200 }),
        Type.Union([Type.String({ maxLength: limits.triedValueLengthMax }), Type.Null()]),
        { maxProperties: limits.triedColumnsMax, description: 'Values of a row by the columns of the destination' },
      ),
      {
        minItems: 1,
        maxItems: limits.triedRowsMax,
        description: 'Rows to deliver',
        examples: [[{ email: 'ada@example.com' }]],
      },
    ),
  },
  {
    description: 'Rows to try',
    examples: [{ settings: { operation: 'upsert people' }, rows: [{ email: 'ada@example.com' }] }],
  },
)
export type TryDestination = Static<typeof TryDestination>

/** Response of Try Destination. */
export const DestinationTrial = exactly(
  {
    exchanges: Type.Array(
      exactly(
        {
          request: exactly(
            {
              method: text('HTTP method', 'POST'),
              url: text('Address, without credentials', 'https://api.example.com/v1/people'),
              text: text('Body, without secrets; empty if there is none', '{"people":[{"email":"ada@example.com"}]}'),
            },
            { description: 'The request' },
          ),
          answer: ShownAnswer,
        },
        { description: 'A request and its answer' },
      ),
      { description: 'Requests in their order, without requests that only sign in' },
    ),
    rows: Type.Array(
      exactly(
        {
          state: Type.Union([Type.Literal('accepted'), Type.Literal('rejected'), Type.Literal('unknown')], {
            description:
              'Result of the row. `unknown`: the delivery failed, or the destination counted rejected rows and did not name them',
            examples: ['accepted'],
          }),
          reason: Type.Union([text('Why the row was rejected', 'The API says: no address.'), Type.Null()], {
            examples: [null],
          }),
        },
        { description: 'Result of a row' },
      ),
      { description: 'Results in the order of the rows' },
    ),
    error: Type.Union(
      [Type.Unsafe<TransferError>({ ...TransferError, description: 'Why the rows were not delivered' }), Type.Null()],
      { description: 'Why the rows were not delivered', examples: [null] },
    ),
    triedTime: unixSeconds('When the rows were sent'),
  },
  { description: 'Requests, answers and results of a few rows' },
)
export type DestinationTrial = Static<typeof DestinationTrial>
