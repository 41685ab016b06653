import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { parseDefinition } from '../definition/parse-definition.ts'
import { importManifest } from './import-manifest.ts'

const manifest = `
version: 6.0.0
type: DeclarativeSource
definitions:
  requester:
    type: HttpRequester
    url_base: "https://{{ config['shop'] }}.example.com/api/v2/"
    authenticator: { type: ApiKeyAuthenticator, header: X-Token, api_token: "{{ config['key'] }}" }
    error_handler:
      type: CompositeErrorHandler
      error_handlers:
        - type: DefaultErrorHandler
          response_filters: [{ http_codes: [404], action: IGNORE }]
  orders:
    type: DeclarativeStream
    name: orders
    $parameters: { path: orders }
    retriever:
      type: SimpleRetriever
      requester: { $ref: "#/definitions/requester", path: "{{ parameters.path }}", request_parameters: { state: "{{ 'open' }}" } }
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [data, "*"] } }
      paginator:
        type: DefaultPaginator
        page_token_option: { type: RequestOption, inject_into: request_parameter, field_name: after }
        page_size_option: { type: RequestOption, inject_into: request_parameter, field_name: limit }
        pagination_strategy: { type: CursorPagination, page_size: 50, cursor_value: "{{ response.get('meta')['next'] }}" }
    incremental_sync:
      type: DatetimeBasedCursor
      datetime_format: "%Y-%m-%d"
      start_time_option: { inject_into: request_parameter, field_name: since }
      step: P30D
      lookback_window: P1D
    transformations: [{ type: RemoveFields, field_pointers: [[secret]] }]
    schema_loader: { type: InlineSchemaLoader, schema: { properties: { id: {}, total: {}, secret: {} } } }
streams:
  - $ref: "#/definitions/orders"
  - type: DeclarativeStream
    name: lines
    retriever:
      type: SimpleRetriever
      requester: { $ref: "#/definitions/requester", path: "/orders/{{ stream_partition.order }}/lines" }
      record_selector: { extractor: { type: DpathExtractor, field_path: [] } }
      partition_router:
        type: SubstreamPartitionRouter
        parent_stream_configs:
          - { parent_key: id, partition_field: order, stream: { $ref: "#/definitions/orders" } }
  - name: strange
    retriever:
      type: SimpleRetriever
      requester: { $ref: "#/definitions/requester", path: "/strange/{{ uuid() }}" }
      record_selector: { extractor: { type: CustomRecordExtractor, class_name: a.B }, record_filter: { condition: "{{ record.a is odd }}" } }
`

test('A manifest becomes values of the connector, and says of each part that it cannot carry where it is', () => {
  const { values, secrets, streams, problems, gaps } = importManifest(manifest, { shop: 'acme' })
  const { definition = '', ...others } = values
  assert.deepEqual(others, {
    url: 'https://acme.example.com/api/v2',
    authentication: 'API key',
    keyIn: 'header',
    keyName: 'X-Token',
  })
  assert.deepEqual(secrets, ['apiToken'])
  assert.deepEqual(streams, { carried: 2, inPart: 0, all: 3 })
  assert.deepEqual(gaps, [])
  const errors = [{ status: [404], action: 'ignore' }]
  assert.deepEqual(parseDefinition(definition), {
    definition: {
      operations: Object.create(null),
      streams: Object.assign(Object.create(null), {
        orders: {
          path: '/orders',
          method: 'GET',
          query: { state: 'open', since: '{{ cursor.start }}' },
          headers: {},
          answer: { form: 'json' },
          records: ['data', '*'],
          recordsOptional: false,
          changes: [{ remove: ['secret'] }],
          columns: ['id', 'total'],
          pages: {
            by: 'cursor',
            parameter: 'after',
            in: 'query',
            first: 1,
            size: 50,
            sizeParameter: 'limit',
            at: ['meta', 'next'],
          },
          cursor: { format: 'date', stepDays: 30, lookBackDays: 1 },
          errors,
        },
        lines: {
          path: '/orders/{{ partition }}/lines',
          method: 'GET',
          query: {},
          headers: {},
          answer: { form: 'json' },
          records: [],
          recordsOptional: true,
          changes: [],
          partitions: [{ of: [{ stream: 'orders', field: 'id', fields: [] }] }],
          errors,
        },
      }),
    },
  })
  const strange = 'streams[2] strange.retriever'
  assert.deepEqual(
    problems.map(({ path }) => path),
    [`${strange}.requester.url`, `${strange}.record_selector.extractor`, `${strange}.record_selector.record_filter`],
  )
})

