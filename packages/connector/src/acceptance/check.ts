import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckStep } from '../check.ts'
import type { Values } from '../values.ts'
import { assertNoSecret } from './secrets.ts'
import { type Acceptance, boundMs, contextOf } from './test-server.ts'

/** Registers the tests of a connector's check. */
export function acceptCheck(acceptance: Acceptance): void {
  test('checks good credentials', { timeout: boundMs }, async () => {
    const steps = await runCheck(acceptance, acceptance.secrets)
    for (const { name, ok, message } of steps) assert.ok(ok, `${name}: ${message}`)
  })

  const { wrongSecrets } = acceptance
  if (!wrongSecrets) return
  test('checks wrong credentials, and says what is wrong', { timeout: boundMs }, async () => {
    const steps = await runCheck(acceptance, wrongSecrets)
    assert.ok(
      steps.some(({ ok }) => !ok),
      'no step of the check failed',
    )
  })
}

async function runCheck(acceptance: Acceptance, secrets: Values): Promise<readonly CheckStep[]> {
  const { check } = acceptance.connector
  assert.ok(check, 'a connector that moves data has a check')
  const steps = await check(contextOf(acceptance, { secrets, settings: {} }))
  assertNoSecret(steps, acceptance)
  assert.ok(steps.length > 0, 'a check has steps')
  for (const { name, message } of steps) {
    assert.match(name, /^\S/)
    assert.match(message, /^\S.*\.$/s, `${name}: what a check says is a sentence: ${message}`)
  }
  return steps
}
