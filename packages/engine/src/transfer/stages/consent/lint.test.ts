import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from '@penstock/connector'
import type { ConsentPurpose } from '../../../consent-purpose.ts'
import { lintConsent } from './lint.ts'

type Signal = ConsentPurpose['signals'][number]

const find = async (signals: readonly Signal[], rows: readonly Row[], errors = new Map<number, string>()) =>
  (
    await lintConsent([{ name: 'advertising', signals: [...signals], uses: [] }], { columns: ['a', 'b'], rows, errors })
  ).map(({ code, column, message }) => [code, column ?? null, Number(/^\d+/.exec(message)?.[0] ?? 0)])
const values: Signal = { kind: 'values', column: 'a', values: ['yes'] }

test('people who refuse are no finding', async () => {
  assert.deepEqual(await find([values], [['yes'], ['no'], ['maybe']]), [])
  assert.deepEqual(await find([{ kind: 'usPrivacy', column: 'a' }], [['1YNN'], ['1YYN'], ['1---']]), [])
  assert.deepEqual(await find([values], []), [])
})

test('a column that the source lacks is one, unless all are missing, which fails a transfer', async () => {
  const missing: Signal = { ...values, column: 'x' }
  assert.deepEqual(await find([values, missing], [['yes']]), [['consent_column_missing', 'x', 0]])
  assert.deepEqual(await find([missing], [['yes']]), [])
})

test('values that no record has are one, and so are texts that cannot be read', async () => {
  assert.deepEqual(await find([values], [['J'], ['N'], ['N']]), [['consent_never_given', 'a', 0]])
  for (const kind of ['tcf', 'gpp', 'usPrivacy'] as const) {
    assert.deepEqual(await find([{ kind, column: 'a' }], [['yes'], ['1'], ['x'.repeat(9_000)]]), [
      ['consent_unreadable', 'a', 3],
    ])
  }
})

test('records that say nothing are counted, without records that cannot be read', async () => {
  const both: Signal[] = [values, { ...values, column: 'b' }]
  const rows: Row[] = [
    ['yes', ''],
    ['', 'yes'],
    [null, ' '],
    ['', ''],
  ]
  assert.deepEqual(await find(both, rows, new Map([[3, 'broken']])), [['consent_missing', null, 1]])
  assert.deepEqual(await find([values], [['yes'], ['']]), [['consent_missing', 'a', 1]])
})
