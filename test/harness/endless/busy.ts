import { test } from 'node:test'

/** For test/run.large.test.ts: a loop that never returns to the event loop, in a process that SIGTERM does not end. */
process.on('SIGTERM', () => {})
test('does not return', () => {
  for (;;) Math.random()
})
