import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { Configure } from './configuration.ts'
import { ConnectionConfig } from './connection.ts'
import { count, exactly, flag, text, unixSeconds } from './kinds.ts'
import { TransferError } from './transfer.ts'

/** One request of a source, for people who write its definition (not in the specification). */

export const UnsavedConfiguration = Type.Optional(
  Type.Unsafe<Static<typeof Configure>['secretConfig']>({
    ...Configure.properties.secretConfig,
    description:
      'Unsaved values of the configuration. Given keys replace saved values, omitted keys are kept, null clears, ******** keeps the saved secret',
    examples: [{ url: 'https://api.example.com/v1' }],
  }),
)

/** Request of Ask Source. */
export const AskSource = exactly(
  {
    secretConfig: UnsavedConfiguration,
    settings: Type.Optional(
      Type.Unsafe<ConnectionConfig>({
        ...ConnectionConfig,
        description: 'Settings of a connection, such as the stream',
        examples: [{ stream: 'orders' }],
      }),
    ),
    page: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.askPageLengthMax,
        description: '`next` of the previous answer; omitted: the first page',
        examples: ['2'],
      }),
    ),
  },
  { description: 'Request to send', examples: [{ settings: { stream: 'orders' } }] },
)
export type AskSource = Static<typeof AskSource>

/** The answer of a platform to one request, as a person may see it. */
export const ShownAnswer = exactly(
  {
    status: Type.Integer({ description: 'HTTP status', examples: [200] }),
    headers: Type.Array(
      exactly(
        { name: text('Name', 'content-type'), value: text('Value, without secrets', 'application/json') },
        { description: 'Header of the answer' },
      ),
    ),
    text: text('Body, without secrets', '{"orders":[{"id":1}]}'),
    json: flag('Whether `text` is JSON'),
    entriesMax: Type.Union([count('Entries', 100), Type.Null()], {
      description:
        'Number of entries after which lists and objects are cut, so that the body is small enough; null if they are complete',
      examples: [null],
    }),
    bytes: count('Bytes of the received body', 21),
    durationMs: count('Milliseconds until the answer was complete', 132),
  },
  { description: 'The answer' },
)

/** Response of Ask Source. */
export const SourceAnswer = exactly(
  {
    request: Type.Union(
      [
        exactly(
          {
            method: text('HTTP method', 'GET'),
            url: text('Address, without credentials', 'https://api.example.com/v1/orders?page=1'),
          },
          { description: 'The request' },
        ),
        Type.Null(),
      ],
      { description: 'Request that was answered; null without an answer' },
    ),
    answer: Type.Union([ShownAnswer, Type.Null()], { description: 'Answer; null if there was no answer' }),
    error: Type.Union(
      [
        Type.Unsafe<TransferError>({ ...TransferError, description: 'Why a transfer could not use the answer' }),
        Type.Null(),
      ],
      { description: 'Why there was no answer, or why a transfer could not use it', examples: [null] },
    ),
    columns: Type.Array(text('Column of the source', 'id'), { description: 'Columns that a transfer would read' }),
    rows: Type.Array(Type.Array(Type.Union([text('Value, shortened as in a preview', '1'), Type.Null()])), {
      description: `Up to ${limits.previewRowsMax} rows that a transfer would read from the answer`,
    }),
    next: Type.Union([text('`page` of the next request; null on the last page', '2'), Type.Null()]),
    askedTime: unixSeconds('When the request was sent'),
  },
  { description: 'Answer of a source to one request' },
)
export type SourceAnswer = Static<typeof SourceAnswer>
