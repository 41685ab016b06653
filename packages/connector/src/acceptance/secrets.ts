import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { Connector } from '../connector.ts'
import type { Values } from '../values.ts'

/** The connector and its secrets, to search for them. */
export type KnownSecrets = {
  readonly connector: Connector
  readonly secrets: Values
  readonly wrongSecrets?: Values
}

/**
 * Asserts that an error with all its properties, or a message, contains no secret in any of its usual forms. Secrets shorter
 * than six characters are not searched for, because they occur everywhere.
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
      // The message does not contain the text, because it is logged.
      assert.equal(found === undefined, true, `an error or message of ${connector.slug} contains the secret ${key}`)
    }
  }
}

/** A secret unchanged, encoded, and each longer line of it: one line of a PEM key is already a leak. */
function formsOf(value: unknown): string[] {
  if (typeof value !== 'string') return []
  const lines = value.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'))
  const whole = value.length >= 6 && lines.length < 2 ? [value] : []
  return [...whole, ...lines].flatMap((form) => [form, encodeURIComponent(form), Buffer.from(form).toString('base64')])
}
