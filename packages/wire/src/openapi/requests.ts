import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import type { Operation } from '../operation.ts'
import { takesIdempotencyKey } from '../refusals.ts'
import { Identifier, identifier } from '../schemas.ts'
import { type TSchema, Type } from '../type.ts'
import { exampleOf } from './examples.ts'
import { type Json, plain, schemaOf } from './schemas.ts'

/** Resource that `{id}` in a path identifies, by tag. */
const resources: { readonly [T in Operation['tag']]?: { name: string; id: string } } = {
  Accounts: { name: 'the sub-account', id: example.accountId },
  Connectors: { name: 'the connector', id: example.destination.connectorId },
  Connections: { name: 'the connection', id: example.connectionId },
  Transfers: { name: 'the connection', id: example.connectionId },
  Clients: { name: 'the client', id: example.clientId },
  Streams: { name: 'the stream', id: example.streamId },
  Uploads: { name: 'the uploaded file', id: example.uploadId },
  Users: { name: 'the person', id: '2f6b8d0c4e917a35' },
}

/** `components.parameters`: the parameters that many operations share. */
export function componentParameters(): Json {
  const accountId = { ...Identifier, examples: [example.accountId] }
  return {
    accountId: parameter('query', 'accountId', true, {
      ...accountId,
      description: 'The sub-account of the operation. Never the organization account.',
    }),
    accountIdFilter: parameter('query', 'accountId', false, {
      ...accountId,
      description: 'A sub-account. Omitted: every sub-account of the organization.',
    }),
    idempotencyKey: parameter(
      'header',
      'Idempotency-Key',
      false,
      Type.String({
        pattern: `^[\\x20-\\x7e]{1,${limits.idempotencyKeyLengthMax}}$`,
        description: `A unique text for each new request, such as a UUID. Within ${limits.idempotencyWindowHours} hours, the same request with the same key returns the first response, so that you can repeat a request without doing its work twice.`,
        examples: ['8f14e45f-ceea-467f-9f0b-1c2d3e4f5a6b'],
      }),
    ),
    ifMatch: parameter(
      'header',
      'If-Match',
      false,
      Type.String({
        description:
          'The `ETag` of the version that you read, or several, separated by commas. The request is refused with 412 if the resource has changed since. `*` and no header accept any version.',
        examples: [example.etag],
      }),
    ),
  }
}

/** The parameters of an operation, in the order of a request. */
export function parametersOf(operation: Operation): Json[] {
  const shared = (name: string) => ({ $ref: `#/components/parameters/${name}` })
  const parameters: Json[] = []
  if (operation.path.includes('{id}')) {
    const { name, id } = resources[operation.tag] ?? { name: 'the resource', id: example.connectionId }
    parameters.push(parameter('path', 'id', true, identifier(name, id)))
  }
  if (operation.path.includes('{transferId}')) {
    parameters.push(parameter('path', 'transferId', true, identifier('the transfer', example.transferId)))
  }
  if (operation.actsIn === 'account') parameters.push(shared('accountId'))
  if (operation.actsIn === 'organization or account') parameters.push(shared('accountIdFilter'))
  for (const [name, schema] of Object.entries(operation.query ?? {})) {
    parameters.push(parameter('query', name, false, schema))
  }
  if (takesIdempotencyKey(operation)) parameters.push(shared('idempotencyKey'))
  if (operation.concurrency === 'if-match') parameters.push(shared('ifMatch'))
  return parameters
}

/** The body of an operation, if it has one. */
export function requestBodyOf({ body, file }: Operation): Json | undefined {
  if (file) {
    const schema = { type: 'string', format: 'binary' }
    return { required: true, description: 'The unchanged file', content: { 'application/octet-stream': { schema } } }
  }
  if (!body) return undefined
  const { description } = body as { description?: string }
  return {
    required: true,
    ...(description === undefined ? {} : { description }),
    content: { 'application/json': { schema: schemaOf(body), example: exampleOf(body) } },
  }
}

function parameter(place: 'path' | 'query' | 'header', name: string, required: boolean, schema: TSchema): Json {
  const { description, examples, ...rest } = plain(schema)
  return { name, in: place, required, description, schema: rest, example: exampleOf(schema) }
}
