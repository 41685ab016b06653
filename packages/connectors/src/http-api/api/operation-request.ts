import { ConnectorError } from '@penstock/connector'
import type { PlatformCall } from '../../platform-api/client.ts'
import type { ApiRequest, OperationMethod } from '../definition/definition.ts'
import { fillDeep, fillTexts, type TemplateValues } from '../definition/template.ts'
import { baseIn, headersOf, pathOf } from './api.ts'
import type { ApiServers } from './servers.ts'

/**
 * A request of an operation, filled. `content` is sent if the request has neither body nor form.
 * Throws connector errors, and `ExpressionError`.
 */
export function callOf(
  servers: ApiServers,
  request: ApiRequest & { readonly method: OperationMethod | 'GET' },
  values: TemplateValues,
  content?: unknown,
): PlatformCall {
  const headers = headersOf(fillTexts(request.headers, values))
  return {
    path: pathOf(baseIn(servers, request), request.path, values),
    method: request.method,
    query: fillTexts(request.query, values),
    headers,
    ...contentOf(request, values, content),
  }
}

function contentOf(request: ApiRequest, values: TemplateValues, content: unknown): Pick<PlatformCall, 'body' | 'form'> {
  if (request.form) return { form: fillTexts(request.form, values) }
  const body = request.body === undefined ? content : fillDeep(request.body, values)
  if (body === undefined) return {}
  // A text would be sent as it is.
  return { body: typeof body === 'object' ? body : JSON.stringify(body) }
}

/** Lines of JSON, one for each row. */
export const linesOf = (rows: readonly unknown[]): Pick<PlatformCall, 'body' | 'headers'> => ({
  body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  headers: { 'content-type': 'application/x-ndjson' },
})

/** The parameters of a connection, `list=Newsletter&region=EU`, as templates know them. Throws `invalid_setting` if one is missing. */
export function parametersOf(wanted: readonly string[], given: unknown): Readonly<Record<string, string>> {
  const found = new URLSearchParams(String(given ?? ''))
  const parameters = Object.fromEntries(wanted.map((name) => [name, found.get(name)?.trim() ?? '']))
  const missing = wanted.filter((name) => parameters[name] === '')
  if (missing.length === 0) return parameters
  const example = wanted.map((name) => `${name}=…`).join('&')
  throw new ConnectorError(
    'invalid_setting',
    `The operation needs the parameters ${missing.join(', ')}: enter ${example} in the connection.`,
  )
}
