import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { FromLane } from './lanes.ts'

/** The reporter of a lane. It passes each event to the test runner, which prints the events of all lanes. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    // Totals are counted over all lanes.
    if (event.type === 'test:diagnostic' && event.data.nesting === 0) continue
    if (event.type === 'test:summary' || event.type === 'test:coverage') continue
    if (process.connected) process.send?.({ kind: 'event', event: sendable(event) } satisfies FromLane)
  }
  yield ''
}

/** An event whose error survives the way to another process: its cause as the text that Node would print. */
function sendable(event: TestEvent): TestEvent {
  if (event.type !== 'test:fail' && event.type !== 'test:complete') return event
  const details = event.data.details as { error?: { cause?: unknown; failureType?: string } } | undefined
  if (!details?.error) return event
  const { error } = details
  const cause = error.cause ?? error
  const text = cause instanceof Error ? inspect(cause) : String(cause)
  return {
    ...event,
    data: { ...event.data, details: { ...details, error: { failureType: error.failureType, text } } },
  } as unknown as TestEvent
}
