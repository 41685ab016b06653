import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asConnectorError } from '../connector-error.ts'
import type { Finding } from '../destination.ts'
import type { TestContextOptions } from './context.ts'
import { assertNoSecret } from './secrets.ts'
import { boundMs, contextOf, type DestinationAcceptance, stopped } from './test-server.ts'

/** Registers the tests of the inspection of a destination, before anything is delivered. */
export function acceptInspection(acceptance: DestinationAcceptance): void {
  const { badRows = [], hang, missing, readBack, reset, wrongSecrets } = acceptance
  const options = { timeout: boundMs }

  test('finds nothing against a transfer that succeeds, and changes nothing', options, async () => {
    await reset()
    const findings = await inspect(acceptance)
    assert.deepEqual(findings, [])
    assert.deepEqual(await readBack(), [])
  })

  if (wrongSecrets) {
    test('finds that it cannot ask with wrong credentials', options, async () => {
      await reset()
      assert.notDeepEqual(await inspect(acceptance, { secrets: wrongSecrets }), [])
    })
  }

  if (missing) {
    test('finds that settings name what is not there', options, async () => {
      await reset()
      assert.notDeepEqual(await inspect(acceptance, { settings: missing }), [])
    })
  }

  for (const { row, field } of badRows) {
    test(`quotes no value where ${field ?? 'something'} of a record is not taken`, options, async () => {
      await reset()
      const findings = await inspect(acceptance, { rows: [row] })
      for (const cell of row) {
        if (typeof cell !== 'string' || cell.length < 6) continue
        assert.ok(!JSON.stringify(findings).includes(cell), `a finding quotes a value: ${JSON.stringify(findings)}`)
      }
    })
  }

  if (hang) {
    test('stops to ask at the signal while the server does not answer', options, async () => {
      await reset()
      const stop = new AbortController()
      await hang.start()
      try {
        const work = inspect(acceptance, { signal: stop.signal })
        await Promise.race([hang.reached(), work])
        stop.abort()
        await stopped(acceptance, work, stop.signal)
      } finally {
        await hang.stop()
      }
    })
  }
}

/**
 * Findings of the destination about the first rows. As in the engine, a connector error that it throws is a finding.
 */
async function inspect(
  acceptance: DestinationAcceptance,
  options: TestContextOptions = {},
): Promise<readonly Finding[]> {
  const { connector, columns, rows } = acceptance
  const findings = await connector.destination?.deliver
    ?.inspect?.(contextOf(acceptance, { columns, rows: rows.slice(0, 100), ...options }))
    .catch((error: unknown): Finding[] => {
      const connectorError = asConnectorError(error)
      if (!connectorError) throw error
      return [{ code: connectorError.code, message: connectorError.message }]
    })
  assert.ok(findings, `${connector.slug} cannot be inspected`)
  assertNoSecret(findings, acceptance)
  for (const { code, message, column } of findings) {
    assert.match(code, /^[a-z][a-z0-9_]*$/, 'the code of a finding is in snake case')
    assert.match(message, /^\S.*\.$/s, `the message of a finding is a sentence: ${message}`)
    assert.ok(column === undefined || columns.includes(column), `a finding is of ${column}, which is not delivered`)
  }
  return findings
}
