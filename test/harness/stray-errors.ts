/** Tests with subtests, and with errors that nobody catches: only the two tests that they come from fail. */
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

const shortMs = 5

await delay(shortMs)
describe('a suite', async () => {
  await delay(shortMs)
  test('a test', async (t) => {
    await delay(shortMs)
    await t.test('a subtest', () => delay(shortMs))
    await test('a subtest that names no parent', () => delay(shortMs))
  })
})
test('rejects nearby', async () => {
  void delay(shortMs).then(() => {
    throw new Error('a rejection')
  })
  await new Promise(() => {})
})
test('throws nearby', async () => {
  setTimeout(() => {
    throw new Error('an exception')
  }, shortMs)
  await new Promise(() => {})
})
test('passes', () => delay(shortMs))
