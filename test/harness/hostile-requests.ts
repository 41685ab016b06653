import { limits, type Operation, type OperationId, operations } from '@penstock/wire'
import { connectorBySlug, destinationSettings } from './fixtures.ts'
import { type HostileValue, type PlaceInBody, placesIn, textsOf, withValueAt } from './hostile-places.ts'
import type { Draft } from './spoilings.ts'

/** A request that is hostile in one place. */
export type HostileRequest = { readonly name: string; readonly put: (draft: Draft) => void }

/** Units of a text in a request line or a header. Each can take nine bytes there. */
const headUnits = 1_500
const headers = ['authorization', 'cookie', 'if-match', 'idempotency-key', 'x-csrf-token', 'origin', 'traceparent']
const headerText = /^[\x20-\x7e]*$/

/** Every place of a request of an operation, as the contract has it, with every hostile value. */
export function hostileRequests(id: OperationId): HostileRequest[] {
  const operation: Operation = operations[id]
  const bodies = operation.body ? placesIn(operation.body) : []
  const inBody = [...bodies.map((place) => ({ ...place, around: (value: unknown) => value })), ...surroundingsOf(id)]
  const queries = Object.keys(operation.query ?? {})
  return [
    ...inBody.flatMap(({ at, values, around }) =>
      values.map(({ kind, make }) => ({
        name: `body.${at.join('.')}: ${kind}`,
        put: (draft: Draft) => {
          draft.json = withValueAt(draft.json, at, around(make()))
        },
      })),
    ),
    ...queries.flatMap((name) =>
      textsOf(headUnits).map(({ kind, make }) => ({
        name: `query ${name}: ${kind}`,
        put: (draft: Draft) => {
          draft.query = [...draft.query.filter(([known]) => known !== name), [name, inAddress(make())]]
        },
      })),
    ),
  ]
}

/** Places that all operations have alike: identifiers in the path, the sub-account, and headers. */
export function commonRequests(): HostileRequest[] {
  return textsOf(headUnits).flatMap(({ kind, make }) => [
    {
      name: `path: ${kind}`,
      put: (draft: Draft) => {
        draft.path = draft.path.replace(/(?<=^\/[\w-]+\/)[^/]*/, inAddress(make()))
      },
    },
    {
      name: `query accountId: ${kind}`,
      put: (draft: Draft) => {
        draft.query = [['accountId', inAddress(make())]]
      },
    },
    ...headers
      .filter(() => headerText.test(String(make())))
      .map((header) => ({
        name: `header ${header}: ${kind}`,
        put: (draft: Draft) => void draft.headers.set(header, String(make())),
      })),
  ])
}

const inAddress = (value: unknown): string => encodeURIComponent(String(value).toWellFormed())

type Surrounded = {
  readonly at: PlaceInBody
  readonly values: readonly HostileValue[]
  /** Makes the value that holds the hostile one, so that it reaches a parser inside. */
  readonly around: (value: unknown) => unknown
}

const httpApi = connectorBySlug('http-api')
const texts = [...textsOf(limits.textLengthMax), ...textsOf(64_000)]
const json = (write: (text: string) => unknown) => (value: unknown) => JSON.stringify(write(String(value)))
const half = [...textsOf(4_000), ...textsOf(30_000)]
/** Languages inside of texts, which the schemas do not know: definitions, mappings, expressions and filters. */
const definitions: readonly ((value: unknown) => unknown)[] = [
  String,
  ...[
    'path',
    'records',
    'answer',
    'columns',
    'query',
    'headers',
    'body',
    'pages',
    'partitions',
    'cursor',
    'errors',
  ].map((key) => json((text) => ({ streams: { a: { path: '/a', [key]: text } } }))),
  json((text) => ({ streams: { a: { path: '/a', query: { q: text } } } })),
  json((text) => ({ streams: { a: { path: '/a', query: { q: `{{ ${text} }}` } } } })),
  json((text) => ({ streams: { [text]: { path: '/a' } } })),
  json((text) => ({ streams: { a: { path: '/a', errors: [{ when: text, action: 'fail' }] } } })),
]
const mappings: readonly ((value: unknown) => unknown)[] = [
  String,
  json((text) => ({ email_sha256: text })),
  json((text) => ({ [text]: 'a' })),
  json((text) => ({ email_sha256: { expression: text } })),
  json((text) => ({ email_sha256: { expression: `"${text}"` } })),
  json((text) => ({ email_sha256: { expression: `row[${JSON.stringify(text)}]` } })),
  json((text) => ({ email_sha256: { column: text, timezone: text, normalise: text, hash: text, dates: text } })),
  json((text) => ({ email_sha256: { column: 'a', values: { [text]: text } } })),
]

function surroundingsOf(id: OperationId): Surrounded[] {
  const inside = (at: PlaceInBody, all: readonly ((value: unknown) => unknown)[], values = half): Surrounded[] =>
    all.map((around) => ({ at, values, around }))
  switch (id) {
    case 'createConnectorConfiguration':
    case 'askSource':
    case 'tryDestination':
      return [
        ...inside(['secretConfig', 'definition'], definitions),
        ...inside(['secretConfig', 'definition'], [String], texts),
        ...Object.keys(httpApi.secrets).flatMap((key) => inside(['secretConfig', key], [String])),
        ...(id === 'askSource' ? inside(['settings', 'columns'], [String]) : []),
      ]
    case 'createMappingTemplate':
    case 'updateMappingTemplate':
      return inside(['mapping'], mappings)
    case 'createConnection':
    case 'updateConnection':
    case 'previewConnection':
      return [
        ...inside(['destConnectionConfig', 'mapping'], mappings),
        ...['filter', 'defaultCountry', 'defaultTimezone', ...Object.keys(destinationSettings)].flatMap((key) =>
          inside(['destConnectionConfig', key], [String]),
        ),
        ...inside(['srcConnectionConfig', 'bucketUri'], [String]),
      ]
    default:
      return []
  }
}
