import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../../test/harness/property.ts'
import { amountOf, microsOf, microsOfUnits, unitsOf } from './money.ts'

test('amounts are exact, however many decimals a currency has', () => {
  assert.equal(microsOf('12.50'), 12_500_000n)
  assert.equal(microsOf('0.1'), 100_000n)
  assert.equal(microsOf('999999999999.999999'), 999_999_999_999_999_999n)
  assert.equal(microsOf('7.5000000000'), 7_500_000n)
  for (const text of ['', '-1', '+1', '1e3', '.5', '5.', '1,5', '1.2345678', '1000000000000', 'NaN', '1 000']) {
    assert.equal(microsOf(text), undefined, text)
  }
  // A dollar has 100 parts, a yen has no parts, and a dinar has 1,000.
  assert.equal(unitsOf(12_500_000n, 2), 1_250n)
  assert.equal(unitsOf(12_505_000n, 2), undefined)
  assert.equal(unitsOf(1_500_000_000n, 0), 1_500n)
  assert.equal(unitsOf(12_500_000n, 0), undefined)
  assert.equal(unitsOf(12_345_000n, 3), 12_345n)
  assert.equal(unitsOf(12_345_600n, 3), undefined)
})

test('an amount comes back from the units of a platform as it was', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 11n }), fc.integer({ min: 0, max: 6 }), (units, digits) => {
      const micros = microsOfUnits(String(units), digits)
      assert(micros !== undefined)
      assert.equal(unitsOf(micros, digits), units)
      assert.equal(microsOf(amountOf(micros)), micros)
    }),
  )
  assert.equal(microsOfUnits(undefined, 2), undefined)
  assert.equal(microsOfUnits('12.5', 2), undefined)
})
