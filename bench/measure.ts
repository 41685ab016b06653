import autocannon, { type Request } from 'autocannon'

/** Measures in short alternating rounds, so that other work of the machine affects both sides equally. */

/** Target of the load: an address, and requests to pick from at random. */
export type Target = { url: string; pick: () => Request }

export type Rounds = { connections: number; rounds: number; secondsPerRound: number }

/** Medians over the rounds, in requests a second. `ratio` is the median of the ratios of subject to limit in each round. */
export type Comparison = { subject: number; limit: number; ratio: number }

/** The optimising compiler has seen all of a route after some 70,000 requests. */
const warmUpSeconds = 4
const requestsPerConnection = 200

/** Measures the subject and the limit alternately, after both have warmed up. Rejects if a request fails. */
export async function compare(subject: Target, limit: Target, rounds: Rounds): Promise<Comparison> {
  for (const target of [subject, limit]) await measure(target, rounds.connections, warmUpSeconds)
  const pairs: { subject: number; limit: number }[] = []
  for (let round = 0; round < rounds.rounds; round++) {
    // The target that is measured first in one round is second in the next.
    const order = round % 2 === 0 ? (['subject', 'limit'] as const) : (['limit', 'subject'] as const)
    const pair = { subject: 0, limit: 0 }
    for (const side of order) {
      pair[side] = await measure({ subject, limit }[side], rounds.connections, rounds.secondsPerRound)
    }
    pairs.push(pair)
  }
  return {
    subject: median(pairs.map((pair) => pair.subject)),
    limit: median(pairs.map((pair) => pair.limit)),
    ratio: median(pairs.map((pair) => pair.subject / pair.limit)),
  }
}

/** Requests a second that the target answers if each connection sends one request after the other. */
async function measure({ url, pick }: Target, connections: number, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 50,
    setupClient: (client) => client.setRequests(Array.from({ length: requestsPerConnection }, pick)),
  })
  const { errors, timeouts, non2xx, statusCodeStats } = result
  if (errors + timeouts + non2xx > 0) {
    const answered = Object.entries(statusCodeStats).map(([status, { count }]) => `${count} answered ${status}`)
    const { method, path } = pick()
    throw new Error(
      `Not every ${method} ${url}${path} succeeded: ${[...answered, `${errors} broke off, ${timeouts} too late`].join(', ')}`,
    )
  }
  return result.requests.total / result.duration
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
