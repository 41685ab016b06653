import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import type { ConnectionRule } from '@penstock/wire'
import { planRows } from './map-rows.ts'
import { passStages, previewState } from './preview-stages.ts'
import { whyValues } from './transfer/stages/stages.ts'

const postgresql = connectors.find(({ slug }) => slug === 'postgresql')
assert(postgresql)

const columns = ['id', 'country']
const rows: Row[] = [
  [1, 'DE'],
  [1, 'DE'],
  [null, 'DE'],
  [2, 'FR'],
  [3, 'DE'],
]
const mirror = { table: 'people', writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Mirror' }

const stateWith = (settings: Values, rules: readonly ConnectionRule[] = []) => {
  const side = { slug: 'postgresql', secrets: {}, settings }
  const bounds = { noAnswerMs: 1_000, inspectionMs: 1_000, deadlineMs: 1_000 }
  return previewState(
    { kind: 'preview', source: side, destination: side, unmapped: false, showing: 'masked', rules, ...bounds },
    settings,
  )
}

async function staged(settings: Values, rules: readonly ConnectionRule[] = []) {
  const { mapping } = await planRows(postgresql as NonNullable<typeof postgresql>, columns, { settings, secrets: {} })
  assert(mapping)
  const runtime = { loadConnector: async () => postgresql } as never
  const source = { columns, rows, bytes: 1, checkpoint: 1 }
  return passStages(stateWith(settings, rules), runtime, AbortSignal.timeout(10_000), source, mapping)
}

describe('the rows of a preview', () => {
  test('are skipped, rejected and judged as by a transfer', async () => {
    const rules: ConnectionRule[] = [
      { check: 'rejected', action: 'stop', count: 0 },
      { check: 'empty', action: 'warn', column: 'id', percent: 0 },
      // The record from France is skipped.
      { check: 'values', action: 'stop', column: 'country', values: ['DE'] },
    ]
    const settings = { ...mirror, duplicates: 'First', filter: 'country == "DE"' }
    const { mapped, findings, judge } = await staged(settings, rules)
    assert.deepEqual([...(mapped.skipped ?? [])], [0, 3, 0, 1, 0])
    assert.deepEqual([...mapped.errors.keys()], [2], 'a mirror needs a key')
    assert.deepEqual(findings, [])
    const found = await judge([{ row: 3, field: null, reason: 'There is no key.' }])
    assert.deepEqual(
      found.map(({ column, message }) => [column, message]),
      [
        [null, 'A rule would stop a transfer: 1 of 3 records rejected (33.33 %), at most 0.'],
        ['id', 'A rule is broken: id is empty in 1 of 3 records (33.33 %), at most 0 %. The first one is record 3.'],
      ],
    )
  })

  test('pass the other stages if a transfer would fail in one of them', async () => {
    const { mapped, findings } = await staged({ ...mirror, duplicates: 'First', duplicateKey: 'gone' })
    assert.equal(mapped.skipped, undefined)
    assert.deepEqual([...mapped.errors.keys()], [2])
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['invalid_setting'],
    )
    assert.match(findings[0]?.message ?? '', /gone, which the destination does not get/)
    const { findings: without } = await staged({ ...mirror, writeMode: 'Insert' })
    assert.deepEqual(
      without.map(({ code }) => code),
      ['not_supported'],
    )
  })

  test('pass a worker if a stage needs their values', () => {
    assert.equal(whyValues(stateWith({})), undefined)
    assert.equal(whyValues(stateWith({ filter: 'a == 1' })), 'the filter is applied to each of them')
    assert.equal(whyValues(stateWith({ sendRows: 'Changed' })), 'only changed rows are sent')
  })
})
