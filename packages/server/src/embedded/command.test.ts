import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './command.ts'

test('a program that cannot be started leaves no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const { code, output } = await run('/nowhere/postgres', ['--version'], undefined)
  assert.equal(code, undefined)
  assert.match(output, /ENOENT/)
  assert.equal(timers(), before)
})

test('a program that takes too long is killed', async () => {
  const { code } = await run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], undefined, 50)
  assert.equal(code, undefined)
})
