import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, beforeEach, describe, test } from 'node:test'
import type { Cell, Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { apiToken, startDescribedApi } from '../../test/described-api.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { definitionError } from './definition/parse-definition.ts'
import { httpApi } from './http-api.ts'

const server = await startDescribedApi()
after(() => server.close())
beforeEach(() => server.reset())

const columnsOf = `
    columns:
      email: { type: text, required: true, description: Address of the person }
      name: text
      age: whole number
      score: number
      member: yes or no
      seen: moment
      tags: list
      more: object`
const row = `
    row:
      email: "{{ lower(row.email) }}"
      traits: { name: "{{ row.name }}", age: "{{ row.age }}", member: "{{ row.member }}", score: "{{ row.score }}" }
      tags: "{{ row.tags }}"
      digest: "{{ sha256(lower(row.email)) }}"`
const text = `
check: { path: /lists }
operations:
  by index:
    path: /by-index
    batch: { rows: 3 }${columnsOf}${row}
    body: { people: "{{ rows }}" }
    result:
      rows: { at: errors, index: entry.index, reason: "{{ entry.type }}", field: "{{ entry.path }}" }
  in order:
    path: /in-order
    batch: { rows: 100 }${columnsOf}
    body: { people: "{{ rows }}" }
    result:
      rows: { at: results, rejected: entry.status == "error", reason: "{{ entry.why }}" }
  by key:
    path: /by-key
    batch: { rows: 100 }${columnsOf}
    headers: { Idempotency-Key: "{{ request.id }}" }
    body: { people: "{{ rows }}" }
    result:
      rows: { at: failed, key: entry.email, column: email, reason: "{{ entry.reason }}" }
  all or nothing:
    path: /all-or-nothing
    batch: { rows: 100 }${columnsOf}
    body: { people: "{{ rows }}" }
    result:
      refused: 422
      rows: { at: detail, index: entry.row, first: 1, reason: "{{ entry.message }}" }
  mute:
    path: /mute
    batch: { rows: 100 }${columnsOf}
    body: { people: "{{ rows }}" }
    result: { reason: "{{ response.message }}" }
  lines:
    path: /lines
    lines: true
    batch: { rows: 100 }${columnsOf}
    result: { taken: response.accepted }
  job:
    path: /jobs
    batch: { rows: 100 }${columnsOf}
    body: { people: "{{ rows }}" }
    later:
      path: "/jobs/{{ job }}"
      job: response.job.id
      done: response.state == "complete"
      failed: response.state == "failed"
      everySeconds: 1
      result: { rows: { at: errors, index: entry.index, reason: "{{ entry.message }}" } }
  one:
    method: PUT
    path: "/people/{{ row.email }}"${columnsOf}
    result: { reason: "{{ response.message }}" }
  remove:
    method: DELETE
    path: "/people/{{ row.email }}"
    columns: { email: { type: text, required: true } }
  list:
    parameters: [list]
    values:
      listId:
        find: { path: /lists, at: data, where: entry.name == parameter.list, value: entry.id }
        create: { path: /lists, body: { name: "{{ parameter.list }}" }, value: response.id }
    path: "/lists/{{ value.listId }}/people"
    batch: { rows: 100 }${columnsOf}
    body: { people: "{{ rows }}" }
`
const columns = ['email', 'name', 'age', 'member']
const secrets = { url: `${server.url}/v1`, authentication: 'bearer token', apiToken, definition: text }
const rowsOf = (...emails: string[]): Row[] =>
  emails.map((email, index) => [email, `N${index}`, 20 + index, index % 2 === 0])
const contextOf = (operation: string, more: Values = {}, secretsOf: Values = secrets, names = columns) =>
  testContext({ secrets: secretsOf, settings: { operation, ...more }, columns: names })

async function deliver(operation: string, rows: readonly Row[], more: Values = {}, names: readonly string[] = columns) {
  const context = contextOf(operation, more, secrets, [...names])
  const writer = await httpApi.destination?.deliver?.open(context)
  assert.ok(writer)
  const { rejected = [] } = await writer.deliver(batchOf(names, rows))
  await writer.finish?.()
  await writer.close?.()
  return rejected.map(({ index, count, reason, field }) => ({
    index: index ?? `${count}`,
    reason,
    ...(field && { field }),
  }))
}

const failure = (name: string, status: number, headers: Record<string, string>, expected: object) => ({
  name,
  start: () => server.failure(/by-key/, { status, headers, json: { message: 'no' } }),
  stop: () => server.calm(),
  ...(expected as { action: 'retry' }),
})

acceptDestination({
  connector: httpApi,
  testServer: 'an API of our own that recognises people by their addresses',
  secrets,
  wrongSecrets: { ...secrets, apiToken: 'another' },
  settings: { operation: 'by key' },
  missing: { operation: 'nothing' },
  columns,
  rows: Array.from({ length: 240 }, (_, index) => [`p${index}@example.com`, `Zoë ${index}`, index, index % 2 === 0]),
  badRows: [
    { row: ['nobody', 'Bad', 1, true], reason: /^The API says: no address\.$/ },
    { row: ['x@example.com', 'Bad', 'many', true], reason: /whole number/, field: 'age' },
    { row: [null, 'Bad', 1, true], reason: /missing/, field: 'email' },
  ],
  readBack: async () => [...server.people.values()].map((one) => columns.map((name) => (one[name] ?? null) as Cell)),
  reset: () => server.reset(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    failure(
      'answers 429 and asks to wait 7 seconds',
      429,
      { 'retry-after': '7' },
      { action: 'retry', code: 'rate_limited', afterMs: 7000 },
    ),
    failure('answers 500', 500, {}, { action: 'retry', code: 'platform_error' }),
    failure('answers 403', 403, {}, { action: 'reconfigure', code: 'permission_denied' }),
    failure('answers 404', 404, {}, { action: 'reconfigure', code: 'object_not_found' }),
  ],
})

describe('an operation of a definition', () => {
  test('sends rows by its template, in requests of its size, and knows who was refused by number', async () => {
    const rejected = await deliver(
      'by index',
      rowsOf('A@example.com', 'nobody', 'c@example.com', 'd@example.com', 'no one'),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      [
        [1, 'email'],
        [4, 'email'],
      ],
    )
    assert.match(rejected[0]?.reason ?? '', /^The API says: no address/)
    assert.equal(server.received.filter(({ path }) => path === '/v1/by-index').length, 2)
    assert.deepEqual(server.people.get('a@example.com'), {
      email: 'a@example.com',
      traits: { name: 'N0', age: 20, member: true },
      digest: sha256('a@example.com'),
    })
  })

  test('knows who was refused by order, by key, with the whole request, and by halves', async () => {
    const some = rowsOf('a@example.com', 'nobody', 'c@example.com', 'no one', 'e@example.com')
    for (const [operation, reason] of [
      ['in order', 'The API says: bad.'],
      ['by key', 'The API says: no address.'],
      ['all or nothing', 'The API says: no address.'],
      ['mute', 'The API says: One of them has no address.'],
      ['job', 'The API says: no address.'],
    ] as const) {
      server.reset()
      const rejected = await deliver(operation, some)
      assert.deepEqual(
        rejected.toSorted((a, b) => Number(a.index) - Number(b.index)),
        [
          { index: 1, reason },
          { index: 3, reason },
        ],
        operation,
      )
      assert.deepEqual([...server.people.keys()].sort(), ['a@example.com', 'c@example.com', 'e@example.com'], operation)
    }
  })

  test('counts rows that an API does not name', async () => {
    const rejected = await deliver('lines', rowsOf('a@example.com', 'nobody'))
    assert.deepEqual(
      rejected.map(({ index }) => index),
      ['1'],
    )
  })

  test('sends each row on its own, with its values in the path, and removes', async () => {
    assert.deepEqual(await deliver('one', rowsOf('a/../b@example.com', 'nobody')), [
      { index: 1, reason: 'The API says: no address.' },
    ])
    assert.deepEqual([...server.people.keys()], ['a/../b@example.com'])
    assert.deepEqual(await deliver('remove', [['a/../b@example.com']], {}, ['email']), [])
    assert.deepEqual([...server.people.keys()], [])
  })

  test('makes a list once, and finds it again', async () => {
    for (let round = 0; round < 2; round++) {
      await deliver('list', rowsOf('a@example.com'), { parameters: 'list=Newsletter%20%26%20more' })
    }
    assert.deepEqual(
      server.lists.map(({ name }) => name),
      ['Other', 'Newsletter & more'],
    )
    assert.equal(server.people.get('a@example.com')?.list, 'l-2')
  })

  test('has the same request ID for the same rows in another attempt, and another for others', async () => {
    await deliver('by key', rowsOf('a@example.com'))
    await deliver('by key', rowsOf('a@example.com'))
    await deliver('by key', rowsOf('b@example.com'))
    const [first, second, third] = server.idempotencyKeys
    assert.match(first ?? '', /^[0-9a-f]{32}$/)
    assert.equal(first, second)
    assert.notEqual(first, third)
  })

  test('reads values by their types', async () => {
    const names = ['email', 'score', 'seen', 'tags', 'more']
    await deliver('by key', [['a@example.com', '1.50', '2036-01-01T00:00:00+01:00', 'a;b', '{"x":[1]}']], {}, names)
    assert.deepEqual(server.people.get('a@example.com'), {
      email: 'a@example.com',
      score: 1.5,
      seen: '2035-12-31T23:00:00Z',
      tags: ['a', 'b'],
      more: { x: [1] },
    })
  })

  test('says what a connection lacks, before a transfer', async () => {
    const inspect = httpApi.destination?.deliver?.inspect
    const findings = await inspect?.(contextOf('by key', {}, secrets, ['name', 'phone']))
    assert.deepEqual(
      findings?.map(({ message }) => message.split(';')[0]),
      ['The operation has no column phone', 'The operation needs the column email'],
    )
    const error = await connectorErrorOf(inspect?.(contextOf('list')), { secrets: { apiToken } })
    assert.match(error.message, /needs the parameters list: enter list=…/)
  })

  test('lists operations, and their columns with their types', async () => {
    const discover = httpApi.destination?.discover ?? {}
    const context = { ...contextOf('by key'), search: '', cursor: undefined, size: 100, withSamples: false }
    assert.equal((await discover.operation?.(context))?.items.length, 10)
    assert.deepEqual((await discover.columns?.(context))?.items[0], {
      value: 'email',
      kind: 'column',
      type: 'text',
      required: true,
    })
  })

  test('never has a secret in a reason, also if the API repeats it', async () => {
    const repeats = text.replace('reason: "{{ response.message }}"', 'refused: 401, reason: "{{ response.message }}"')
    const context = contextOf('mute', {}, { ...secrets, apiToken: 'wrong-canary-token', definition: repeats })
    const writer = await httpApi.destination?.deliver?.open(context)
    const work = writer?.deliver(batchOf(columns, rowsOf('a@example.com')))
    const said = await work?.then(JSON.stringify, (error) => error.message)
    assert.doesNotMatch(said, /wrong-canary-token/)
  })
})

describe('what is wrong with an operation', () => {
  const wrongOf = (changed: string) => {
    return definitionError(changed) ?? ''
  }
  const cases: readonly (readonly [string, RegExp])[] = [
    [text.replace('{{ row.name }}', '{{ row.nam }}'), /row\.nam.*not known/],
    [text.replace('path: /by-index', 'path: "/by/{{ row.email }}"'), /row.*not known/],
    [text.replace('columns:\n      email', 'colums:\n      email'), /colums is not known here/],
    [text.replace('type: text, required', 'type: txt, required'), /must be one of/],
    [text.replace('entry.index, reason', 'entry.index, column: email, reason'), /needs column/],
    [text.replace('{{ value.listId }}', '{{ value.list }}'), /value\.list/],
    [text.replace('{{ parameter.list }}', '{{ secrets.apiToken }}'), /secrets.*not known/],
    ['operations: {}', /1 to 100 operations/],
    ['defaults: {}\noperations: { a: { path: /a, columns: { b: text } } }', /defaults/],
  ]
  test('is nothing in the guide', async () => {
    const guide = await readFile(new URL('../../../../docs/http-api-destination.md', import.meta.url), 'utf8')
    const [, whole = ''] = /```yaml\n(check:[\s\S]*?)```/.exec(guide) ?? []
    assert.match(whole, /operations:/)
    assert.equal(wrongOf(whole), '')
    for (const [, part = ''] of guide.matchAll(/```yaml\n((?:parameters|later):[\s\S]*?)```/g)) {
      const columns = 'columns: { email: text }\n'
      const path = /^path:/m.test(part) ? '' : 'path: /people\n'
      assert.equal(wrongOf(`operations:\n  a:\n${`${part}${columns}${path}`.replace(/^(?=.)/gm, '    ')}`), '')
    }
  })

  test('is said with its place', () => {
    assert.equal(wrongOf(text), '')
    for (const [changed, message] of cases) {
      assert.notEqual(changed, text)
      assert.match(wrongOf(changed), message)
    }
  })
})
