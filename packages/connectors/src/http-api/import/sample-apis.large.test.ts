import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Chunk, ConnectorError, Json, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { sampleIds, startSampleApis } from '../../../test/sample-apis.ts'
import { httpApi } from '../http-api.ts'
import { importManifest } from './import-manifest.ts'

const apis = await startSampleApis()
after(() => apis.close())

/** A manifest with one stream, in the form of those of known APIs, and the rows that it gives. */
type Sample = {
  readonly manifest: string
  readonly given?: Readonly<Record<string, string>>
  readonly rows: readonly (readonly unknown[])[]
  readonly columns: readonly string[]
  readonly stream?: string
}

const bearer = 'authenticator: { type: BearerAuthenticator, api_token: "{{ config[\'api_key\'] }}" }'
const spec =
  'spec: { type: Spec, connection_specification: { required: [api_key], properties: { api_key: { airbyte_secret: true }, email: { type: string }, realm: { default: a }, password: { airbyte_secret: true }, start: { type: string } } } }'
/** A stream with a requester and what else it has. */
const streamOf = (
  path: string,
  requester: string,
  fields: readonly string[],
  columns: readonly string[],
  more = '',
) => `
  - type: DeclarativeStream
    name: ${path.split('/')[1]}
    retriever:
      type: SimpleRetriever
      requester: { type: HttpRequester, url_base: "${apis.origin}", path: "${path}", ${requester} }
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [${fields.join(', ')}] } }
${more}
    schema_loader: { type: InlineSchemaLoader, schema: { properties: { ${columns.map((one) => `${one}: {}`).join(', ')} } } }`
const manifestOf = (...streams: readonly string[]) => `type: DeclarativeSource\n${spec}\nstreams:${streams.join('')}`
const paged = (strategy: string, token: string, size = '') => `
      paginator:
        type: DefaultPaginator
        page_token_option: ${token}
        ${size}
        pagination_strategy: ${strategy}`
const option = (name: string, into = 'request_parameter') =>
  `{ type: RequestOption, inject_into: ${into}, field_name: "${name}" }`
const ids = sampleIds.map((id) => [id])

