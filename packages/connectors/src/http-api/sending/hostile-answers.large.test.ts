import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import fc from '../../../../../test/harness/property.ts'
import { httpApi } from '../http-api.ts'

/** Rows that are tried at a server that answers what it wants. */

let answer: (request: http.IncomingMessage, response: http.ServerResponse) => void
const server = http.createServer((request, response) => {
  request.resume().on('end', () => answer(request, response))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const results = [
  {},
  { refused: [400, 401, 404] },
  { success: 'response.ok == true', reason: '{{ response.message }}' },
  { taken: 'response.taken' },
  { rows: { at: 'errors', index: 'entry.index', reason: '{{ entry.message }}', field: '{{ entry.field }}' } },
  { rows: { at: 'errors', index: 'entry.index', first: 1, again: 'entry.again == true' } },
  { rows: { at: 'errors', key: 'entry.email', column: 'email' } },
  { rows: { at: 'errors.*', rejected: 'entry.message != null' } },
]
const rows = [['a@example.com'], ['b@example.com'], ['c@example.com']]

function tryRows(result: object) {
  const definition = JSON.stringify({
    operations: {
      send: { path: '/', columns: { email: 'text' }, batch: { rows: 3 }, body: { people: '{{ rows }}' }, result },
    },
  })
  const context = testContext({
    secrets: { url, definition, authentication: 'none' },
    settings: { operation: 'send' },
    columns: ['email'],
    rows,
  })
  const tries = httpApi.destination?.deliver?.try ?? assert.fail()
  return tries(context)
}

const entry = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      index: fc.oneof(fc.integer({ min: -2, max: 4 }), fc.double(), fc.string(), fc.constant(null)),
      email: fc.oneof(fc.constantFrom('a@example.com', 'B@EXAMPLE.COM', ''), fc.jsonValue()),
      message: fc.jsonValue(),
      field: fc.jsonValue(),
      again: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
)
const body = fc.oneof(
  fc.string(),
  fc.json(),
  fc
    .record(
      {
        errors: fc.oneof(fc.array(entry, { maxLength: 6 }), entry),
        ok: fc.jsonValue(),
        message: fc.jsonValue(),
        taken: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
)
const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'text/html; charset=utf-16',
      'x',
      'application/json; charset=none',
    ),
    location: fc.constantFrom('/', 'http://127.0.0.1:1/', 'file:///etc/passwd', ':'),
  },
  { requiredKeys: [] },
)
const statuses = [200, 201, 202, 204, 205, 206, 300, 304, 307, 400, 401, 403, 404, 409, 413, 422, 451, 501]

test('any answer shows its request, and says of each row at most once what was made of it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...statuses),
      headers,
      body,
      fc.constantFrom(...results),
      async (status, given, text, result) => {
        answer = (_, response) => void response.writeHead(status, given).end(text)
        const { exchanges, rejected, error } = await tryRows(result)
        assert.ok(exchanges.length >= 1 && exchanges.length <= 20)
        const [first = assert.fail()] = exchanges
        assert.equal(first.answer.status, status)
        assert.match(first.request.text, /^\{"people":\[/)
        const named = rejected.flatMap(({ index }) => (index === undefined ? [] : [index]))
        assert.equal(new Set(named).size, named.length)
        assert.ok(named.every((index) => rows[index] !== undefined))
        if (status >= 400 && !(result.refused ?? [400, 422]).includes(status)) assert.ok(error)
      },
    ),
    { numRuns: 300 },
  )
})

test('an answer without an end, a deep one and a broken one are errors that show the request', async () => {
  const hostile: Readonly<Record<string, typeof answer>> = {
    response_too_large: (_, response) => {
      const piece = Buffer.alloc(1 << 20, 'x')
      const more = () => {
        while (!response.destroyed && response.write(piece));
        response.once('drain', more)
      }
      more()
    },
    connection_lost: (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"errors":', () => response.destroy())
    },
  }
  for (const [code, answers] of Object.entries(hostile)) {
    answer = answers
    const { exchanges, error } = await tryRows({})
    assert.deepEqual([exchanges.length, exchanges[0]?.answer.text, error?.code], [1, '', code])
  }
  answer = (_, response) => void response.end('['.repeat(200_000))
  const { exchanges, error } = await tryRows({ success: 'response.ok == true' })
  assert.equal(exchanges[0]?.answer.text.length, 200_000)
  assert.ok(error)
})
