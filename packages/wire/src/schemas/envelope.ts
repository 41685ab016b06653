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
        { field: text('Invalid field', 'body.name'), message: text('How to fix it', 'must not be blank') },
        { description: 'Field error' },
      ),
      { description: 'Every field error of the request; empty without field errors' },
    ),
    cause: Type.Optional(
      Type.Unsafe<TransferError>({
        ...TransferError,
        description: 'With `platform_refused`: the error, and the side of the connection',
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
        description: 'The HTTP status',
        examples: [shown.statusCode],
      }),
      statusMessage: text('The result in words', shown.statusMessage),
      response,
    },
    { description: 'Envelope' },
  )