const samples: Readonly<Record<string, Sample>> = {
  payments: {
    manifest: manifestOf(
      streamOf(
        '/payments/v1',
        'authenticator: { type: BasicHttpAuthenticator, username: "{{ config[\'api_key\'] }}" }',
        ['data'],
        ['id', 'amount'],
        `${paged('{ type: CursorPagination, page_size: 3, cursor_value: "{{ last_record[\'id\'] }}", stop_condition: "{{ not response.has_more }}" }', option('starting_after'), `page_size_option: ${option('limit')}`)}
    incremental_sync: { type: DatetimeBasedCursor, cursor_field: created, datetime_format: "%s", start_datetime: "{{ format_datetime(config['start'], '%Y-%m-%d') }}", start_time_option: ${option('created[gte]')} }`,
      ),
    ),
    given: { start: '2026-01-01' },
    columns: ['id', 'amount'],
    rows: sampleIds.map((id) => [id, id * 100]),
  },
  catalogue: {
    manifest: manifestOf(
      streamOf(
        '/catalogue/v2',
        'http_method: GET',
        ['results'],
        ['name'],
        `${paged('{ type: CursorPagination, cursor_value: "{{ response[\'next\'] }}", stop_condition: "{{ not response[\'next\'] }}" }', '{ type: RequestPath }')}
    transformations: [{ type: AddFields, fields: [{ path: [id], value: "{{ record['url'].split('/')[-2] | int }}" }] }]`,
      ),
    ),
    columns: ['name', 'id'],
    rows: sampleIds.map((id) => [`n${id}`, id]),
  },
  mail: {
    manifest: manifestOf(
      streamOf(
        '/mail/profiles',
        'authenticator: { type: ApiKeyAuthenticator, api_token: "Klav-Key {{ config[\'api_key\'] }}", inject_into: { type: RequestOption, field_name: Authorization, inject_into: header } }, request_headers: { revision: 2026-01-15 }',
        ['data'],
        ['id', 'email', 'attributes'],
        `${paged('{ type: CursorPagination, cursor_value: "{{ response.links.next }}" }', '{ type: RequestPath }')}
    transformations:
      - { type: AddFields, condition: "{{ 'email' in record['attributes'] }}", fields: [{ path: [email], value: "{{ record['attributes']['email'] | upper }}" }] }
      - { type: RemoveFields, field_pointers: [[attributes]] }`,
      ),
    ),
    columns: ['id', 'email'],
    rows: sampleIds.map((id) => [String(id), `P${id}@EXAMPLE.COM`]),
  },
  search: {
    manifest: manifestOf(
      streamOf(
        '/search/contacts',
        `http_method: POST, ${bearer}, request_body_json: { query: { field: updated_at, operator: ">", value: "{{ stream_interval['start_time'] | int }}" }, pagination: { per_page: 3 } }`,
        ['contacts'],
        ['id'],
        `${paged("{ type: CursorPagination, cursor_value: \"{{ response.get('pages', {}).get('next', {}).get('starting_after') }}\", stop_condition: \"{{ not response.get('pages', {}).get('next') }}\" }", '{ type: RequestOption, inject_into: body_json, field_path: [pagination, starting_after] }')}
    incremental_sync: { type: DatetimeBasedCursor, cursor_field: updated_at, datetime_format: "%s", start_datetime: { type: MinMaxDatetime, datetime: "{{ config['start'] }}", datetime_format: "%Y-%m-%d" } }`,
      ),
    ),
    given: { start: '2026-01-01' },
    columns: ['id'],
    rows: ids,
  },
  comments: {
    stream: 'comments',
    manifest: (() => {
      const requester =
        'authenticator: { type: BasicHttpAuthenticator, username: "{{ config[\'email\'] }}/token", password: "{{ config[\'password\'] }}" }'
      const tickets = streamOf(
        '/tickets',
        requester,
        ['tickets'],
        ['id', 'subject'],
        paged(
          '{ type: CursorPagination, cursor_value: "{{ response.meta.after_cursor }}", stop_condition: "{{ not response.meta.has_more }}" }',
          option('page[after]'),
        ),
      )
      const comments = streamOf(
        '/tickets/{{ stream_partition.ticket }}/comments',
        `${requester}, error_handler: { type: DefaultErrorHandler, response_filters: [{ type: HttpResponseFilter, http_codes: [404], action: IGNORE }] }`,
        ['comments'],
        ['body'],
        `
      partition_router:
        type: SubstreamPartitionRouter
        parent_stream_configs:
          - { type: ParentStreamConfig, parent_key: id, partition_field: ticket, extra_fields: [[subject]], stream: { $ref: "#/streams/0" } }
    transformations: [{ type: AddFields, fields: [{ path: [ticket], value: "{{ stream_partition.ticket }}" }, { path: [subject], value: "{{ stream_slice.extra_fields['subject'] }}" }] }]`,
      )
      return manifestOf(tickets, comments.replace('name: tickets', 'name: comments'))
    })(),
    given: { email: 'ann@example.com' },
    columns: ['body', 'ticket', 'subject'],
    rows: [1, 3, 5, 7].map((id) => [`c${id}`, String(id), `s${id}`]),
  },
  repositories: {
    manifest: manifestOf(
      streamOf(
        '/repositories',
        'http_method: GET',
        [],
        ['id', 'owner'],
        `${paged("{ type: CursorPagination, cursor_value: \"{{ headers['link']['next']['url'] }}\", stop_condition: \"{{ 'next' not in headers['link'] }}\" }", '{ type: RequestPath }')}
    transformations: [{ type: DpathFlattenFields, field_path: [owner], delete_origin_value: true }, { type: RemoveFields, field_pointers: [[owner]] }, { type: AddFields, fields: [{ path: [login], value: "{{ record.login }}" }] }]`,
      ),
    ),
    columns: ['id', 'login'],
    rows: sampleIds.map((id) => [id, 'penstock']),
  },
  documents: {
    manifest: manifestOf(
      streamOf(
        '/documents/query',
        `http_method: POST, ${bearer}`,
        ['results'],
        ['id'],
        paged(
          '{ type: CursorPagination, page_size: 3, cursor_value: "{{ response.next_cursor }}", stop_condition: "{{ response.has_more is false }}" }',
          option('start_cursor', 'body_json'),
        ),
      ).replace(
        'field_path: [results] }',
        'field_path: [results] }, record_filter: { type: RecordFilter, condition: "{{ not record.archived }}" }',
      ),
    ),
    columns: ['id'],
    rows: [[1], [3], [5], [7]],
  },
  tags: {
    stream: 'tags',
    manifest: (() => {
      const key =
        'authenticator: { type: ApiKeyAuthenticator, api_token: "{{ config[\'api_key\'] }}", inject_into: { type: RequestOption, field_name: X-API-Key, inject_into: header } }'
      const pages = paged(
        '{ type: OffsetIncrement, page_size: 3 }',
        option('offset'),
        `page_size_option: ${option('count')}`,
      )
      const lists = streamOf('/lists', key, ['lists'], ['id'], pages)
      const router = (field: string, stream: number) =>
        `{ type: SubstreamPartitionRouter, parent_stream_configs: [{ type: ParentStreamConfig, parent_key: id, partition_field: ${field}, stream: { $ref: "#/streams/${stream}" } }] }`
      const members = streamOf(
        '/lists/{{ stream_slice.list }}/members',
        key,
        ['members'],
        ['id', 'status', 'list'],
        `${pages}
      partition_router: [${router('list', 0)}, { type: ListPartitionRouter, cursor_field: status, values: [open], request_option: ${option('status')} }]`,
      ).replace('name: lists', 'name: members')
      const tags = streamOf(
        "/lists/{{ stream_slice.parent_slice.list }}/members/{{ stream_partition['member'] }}/tags",
        key,
        ['tags'],
        ['tag'],
        `
      partition_router: ${router('member', 1)}`,
      ).replace('name: lists', 'name: tags')
      return manifestOf(lists, members, tags)
    })(),
    columns: ['tag'],
    rows: sampleIds.map((id) => [`${id}-${id * 10}`]),
  },
  login: {
    manifest: manifestOf(
      streamOf(
        '/login/rows',
        `authenticator: { type: SessionTokenAuthenticator, login_requester: { type: HttpRequester, url_base: "${apis.origin}", path: login/session, http_method: POST, request_body_json: { user: "{{ config['email'] }}", pass: "{{ config['password'] }}", realm: "{{ config['realm'] }}" } }, session_token_path: [data, token], request_authentication: { type: ApiKey, inject_into: { type: RequestOption, field_name: X-Session, inject_into: header } } }`,
        ['rows'],
        ['day', 'until'],
        `
    incremental_sync: { type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%d/%m/%Y", start_datetime: "2026-01-01", end_datetime: "2026-01-21", step: P10D, cursor_granularity: P1D, start_time_option: ${option('day')}, end_time_option: ${option('until')} }`,
      ),
    ),
    columns: ['day', 'until'],
    rows: [
      ['01/01/2026', '11/01/2026'],
      ['11/01/2026', '21/01/2026'],
    ],
  },
  graphql: {
    manifest: manifestOf(
      streamOf(
        '/graphql',
        `http_method: POST, ${bearer}, request_body: { type: RequestBodyGraphQL, value: { query: "query($after: String) { items(after: $after) { edges { node { id }}}}" } }`,
        ['data', 'items', 'edges', "'*'", 'node'],
        ['id'],
        paged(
          '{ type: CursorPagination, cursor_value: "{{ response.data.items.pageInfo.endCursor }}", stop_condition: "{{ not response.data.items.pageInfo.hasNextPage }}" }',
          '{ type: RequestOption, inject_into: body_json, field_path: [variables, after] }',
        ),
      ),
    ),
    columns: ['id'],
    rows: ids,
  },
}