test('One address for all streams keeps its path, without a slash at its end', () => {
  const stream = (name: string) =>
    `  - { type: DeclarativeStream, name: ${name}, retriever: { type: SimpleRetriever, requester: { type: HttpRequester, url_base: "https://api.example.com/v2/graphql", http_method: POST }, record_selector: { extractor: { type: DpathExtractor, field_path: [data] } } } }`
  for (const names of [['one'], ['one', 'two']]) {
    const { values } = importManifest(
      `version: 6.0.0\ntype: DeclarativeSource\nstreams:\n${names.map(stream).join('\n')}`,
    )
    assert.equal(values.url, 'https://api.example.com/v2')
    assert.doesNotMatch(String(values.definition), /graphql\//)
    assert.match(String(values.definition), /path: \/graphql/)
  }
})

test('A value of the configuration that is missing is named', () => {
  const { problems, streams } = importManifest(manifest)
  assert.equal(streams.carried, 0)
  assert.match(problems[0]?.message ?? '', /--value shop=…/)
})

/** A stream whose components have keys that are named in the test. */
const streamWith = (more: Readonly<Record<string, object>> = {}) => ({
  type: 'DeclarativeStream',
  name: 'items',
  retriever: {
    type: 'SimpleRetriever',
    requester: {
      type: 'HttpRequester',
      url_base: 'https://api.example.com',
      path: '/items',
      authenticator: { type: 'BearerAuthenticator', api_token: "{{ config['key'] }}" },
      ...more.requester,
    },
    record_selector: { type: 'RecordSelector', extractor: { field_path: ['data'], ...more.extractor } },
    ...more.retriever,
  },
  ...more.stream,
})
const importOf = (...streams: readonly object[]) => importManifest(stringify({ streams }))

test('Keys that the importer does not know are named, and their streams are carried in part', () => {
  const parent = streamWith({ stream: { name: 'parents', new_of_parent: 1 } })
  const partitions = [{ parent_key: 'id', partition_field: 'id', stream: parent, lazy_read_pointer: ['a'] }]
  const child = streamWith({
    stream: { name: 'children', primary_key: 'id', new_of_stream: null, $parameters: { given: 'by parameters' } },
    requester: { path: '/{{ stream_partition.id }}', use_cache: true, new_of_requester: false, given: 'by parameters' },
    extractor: { new_of_extractor: { a: 1 } },
    retriever: { partition_router: { type: 'SubstreamPartitionRouter', parent_stream_configs: partitions } },
  })
  const manifest = {
    type: 'DeclarativeSource',
    api_budget: { policies: [] },
    check: { stream_names: [] },
    shared: { field_path: ['data'] },
    streams: [streamWith({ extractor: { $ref: '#/shared' } }), child],
  }
  const { streams, gaps, problems } = importManifest(stringify(manifest))
  assert.deepEqual(problems, [])
  assert.deepEqual(streams, { carried: 2, inPart: 1, all: 2 })
  assert.deepEqual(gaps.map(({ path }) => path).sort(), [
    'api_budget',
    'streams[1] children.retriever.partition_router.parent_stream_configs[0].lazy_read_pointer',
    'streams[1] children.retriever.record_selector.extractor.new_of_extractor',
    'streams[1] children.retriever.requester.new_of_requester',
    'streams[1] parents.new_of_parent',
  ])
})

test('A program is not carried, also if its component has no other type', () => {
  const { streams, problems } = importOf(streamWith({ extractor: { class_name: 'a.B' } }), streamWith())
  assert.deepEqual(streams, { carried: 1, inPart: 0, all: 2 })
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['streams[0] items.retriever.record_selector.extractor.class_name'],
  )
})

