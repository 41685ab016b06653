import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { call } from './call.ts'

/** Returns what it was sent: the same bytes, of the same kind. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { 'content-type': type = 'none', 'content-length': length = 'none', accept } = request.headers
  response.writeHead(200, { 'content-type': type, 'x-length': length, 'x-accept': String(accept) })
  response.end(Buffer.concat(chunks))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const context = testContext()

describe('one request', () => {
  test('a body is JSON, and a text or bytes are sent as they are', async () => {
    const json = await call(context, { url, method: 'POST', body: { name: 'Zoë', list: [1] } })
    assert.deepEqual(json.json, { name: 'Zoë', list: [1] })
    assert.equal(json.headers.get('content-type'), 'application/json')
    assert.equal(json.headers.get('x-length'), String(json.bytesSent))
    assert.equal((await call(context, { url, method: 'PUT', body: '{"as": "is"}' })).text, '{"as": "is"}')
    const bytes = await call(context, {
      url,
      method: 'POST',
      body: Buffer.from('a,b\n'),
      headers: { 'content-type': 'text/csv' },
    })
    assert.deepEqual([bytes.text, bytes.headers.get('content-type')], ['a,b\n', 'text/csv'])
  })

  test('without a body nothing is sent, and an answer without JSON has none', async () => {
    const { json, text, headers, bytesSent } = await call(context, { url })
    assert.deepEqual([json, text, bytesSent], [undefined, '', 0])
    assert.deepEqual([headers.get('content-type'), headers.get('x-accept')], ['none', 'application/json'])
  })

  test('a byte order mark does not hide the JSON behind it', async () => {
    assert.deepEqual((await call(context, { url, method: 'POST', body: '\uFEFF{"a":1}' })).json, { a: 1 })
  })

  test('a form is encoded as browsers do it', async () => {
    const { text, headers } = await call(context, { url, method: 'POST', form: { a: 'b c&d=é', 'x y': '' } })
    assert.equal(headers.get('content-type'), 'application/x-www-form-urlencoded')
    assert.deepEqual([...new URLSearchParams(text)], [...Object.entries({ a: 'b c&d=é', 'x y': '' })])
  })

  test('the parts of a form are what a parser of browsers reads', async () => {
    const binary = Uint8Array.from({ length: 256 }, (_, i) => i)
    // The server returns the bytes, which are then parsed.
    const response = await context.egress.request(url, { method: 'POST', ...(await sentParts(binary)) })
    const form = await new Response(await response.arrayBuffer(), { headers: response.headers }).formData()
    assert.equal(form.get('operation'), 'ADD ü\r\n--x')
    const file = form.get('file') as File
    assert.deepEqual([file.name, file.type], ['people "of" the list.csv', 'text/csv'])
    assert.deepEqual(new Uint8Array(await file.arrayBuffer()), binary)
    const unnamed = form.get('blob') as File
    assert.deepEqual([unnamed.name, unnamed.type, await unnamed.text()], ['x', 'application/octet-stream', ''])
    assert.equal(form.get('meta'), '{"a":1}')
    assert.equal([...form].length, 4)
  })

  /** The body and headers with which `call` sends parts. */
  async function sentParts(binary: Uint8Array) {
    const parts = [
      { name: 'operation', content: 'ADD ü\r\n--x' },
      { name: 'file', content: binary, fileName: 'people "of" the list.csv', type: 'text/csv' },
      { name: 'blob', content: '', fileName: 'x' },
      { name: 'meta', content: '{"a":1}', type: 'application/json' },
    ]
    let sent: { body: Uint8Array; headers: Record<string, string> } | undefined
    const egress = {
      ...context.egress,
      request: async (address: string | URL, init: Parameters<typeof context.egress.request>[1]) => {
        sent = { body: init?.body as Uint8Array, headers: { 'content-type': String(init?.headers?.['content-type']) } }
        return context.egress.request(address, init)
      },
    }
    const { text } = await call({ ...context, egress }, { url, method: 'POST', parts })
    assert.match(text, /name="meta"\r\nContent-Type: application\/json\r\n/)
    return sent ?? assert.fail('nothing was sent')
  }

  test('an answer that is too large is none', async () => {
    await assert.rejects(call(context, { url, method: 'POST', body: 'x'.repeat(2_000), bytesMax: 1_000 }), {
      code: 'response_too_large',
    })
  })

  test('the reason of the signal is what is thrown once it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('the job ends'))
    await assert.rejects(call(testContext({ signal }), { url }), /the job ends/)
  })
})