const canaries: Values = { apiToken: 'canary-token', password: 'canary-password', username: 'reader' }
const secretsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, canaries[name] ?? '']))

async function read(values: Values, stream: string, options: TestContextOptions = {}, at?: Json): Promise<Chunk[]> {
  assert.ok(httpApi.source?.open)
  const context = testContext({ secrets: values, ...options, settings: { stream, ...options.settings } })
  const reader = await httpApi.source.open(context)
  const chunks = []
  for await (const chunk of reader.read(at)) chunks.push(chunk)
  return chunks
}
const rowsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows)

describe('a manifest in the form of a known API', () => {
  for (const [name, { manifest, given = {}, rows, columns, stream = name }] of Object.entries(samples)) {
    test(`is imported, read, and read on after each chunk: ${name}`, async () => {
      const { values, secrets, problems } = importManifest(manifest, given)
      assert.deepEqual(problems, [])
      assert.doesNotMatch(JSON.stringify(values), /canary/)
      const own = { ...values, ...secretsOf(secrets) }
      const chunks = await read(own, stream)
      assert.deepEqual(chunks[0]?.columns, columns)
      assert.deepEqual(rowsOf(chunks), rows)
      for (const [index, { checkpoint }] of chunks.entries()) {
        assert.deepEqual(rowsOf(await read(own, stream, {}, checkpoint)), rowsOf(chunks.slice(index + 1)))
      }
    })
  }
})

