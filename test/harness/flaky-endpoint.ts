import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../simulation/random.ts'

/**
 * An endpoint for webhooks that fails at random. It accepts each message once, by its `webhook-id`, and counts which rows
 * came, and under how many identifiers.
 */
export type FlakyEndpoint = {
  readonly url: string
  /** For each row, by its number, how many messages with different identifiers had it. */
  readonly taken: Map<number, number>
  /** How often it behaved in each way, by the name of the behaviour. */
  readonly behaviours: Record<string, number>
  close(): Promise<void>
}

const hangMs = 1_500

/** @param rejects whether a row is one that the endpoint does not accept */
export async function startFlakyEndpoint(random: Random, rejects: (number: number) => boolean): Promise<FlakyEndpoint> {
  const taken = new Map<number, number>()
  const answers = new Map<string, string>()
  const behaviours: Record<string, number> = {}

  const take = (id: string, body: string): string => {
    const known = answers.get(id)
    if (known !== undefined) return known
    const { data } = JSON.parse(body) as { data: { rows: { id: string }[] } }
    const rejected = data.rows.flatMap((row, index) =>
      rejects(Number(row.id)) ? [{ index, reason: 'Not wanted.' }] : [],
    )
    for (const { id: number } of data.rows) {
      if (!rejects(Number(number))) taken.set(Number(number), (taken.get(Number(number)) ?? 0) + 1)
    }
    const answer = JSON.stringify({ rejected })
    answers.set(id, answer)
    return answer
  }

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const id = String(request.headers['webhook-id'])
    const behaviour = random.percent(70)
      ? 'takes'
      : random.pick(['500', '429', 'resets before', 'resets after', 'hangs before', 'hangs after'])
    behaviours[behaviour] = (behaviours[behaviour] ?? 0) + 1
    if (behaviour === '500') return response.writeHead(500).end('<html>')
    if (behaviour === '429') return response.writeHead(429, { 'retry-after': '1' }).end()
    const answer = behaviour.endsWith('before') ? undefined : take(id, body)
    if (behaviour === 'takes') return response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    // A request that hangs gets no answer, and is reset after a while.
    if (behaviour.startsWith('hangs')) await delay(hangMs)
    return request.socket.resetAndDestroy()
  }
  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    taken,
    behaviours,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
