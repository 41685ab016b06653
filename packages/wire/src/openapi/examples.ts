import { type ErrorCode, errors } from '../errors.ts'
import { example } from '../examples.ts'
import type { FieldError } from '../field-error.ts'
import type { TSchema } from '../type.ts'

/**
 * A value that the schema accepts: the schema's own example, otherwise its constant or first choice, otherwise a value from the
 * examples of its parts.
 */
export function exampleOf(schema: TSchema): unknown {
  const { examples, properties, items, anyOf, ...rest } = schema as unknown as Schema
  if (examples?.length) return examples[0]
  if (rest.const !== undefined) return rest.const
  if (rest.enum?.length) return rest.enum[0]
  if (properties) return Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, exampleOf(inner)]))
  if (items) return [exampleOf(items)]
  if (anyOf?.[0]) return exampleOf(anyOf[0])
  throw new Error(`This schema needs an example: ${JSON.stringify(schema)}`)
}

type Schema = {
  examples?: readonly unknown[]
  const?: unknown
  enum?: readonly unknown[]
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: readonly TSchema[]
}

const { connectionId, source } = example

/** Example field errors of each code. Other codes name no field. */
const fieldErrors: { readonly [C in ErrorCode]?: readonly FieldError[] } = {
  invalid_request: [
    { field: 'body.name', message: 'is missing' },
    { field: 'body.colour', message: 'is unknown. Known fields: name, enabled' },
  ],
  forbidden: [{ field: 'scope', message: 'accounts:write is missing' }],
  account_required: [{ field: 'query.accountId', message: 'is missing: name a sub-account' }],
  connector_in_use: [{ field: `connection.${connectionId}`, message: 'Spring customers uses this connector' }],
  connector_not_added: [{ field: 'body.destConnectorId', message: 'is not added to this sub-account' }],
  connection_not_ready: [
    { field: 'srcConnector', message: `${source.name} is not configured: save its configuration first` },
    { field: 'destConnectionConfig.advertiserId', message: 'is required: Ad account ID' },
  ],
  quota_exceeded: [
    { field: 'account', message: 'the organization has 10000 sub-accounts, the quota of PENSTOCK_QUOTA_ACCOUNTS' },
  ],
  precondition_failed: [{ field: 'header.if-match', message: `is not the current ETag, ${example.etag}` }],
  connectors_incompatible: [{ field: 'body.destConnectorId', message: `${source.name} cannot be a destination` }],
  connector_immutable: [
    { field: 'body.destConnectorId', message: 'is another connector than the one that the connection has' },
  ],
}

/** An example of a whole refusal with this code. */
export function exampleRefusal(code: ErrorCode): Record<string, unknown> {
  const { status, message } = errors[code]
  return {
    statusCode: status,
    statusMessage: message,
    response: { error: code, requestId: example.requestId, details: fieldErrors[code] ?? [] },
  }
}
