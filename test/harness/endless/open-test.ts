import { spawn } from 'node:child_process'
import { test } from 'node:test'

/** For test/run.large.test.ts: a test that does not end, with a child that holds the standard output of the file. */
test('does not end', async () => {
  spawn('sleep', ['3600'], { stdio: 'inherit', detached: true })
  await new Promise(() => {})
})
