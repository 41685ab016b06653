import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits, type OperationId, operations } from '@penstock/wire'
import { compileValidator } from '../packages/server/src/http/validate.ts'

/** Errors of a body, and the part of the body that the validation reads. */

const errorsOf = (operation: OperationId, body: unknown) =>
  compileValidator(operations[operation])({ query: { accountId: '0123456789abcdef' }, body })

/** More than a request could hold. */
const count = 100_000
const entries = (value: unknown, key = (n: number) => `key${n}`) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [key(n), value]))
/** The value, and how many of its entries were read. */
function watched<T extends object>(value: T): { value: T; reads: () => number } {
  let reads = 0
  const handler: ProxyHandler<T> = {
    get: (target, key, receiver) => {
      reads++
      return Reflect.get(target, key, receiver)
    },
  }
  return { value: new Proxy(value, handler), reads: () => reads }
}

describe('of a body with countless errors', () => {
  const readsMax = 20 * limits.connectorIdsMax
  for (const [what, operation, wide, bodyOf, first] of [
    ['a list', 'addConnectors', Array(count).fill(1), (connectorIds) => ({ connectorIds }), 'body.connectorIds'],
    ['settings', 'configureConnector', entries({}), (secretConfig) => ({ secretConfig }), 'body.secretConfig'],
    [
      'a list among settings',
      'configureConnector',
      Array(count).fill(1),
      (options) => ({ secretConfig: { options } }),
      'body.secretConfig.options',
    ],
  ] as [string, OperationId, object, (wide: object) => unknown, string][]) {
    test(`no more of ${what} is looked at than a refusal lists`, () => {
      const { value, reads } = watched(wide)
      const fieldErrors = errorsOf(operation, bodyOf(value))
      assert.equal(fieldErrors.length, limits.fieldErrorsMax)
      assert.equal(fieldErrors[0]?.field, first)
      assert(reads() > 0 && reads() < readsMax, `${reads()} reads`)
    })
  }

  test('the first ones are listed, in their order', () => {
    const fieldErrors = errorsOf('addAccount', entries(1))
    assert.equal(fieldErrors[0]?.field, 'body.name')
    assert.deepEqual(
      fieldErrors.slice(1).map(({ field }) => field),
      Array.from({ length: limits.fieldErrorsMax - 1 }, (_, n) => `body.key${n}`),
    )
  })

  test('a known field counts in any place', () => {
    const fields = errorsOf('addAccount', { ...entries(1), name: 'right' }).map(({ field }) => field)
    assert(!fields.includes('body.name'))
    assert.equal(fields.length, limits.fieldErrorsMax)
  })
})

test('the last entry that is allowed is looked at, and one more is too many', () => {
  const ids = (length: number, last: string) => [...Array(length - 1).fill('0123456789abcdef'), last]
  assert.deepEqual(
    errorsOf('addConnectors', { connectorIds: ids(limits.connectorIdsMax, 'wrong') }).map(({ field }) => field),
    [`body.connectorIds.${limits.connectorIdsMax - 1}`],
  )
  assert.deepEqual(errorsOf('addConnectors', { connectorIds: ids(limits.connectorIdsMax + 1, 'ffffffffffffffff') }), [
    { field: 'body.connectorIds', message: `must NOT have more than ${limits.connectorIdsMax} items` },
  ])
  const settings = (length: number, last: unknown) => ({
    secretConfig: Object.fromEntries(ids(length, '').map((_, n) => [`key${n}`, n === length - 1 ? last : 'x'])),
  })
  const max = limits.configurationFieldsMax
  assert.deepEqual(errorsOf('configureConnector', settings(max, 'x')), [])
  assert.deepEqual(
    errorsOf('configureConnector', settings(max, {})).map(({ field }) => field),
    [`body.secretConfig.key${max - 1}`],
  )
  assert.deepEqual(
    errorsOf('configureConnector', settings(max + 1, 'x')).map(({ field }) => field),
    ['body.secretConfig'],
  )
})