test('A reference to a part that is missing is a problem', () => {
  const { problems } = importOf(streamWith({ extractor: { $ref: '#/definitions/missing' } }))
  assert.match(problems[0]?.message ?? '', /refers to #\/definitions\/missing/)
})

test('Of several ways to sign in, those that are not chosen are no gap', () => {
  const token = { type: 'BearerAuthenticator', api_token: "{{ config['key'] }}", new_of_token: 1 }
  const authenticator = {
    type: 'SelectiveAuthenticator',
    authenticator_selection_path: ['kind'],
    authenticators: { token, other: { ...token, type: 'ApiKeyAuthenticator' } },
  }
  const { gaps } = importManifest(stringify({ streams: [streamWith({ requester: { authenticator } })] }), {
    kind: 'token',
  })
  assert.deepEqual(
    gaps.map(({ path }) => path),
    ['streams[0] items.retriever.requester.authenticator.authenticators.token.new_of_token'],
  )
})

test('Values that are sent or read in another way are gaps', () => {
  const cursor = { type: 'DatetimeBasedCursor', cursor_field: 'at', datetime_format: '%Y-%m-%d' }
  const start = { datetime: '{{ now_utc() }}', datetime_format: '%d/%m/%Y' }
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ requester: { request_body_json: { a: 1 } } }, ['retriever.requester']],
    [{ requester: { request_body_json: {}, request_headers: { 'Content-Type': 'text/plain' } } }, []],
    [
      { requester: { http_method: 'POST', request_headers: { 'Content-Type': 'text/plain' } } },
      ['retriever.requester.request_headers.Content-Type'],
    ],
    [
      { requester: { authenticator: { type: 'BearerAuthenticator', api_token: "a:{{ config['key'] }}" } } },
      ['retriever.requester.authenticator.api_token'],
    ],
    [{ stream: { incremental_sync: { ...cursor, start_datetime: start } } }, ['incremental_sync.start_datetime']],
    [{ stream: { incremental_sync: { ...cursor, end_datetime: 'soon' } } }, ['incremental_sync.end_datetime']],
    [{ stream: { incremental_sync: { ...cursor, cursor_granularity: 'P1D' } } }, []],
    [{ stream: { incremental_sync: { ...cursor, step: 'P7D', cursor_granularity: 'PT1S' } } }, []],
    [
      { stream: { incremental_sync: { ...cursor, step: 'P7D', cursor_granularity: 'P1D' } } },
      ['incremental_sync.cursor_granularity'],
    ],
    [{ stream: { incremental_sync: { ...cursor, step: 'PT15M' } } }, ['incremental_sync.step']],
    [
      { retriever: { ignore_stream_slicer_parameters_on_paginated_requests: true } },
      ['retriever.ignore_stream_slicer_parameters_on_paginated_requests'],
    ],
    [
      { stream: { schema_loader: { schema: { properties: { a: {}, [`${'a'.repeat(201)}`]: {} } } } } },
      ['schema_loader'],
    ],
  ]
  for (const [more, paths] of cases) {
    const { gaps, streams } = importOf(streamWith({ ...more }))
    assert.deepEqual(
      gaps.map(({ path }) => path),
      paths.map((path) => `streams[0] items.${path}`),
    )
    assert.equal(streams.carried, 1)
  }
})

test('Records are not filtered by times that cannot be read', () => {
  const sync = { type: 'DatetimeBasedCursor', cursor_field: 'at', is_client_side_incremental: true }
  const { problems } = importOf(streamWith({ stream: { incremental_sync: { ...sync, datetime_format: '%d/%m/%Y' } } }))
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['streams[0] items.incremental_sync.cursor_datetime_formats'],
  )
})

test('Manifests that refer to themselves, and values of every kind, end in problems', () => {
  for (const text of [
    '',
    '- a',
    'a: [',
    'a: { $ref: "#/a" }',
    'a: { b: { $ref: "#/a" } }\nstreams: [{ $ref: "#/a" }]',
    'a: &a [*a]',
    'streams: { a: 1 }\ndynamic_streams: []',
  ]) {
    const { streams, problems } = importManifest(text)
    assert.equal(streams.carried, 0)
    assert.ok(problems.length > 0 || streams.all === 0, text)
  }
  let seed = 5
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (seed >> 8) % below
  }
  const keys = [...manifest.matchAll(/(\w+):/g)].map(([, key = '']) => key)
  const texts = [...manifest.matchAll(/(?:: |")([\w{}#/' .]+)/g)].map(([, text = '']) => text)
  const any = (depth: number): unknown => {
    const kind = next(depth > 5 ? 4 : 8)
    if (kind < 3) return texts[next(texts.length)]
    if (kind === 3) return [null, 0, 1.5, true, '', '{{', '#/streams/0'][next(7)]
    if (kind === 4) return Array.from({ length: next(3) }, () => any(depth + 1))
    return Object.fromEntries(Array.from({ length: next(6) }, () => [keys[next(keys.length)], any(depth + 1)]))
  }
  for (let run = 0; run < 40; run++) importManifest(stringify({ streams: [any(0), any(0)], definitions: any(0) }))
})
