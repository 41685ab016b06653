import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { type Cell, ConnectorError, type Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { httpApi } from './http-api.ts'

/** Answers that mean something else than they seem to, from a server that sends what it is given. */

type Reply = { readonly status?: number; readonly type?: string; readonly body: string | Buffer }
let replies: Reply[] = []
let bodies: unknown[] = []
const server = http.createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  bodies.push(text === '' ? undefined : JSON.parse(text))
  const { status = 200, type = 'application/json', body } = replies.shift() ?? { status: 500, body: '' }
  response.writeHead(status, { 'content-type': type }).end(body)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())

async function read(stream: string, ...given: Reply[]): Promise<Row[]> {
  replies = given
  bodies = []
  const { port } = server.address() as AddressInfo
  const definition = `streams: { all: ${stream} }`
  const secrets = { url: `http://127.0.0.1:${port}`, definition, authentication: 'none' }
  const context = testContext({ secrets, settings: { stream: 'all' } })
  const reader = await (httpApi.source as NonNullable<typeof httpApi.source>).open?.(context)
  const rows: Row[] = []
  for await (const chunk of reader?.read() ?? []) rows.push(...chunk.rows)
  await reader?.close()
  assert.deepEqual(replies, [], 'each reply was asked for')
  return rows
}

test('a cursor goes back as the API gave it: a text of digits is no number', async () => {
  const page = (id: number, next: Cell): Reply => ({ body: JSON.stringify({ items: [{ id }], next }) })
  const template = `{ path: /, method: POST, records: items, body: { after: "{{ page }}", where: "id > {{ page }}" }, pages: { by: cursor, at: next } }`
  const parameter = `{ path: /, method: POST, records: items, body: {}, pages: { by: cursor, in: body, parameter: after, at: next } }`
  const expression = `{ path: /, method: POST, records: items, body: {}, pages: { by: cursor, in: body, parameter: after, next: "response.next" } }`
  for (const stream of [template, parameter, expression]) {
    const cursors = ['007', '7', 7, '"quoted"', 'a1']
    const rows = await read(stream, ...cursors.map((cursor, at) => page(at, cursor)), page(9, null))
    assert.deepEqual(
      rows.map(([id]) => Number(id)),
      [0, 1, 2, 3, 4, 9],
    )
    assert.deepEqual(
      bodies.map((body) => (body as { after?: unknown }).after),
      [undefined, ...cursors],
    )
  }
})

test('text is read in the encoding that the answer names', async () => {
  const latin = (text: string) => Buffer.from(text, 'latin1')
  const csv = '{ path: /, answer: { form: csv } }'
  const xml = '{ path: /, answer: { form: xml }, records: all.row }'
  for (const [stream, type, body] of [
    [csv, 'text/csv; charset=ISO-8859-1', latin('city\nZürich\n')],
    [csv, 'text/csv;charset="windows-1252"', latin('city\nZürich\n')],
    [csv, 'text/csv; charset=unknown', Buffer.from('city\nZürich\n')],
    [csv, 'text/csv', Buffer.from('\uFEFFcity\nZürich\n')],
    ['{ path: / }', 'application/json; charset=iso-8859-1', latin('[{"city":"Zürich"}]')],
    [xml, 'text/xml', latin('<?xml version="1.0" encoding="ISO-8859-1"?><all><row><city>Zürich</city></row></all>')],
  ] as const) {
    assert.deepEqual(await read(stream, { type, body }), [['Zürich']], type)
  }
  await assert.rejects(
    read(csv, { type: 'text/csv', body: latin('city\nZürich\n') }),
    (error) => error instanceof ConnectorError && error.code === 'malformed_response' && /UTF-8/.test(error.message),
  )
  assert.deepEqual(await read('{ path: / }', { body: '[{"city":"\uFFFD"}]' }), [['\uFFFD']])
})

test('an answer without content is a page without records', async () => {
  for (const answer of ['json', 'lines', 'csv', 'xml']) {
    assert.deepEqual(await read(`{ path: /, answer: { form: ${answer} } }`, { status: 204, body: '' }), [])
  }
  const pages = '{ path: /, records: items, pages: { by: page, parameter: page } }'
  const full = { body: '{"items":[{"id":1}]}' }
  assert.equal((await read(pages, full, { status: 204, body: '' })).length, 1)
})
