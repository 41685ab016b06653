import assert from 'node:assert/strict'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An endpoint as its author would write it with a library for Standard Webhooks: it verifies the signature and the time of
 * every message, takes each `webhook-id` once, and answers a repeated one as it did the first time.
 */
export type WebhookServer = {
  readonly url: string
  /** The rows that were taken, as objects, in the order of their arrival. */
  readonly rows: Record<string, unknown>[]
  /** The types of all messages. */
  readonly types: string[]
  /** The failure of all requests from now on, instead of the usual response. */
  failure: Failure | undefined
  /** Resolves once a request has come that is not answered. */
  hanging(): Promise<unknown>
  reset(): void
  close(): Promise<void>
}

export type Failure =
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly breaks: 'before it takes the rows' | 'after it took the rows' }
  | { readonly hangs: true }

export type WebhookServerOptions = {
  readonly signingSecret: string
  readonly authorization: string
  /** Says why a row is rejected; `undefined` for a row that is taken. */
  readonly judge: (row: Record<string, unknown>) => { reason: string; field?: string } | undefined
  readonly bodyBytesMax?: number
}

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const answers = new Map<string, string>()
  let reportHang: (value?: unknown) => void = () => {}

  const server = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { failure } = endpoint
    const answer = (status: number, text = '', headers: Record<string, string> = {}) =>
      response.writeHead(status, headers).end(text)
    if (failure && 'hangs' in failure) return reportHang()
    if (failure && 'status' in failure) return answer(failure.status, '<html>error</html>', failure.headers)
    if (request.url !== '/hooks' || request.method !== 'POST') return answer(404)
    if (!verifies(request.headers, body, options.signingSecret)) return answer(401)
    if (request.headers.authorization !== options.authorization) return answer(403)
    if (request.headers['content-type'] !== 'application/json') return answer(415)
    if (body.length > (options.bodyBytesMax ?? Number.POSITIVE_INFINITY)) return answer(413)
    if (failure && failure.breaks === 'before it takes the rows') return request.socket.destroy()
    const id = String(request.headers['webhook-id'])
    const known = answers.get(id) ?? take(body)
    answers.set(id, known)
    if (failure) return request.socket.destroy()
    answer(200, known, { 'content-type': 'application/json' })
  })

  /** Takes the rows of a message, and answers which it does not accept. */
  function take(body: string): string {
    const { type, timestamp, data, ...more } = JSON.parse(body)
    assert.deepEqual(Object.keys(more), [])
    assert.equal(new Date(timestamp).toISOString(), timestamp)
    endpoint.types.push(type)
    if (type === 'transfer.check') return '{}'
    assert.equal(type, 'transfer.rows')
    assert.deepEqual(Object.keys(data), ['transferId', 'rows'])
    assert.match(data.transferId, /^[0-9a-f]{16}$/)
    const rejected: unknown[] = []
    data.rows.forEach((row: Record<string, unknown>, index: number) => {
      const problem = options.judge(row)
      if (problem) rejected.push({ index, ...problem })
      else endpoint.rows.push(row)
    })
    return rejected.length > 0 ? JSON.stringify({ rejected }) : ''
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint: WebhookServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    rows: [],
    types: [],
    failure: undefined,
    hanging: () => {
      const hang = Promise.withResolvers()
      reportHang = hang.resolve
      return hang.promise
    },
    reset() {
      endpoint.rows.length = 0
      endpoint.types.length = 0
      answers.clear()
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return endpoint
}

/** As Standard Webhooks has it: any of the signatures, in constant time, not older than five minutes. */
function verifies(headers: http.IncomingHttpHeaders, body: string, signingSecret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || id.includes('.') || !/^\d+$/.test(String(timestamp))) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(signingSecret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return String(signatures)
    .split(' ')
    .some((signature) => {
      const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
}