const definition = `
defaults: { server: files }
streams:
  csv: { path: /files/people.csv.gz, answer: { form: csv, delimiter: ";" } }
  lines: { path: /files/people.jsonl, answer: { form: lines } }
  xml: { path: /files/people.xml, answer: { form: xml }, records: people.person }
  bomb: { path: /files/bomb.gz }
  wrong: { path: /files/people.xml }
  unnamed: { path: /files/people.jsonl, server: other }
  costly:
    path: /files/people.jsonl
    answer: { form: lines }
    changes: [{ set: a, to: "[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, [1,2,3].map(e, a)))))" }]
`
const values = () => ({
  ...secretsOf(['apiToken']),
  url: apis.origin,
  servers: `files=${apis.files}`,
  authentication: 'bearer token',
  definition,
})

test('Answers of other forms on another server are read, and wrong ones refused', async () => {
  assert.deepEqual(rowsOf(await read(values(), 'csv')), [
    ['1', 'A;nn'],
    ['2', null],
  ])
  assert.deepEqual(rowsOf(await read(values(), 'lines')), [['12345678901234567890'], [2]])
  assert.deepEqual(rowsOf(await read(values(), 'xml')), [['1'], ['2']])
  const codes = {
    bomb: 'response_too_large',
    wrong: 'malformed_response',
    unnamed: 'invalid_setting',
    costly: 'invalid_setting',
  }
  for (const [stream, code] of Object.entries(codes)) {
    const error = await read(values(), stream).then(
      () => undefined,
      (one: ConnectorError) => one,
    )
    assert.equal(error?.code, code, stream)
    assert.doesNotMatch(String(error?.message), /canary/)
  }
})

test('Every address to which a secret is sent binds it', () => {
  for (const [key, secrets] of Object.entries({
    url: 'secondKey',
    servers: 'apiToken',
    loginUrl: 'password',
    tokenUrl: 'clientSecret',
  })) {
    assert.ok(httpApi.secrets[key]?.binds?.includes(secrets), key)
  }
})
