import type { ConnectorContext } from '@penstock/connector'
import { wait } from '../../platform-api/client.ts'
import { waitMsOf } from '../../platform-api/rate-limit.ts'
import type { Pace } from '../definition/definition.ts'

/** A clock in milliseconds, and how to wait on it. */
export type PaceClock = { readonly nowMs: () => number; readonly wait: (waitMs: number) => Promise<void> }

export type Pacer = {
  /** Resolves when a request may begin; requests begin in the order in which they asked. Rejects if waiting does. */
  begin(): Promise<void>
  /** Notes what an answer says of the requests that are left. */
  answered(answer: { readonly headers: Headers }): void
}

/** Spreads requests so that a job keeps to a pace. Other jobs with the same credentials are not counted. */
export function createPacer({ requests, seconds, remaining }: Pace, clock: PaceClock): Pacer {
  const spanMs = seconds * 1000
  /** When the last requests began, the oldest first. */
  const begun: number[] = []
  let heldUntilMs = Number.NEGATIVE_INFINITY
  let turn: Promise<void> = Promise.resolve()
  const next = async () => {
    const oldestMs = begun.length < requests ? undefined : begun.shift()
    const fromMs = Math.max(heldUntilMs, oldestMs === undefined ? heldUntilMs : oldestMs + spanMs)
    const waitMs = fromMs - clock.nowMs()
    if (waitMs > 0) await clock.wait(waitMs)
    begun.push(clock.nowMs())
  }
  return {
    begin() {
      turn = turn.then(next)
      return turn
    },
    answered(answer) {
      if (remaining === undefined || answer.headers.get(remaining)?.trim() !== '0') return
      heldUntilMs = clock.nowMs() + (waitMsOf(answer) ?? spanMs)
    },
  }
}

/** A context whose requests keep to the pace of a definition. */
export function paced<Context extends ConnectorContext>(context: Context, pace: Pace | undefined): Context {
  if (!pace) return context
  const { egress, signal } = context
  const pacer = createPacer(pace, {
    nowMs: () => performance.now(),
    wait: (waitMs) => wait(waitMs, signal),
  })
  return {
    ...context,
    egress: {
      connect: (...asked) => egress.connect(...asked),
      async request(url, init) {
        await pacer.begin()
        const answer = await egress.request(url, init)
        pacer.answered(answer)
        return answer
      },
    },
  }
}
