import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** The receiver of a webhook, as an application would implement it: it verifies signatures and rejects some rows. */
export type Receiver = {
  readonly url: string
  readonly signingSecret: string
  readonly taken: () => number
  close(): void
}

export async function startReceiver(): Promise<Receiver> {
  const key = randomBytes(32)
  const seen = new Set<string>()
  let taken = 0
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const {
      'webhook-id': id = '',
      'webhook-timestamp': time = '',
      'webhook-signature': signature = '',
    } = request.headers
    const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest()
    const given = Buffer.from(String(signature).replace(/^v1,/, ''), 'base64')
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return void response.writeHead(401).end()
    const { data } = JSON.parse(body.toString('utf8')) as { data?: { rows?: { city?: string }[] } }
    const rejected = (data?.rows ?? []).flatMap(({ city }, index) =>
      city === 'Osaka' && index % 97 === 0 ? [{ index, reason: 'this city is not served today', field: 'city' }] : [],
    )
    if (!seen.has(String(id))) taken += (data?.rows?.length ?? 0) - rejected.length
    seen.add(String(id))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ rejected }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/people`,
    signingSecret: `whsec_${key.toString('base64')}`,
    taken: () => taken,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
