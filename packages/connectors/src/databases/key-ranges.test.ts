import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { divideKeys, knotsIn, rangeOf } from './key-ranges.ts'

const bounds = { bytesMin: 10, partsMax: 1_000 }
const divide = (knots: readonly bigint[], bytes: number, rows = 100) =>
  divideKeys('id', { rows, bytes }, knots, bounds, ['id', 'name'])

/** The parts in which a key is. */
const partsWith = (division: ReturnType<typeof divide>, key: bigint): number[] =>
  (division?.parts ?? []).flatMap((part, index) => {
    const { above, upTo } = rangeOf(part.key, ['id'])
    const isIn = (above === undefined || key > BigInt(above)) && (upTo === undefined || key <= BigInt(upTo))
    return isIn ? [index] : []
  })

describe('a table in parts', () => {
  test('has any whole number in exactly one part, also one that comes later', () => {
    const division = divide([-5n, 0n, 9_223_372_036_854_775_000n], 45)
    assert.equal(division?.parts.length, 4)
    for (const key of [-(10n ** 18n), -6n, -5n, -3n, -2n, 0n, 1n, 10n ** 18n, 9_223_372_036_854_775_807n]) {
      assert.equal(partsWith(division, key).length, 1, String(key))
    }
    assert.deepEqual(partsWith(division, -(10n ** 18n)), [0])
    assert.deepEqual(partsWith(division, 9_223_372_036_854_775_807n), [3])
  })

  test('has parts of about as many rows, by keys of which equally many are between two', () => {
    const division = divide([1n, 10n, 1_000_000n, 1_000_010n, 1_000_020n], 40)
    assert.deepEqual(
      division?.parts.map(({ name }) => name),
      ['id up to 10', 'id above 10, up to 1000000', 'id above 1000000, up to 1000010', 'id above 1000010'],
    )
    assert.deepEqual(
      division.parts.map(({ share }) => share),
      [0.25, 0.25, 0.25, 0.25],
    )
    assert.deepEqual([division.apart, rangeOf(division.parts[0]?.key ?? null, ['id']).rows], [['id'], 25])
  })

  test('stays whole if it is small, or has one key', () => {
    assert.equal(divide([1n, 100n], 19), undefined)
    assert.equal(divide([7n], 1_000), undefined)
    assert.equal(divide([], 1_000), undefined)
    assert.deepEqual(
      divide([7n, 8n], 1_000)?.parts.map(({ name }) => name),
      ['id up to 7', 'id above 7'],
    )
  })

  test('has at most a hundred parts, and no key from what is no number', () => {
    assert.equal(divide([0n, 1_000_000n], 1_000_000)?.parts.length, 100)
    assert.deepEqual(knotsIn(['1', null]), [])
    assert.deepEqual(knotsIn(['10', '9', '10']), [9n, 10n])
  })

  test('is read no further by another key', () => {
    const [part] = divide([1n, 100n], 100)?.parts ?? []
    assert.throws(() => rangeOf(part?.key ?? null, ['number']), { code: 'source_changed' })
  })
})
