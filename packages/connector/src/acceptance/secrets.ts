import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { Connector } from '../connector.ts'
import type { Values } from '../values.ts'

/** Where secrets are known, so that they can be searched for. */
export type KnownSecrets = {
  readonly connector: Connector
  readonly secrets: Values
  readonly wrongSecrets?: Values
}

/**
 * Asserts that nothing of an error, whatever hangs on it, or of a message holds a secret in any of its usual forms.
 * Secrets under six characters are not searched for: they occur everywhere.
 */
export function assertNoSecret(held: unknown, { connector, secrets, wrongSecrets = {} }: KnownSecrets): void {
  const text = inspect(held, {
    depth: 12,
    maxStringLength: null,
    maxArrayLength: null,
    breakLength: Number.POSITIVE_INFINITY,
  })
  for (const [key, field] of Object.entries(connector.secrets)) {
    if (field.type !== 'Password') continue
    for (const value of [secrets[key], wrongSecrets[key]]) {
      const found = formsOf(value).find((form) => text.includes(form))
      // The text itself stays out of the message, which ends in logs.
      assert.equal(found === undefined, true, `an error or message of ${connector.slug} contains the secret ${key}`)
    }
  }
}

/** A secret as it is, encoded, and each longer line of it: of a key in PEM, one line is too much already. */
function formsOf(value: unknown): string[] {
  if (typeof value !== 'string') return []
  const lines = value.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'))
  const whole = value.length >= 6 && lines.length < 2 ? [value] : []
  return [...whole, ...lines].flatMap((form) => [form, encodeURIComponent(form), Buffer.from(form).toString('base64')])
}
