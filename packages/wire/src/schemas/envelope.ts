import { example } from '../examples.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { exactly, text } from './kinds.ts'
import { TransferError } from './transfer.ts'

/** Content of every refusal in the envelope's `response`. */
export const Refused = exactly(
  {
    error: text('Code from docs/errors.md', 'invalid_request'),
    requestId: text('Identifier of this request in the service’s log', example.requestId),
    details: Type.Array(
      exactly(
        { field: text('Field that is wrong', 'body.name'), message: text('What to do about it', 'must not be blank') },
        { description: 'Field error' },
      ),
      { description: 'Every field error of the request; empty if no field is wrong' },
    ),
    cause: Type.Optional(
      Type.Unsafe<TransferError>({
        ...TransferError,
        description: 'With `platform_refused`: what went wrong, and at which side of the connection',
      }),
    ),
  },
  { description: 'Refusal' },
)
export type Refused = Static<typeof Refused>

/** Section 2.1: the envelope around a payload. */
export const envelope = <S extends TSchema>(response: S, shown = { statusCode: 200, statusMessage: 'OK' }) =>
  exactly(
    {
      statusCode: Type.Integer({
        description: 'Equals the HTTP status',
        examples: [shown.statusCode],
      }),
      statusMessage: text('The outcome in words', shown.statusMessage),
      response,
    },
    { description: 'Envelope' },
  )
