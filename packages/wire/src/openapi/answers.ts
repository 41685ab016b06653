import { type ErrorCode, errors } from '../errors.ts'
import { example } from '../examples.ts'
import type { Operation } from '../operation.ts'
import { refusalsOf } from '../refusals.ts'
import { envelope } from '../schemas.ts'
import { type TSchema, Type } from '../type.ts'
import { exampleOf, exampleRefusal } from './examples.ts'
import { type Json, schemaOf } from './schemas.ts'

const header = (description: string, schema: Json, value: unknown): Json => ({ description, schema, example: value })
const text = { type: 'string' }

/** `components.headers`: the headers of responses. */
export const componentHeaders = {
  'X-Request-Id': header('Identifier of this request in the service’s log.', text, example.requestId),
  ETag: header('The version of the resource, to send in `If-Match` with a change.', text, example.etag),
  'X-Total-Count': header(
    'Number of entries on all pages. If `Link` has no last page, there are more: a search counts 10,000 at most.',
    { type: 'integer', minimum: 0 },
    120,
  ),
  Link: header(
    'The addresses of the first, previous, next and last page (RFC 8288). The last is absent if there are more entries than were counted.',
    text,
    '<http://127.0.0.1:8080/es/v2/accounts?size=50&offset=50>; rel="next"',
  ),
  'X-Connection-States': header(
    'Number of connections whose state belongs to the data that these settings name. After a change: connections whose state was reset.',
    { type: 'integer', minimum: 0 },
    2,
  ),
  'WWW-Authenticate': header('How to authenticate.', text, 'Bearer'),
  Allow: header('The methods that the path supports.', text, 'GET, HEAD, PUT, DELETE'),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer', minimum: 0 }, 2),
} as const
type Header = keyof typeof componentHeaders

/** `components.examples`: a refusal of each code. */
export function componentExamples(): Json {
  return Object.fromEntries(
    codesOfErrors().map((code) => [code, { summary: errors[code].when, value: exampleRefusal(code) }]),
  )
}

/** The answers of an operation by status: first the success, then each refusal. */
export function answersOf(operation: Operation): Json {
  const refusals = Map.groupBy(refusalsOf(operation), (code) => errors[code].status)
  return {
    ...(operation.already ? { 200: success({ ...operation, success: 200, done: operation.already }) } : {}),
    [operation.success ?? 200]: success(operation),
    ...Object.fromEntries(
      [...refusals].map(([status, codes]) => [status, { $ref: `#/components/responses/${nameOf(codes)}` }]),
    ),
  }
}

/** `components.responses`: every set of refusals that shares a status in an operation. */
export function componentResponses(operations: readonly Operation[]): Json {
  const sets = operations.flatMap((operation) => [
    ...Map.groupBy(refusalsOf(operation), (code) => errors[code].status).values(),
  ])
  const order = codesOfErrors()
  const sorted = sets.toSorted((a, b) => order.indexOf(a[0] ?? 'internal') - order.indexOf(b[0] ?? 'internal'))
  return Object.fromEntries(sorted.map((codes) => [nameOf(codes), refusal(codes)]))
}

function success(operation: Operation): Json {
  const { reply, list, bare, done, shows, success: statusCode = 200 } = operation
  const headers: Header[] = ['X-Request-Id']
  if (operation.concurrency && operation.method !== 'DELETE') headers.push('ETag')
  if (operation.states) headers.push('X-Connection-States')
  if (list === 'paged') headers.push('X-Total-Count', 'Link')
  const entry = { ...(exampleOf(reply) as Json), ...shows }
  const response = list ? [entry] : entry
  const schema: TSchema = list ? Type.Array(reply) : reply
  return {
    description: done,
    headers: headersNamed(headers),
    content: {
      'application/json': {
        schema: schemaOf(bare ? schema : envelope(schema, { statusCode, statusMessage: done })),
        example: bare ? response : { statusCode, statusMessage: done, response },
      },
      ...Object.fromEntries((operation.streams ?? []).map((type) => [type, { schema: { type: 'string' } }])),
    },
  }
}

function refusal(codes: readonly ErrorCode[]): Json {
  const headers = new Set(codes.flatMap(headersOf))
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].when}`).join('\n\n'),
    ...(headers.size === 0 ? {} : { headers: headersNamed([...headers]) }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Refusal' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

/** Header fields of a refusal. If the input never became a request, only the body contains the request ID. */
function headersOf(code: ErrorCode): Header[] {
  switch (errors[code].status) {
    case 401:
      return ['X-Request-Id', 'WWW-Authenticate']
    case 405:
      return ['X-Request-Id', 'Allow']
    case 408:
    case 431:
      return []
    case 429:
    case 503:
      return ['X-Request-Id', 'Retry-After']
    default:
      return ['X-Request-Id']
  }
}

const headersNamed = (names: readonly Header[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** `InvalidRequestOrAccountRequired` */
const nameOf = (codes: readonly ErrorCode[]) =>
  codes.map((code) => code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())).join('Or')

const codesOfErrors = () => Object.keys(errors) as ErrorCode[]
