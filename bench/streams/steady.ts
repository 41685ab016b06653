import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Sends requests at a steady rate, whether or not the previous requests were answered. */

type Sent = { readonly path: string; readonly headers: Record<string, string>; readonly body: string }
/** Milliseconds from when each request was due to its answer, and how often each status came. */
export type Steady = { readonly tookMs: readonly number[]; readonly statuses: Readonly<Record<number, number>> }

/** @param make creates the request with a number, from 0 */
export async function sendSteadily(
  url: string,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  make: (number: number) => Sent,
): Promise<Steady> {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 })
  const tookMs: number[] = []
  const statuses: Record<number, number> = {}
  const begunMs = performance.now()
  const all: Promise<void>[] = []
  for (let number = 0; number < perSecond * seconds; number++) {
    const dueMs = begunMs + (number * 1_000) / perSecond
    if (dueMs > performance.now()) await delay(dueMs - performance.now())
    all.push(
      (async () => {
        const { path, headers, body } = make(number)
        const sent = request(url + path, { method: 'POST', headers, agent }).end(body)
        const [response] = await once(sent, 'response')
        response.resume()
        await once(response, 'end')
        tookMs.push(performance.now() - dueMs)
        statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1
      })(),
    )
  }
  await Promise.all(all)
  agent.destroy()
  return { tookMs, statuses }
}

/** @param share 0.5: the median */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
