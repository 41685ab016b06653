import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Chunk, ChunkWindow, Row } from '@penstock/connector'
import type { MappingStep } from '../mapping/choose-columns.ts'
import { endOf, halve } from './batch-ends.ts'
import { batchOf } from './batch-keys.ts'
import { fillBatches } from './batches.ts'
import { beginning, type FilledBatch } from './filled-batch.ts'
import { scopeAt } from './windows.ts'

const scope = (account: string) => ({ account: [account], day: ['2026-03-01'] })
type Part = Partial<Omit<ChunkWindow, 'scope'>> & { of?: string; rows: number; broken?: number; settles?: boolean }

/** Chunks of these windows; parts without `of` have no window. */
function chunksOf(parts: readonly Part[]): Chunk[] {
  let number = 0
  return parts.map(
    ({ of, rows, broken, settles, begins = false, ends = false }, index): Chunk => ({
      columns: ['number'],
      rows: Array.from({ length: rows }, (): Row => [++number]),
      errors: new Map(broken === undefined ? [] : [[broken, 'broken']]),
      bytes: rows,
      checkpoint: index + 1,
      ...(of && { window: { scope: scope(of), key: ['day', 'account'], begins, ends } }),
      ...(settles && { settles }),
    }),
  )
}

async function fill(parts: readonly Part[], from = beginning, firstNumber = 1, pending: number | null = null) {
  const chunks = chunksOf(parts)
  const batches: FilledBatch[] = []
  const reader = {
    async *read(after: unknown = 0) {
      yield* chunks.slice(Number(after))
    },
    close: async () => {},
  }
  const filling = {
    from,
    firstNumber,
    mapperFor: () => (chunk: Pick<Chunk, 'rows'>) => ({ rows: chunk.rows, errors: new Map() }),
    windowOf: ({ window }: Chunk) => window,
    bounds: { rowsMax: 4, bytesMax: 1_000 },
    pending,
    unconfirmed: null,
    testRows: null,
  }
  for await (const batch of fillBatches(reader, filling)) batches.push(batch)
  return batches
}
const shown = ({ covered, window }: FilledBatch) =>
  [
    covered,
    window?.scope.account?.[0] ?? 'none',
    window?.begins && 'begins',
    window?.ends && 'ends',
    window?.spoiled && 'spoiled',
  ]
    .filter((one) => one !== undefined && one !== false)
    .join(' ')

describe('batches of windows', () => {
  const parts: Part[] = [
    { of: 'a', rows: 0, begins: true, settles: true },
    { of: 'a', rows: 3, begins: true },
    { of: 'a', rows: 3, ends: true },
    { of: 'b', rows: 0, begins: true, ends: true },
    { of: 'c', rows: 0, begins: true, ends: true },
    { of: 'd', rows: 2, begins: true, broken: 1 },
    // The account was refused, or its days were halved.
    { of: 'e', rows: 1, begins: true },
    { rows: 1 },
    { of: 'f', rows: 4, begins: true },
    { of: 'f', rows: 0, ends: true },
  ]

  test('have rows of one window alone, and say where it begins and ends', async () => {
    assert.deepEqual((await fill(parts)).map(shown), [
      '0 a begins',
      '4 a begins',
      '2 a ends',
      '0 b begins ends',
      '0 c begins ends',
      '2 d begins spoiled',
      '1 e begins',
      '1 none',
      '4 f begins',
      '0 f ends',
    ])
  })

  test('have keys of their own, although several have no rows', async () => {
    const batches = await fill(parts)
    const ofTransfer = { transferId: 't', connectionId: 'c', settings: null }
    const keys = batches.filter(({ window }) => window).map((batch) => batchOf(batch, ofTransfer, ['number']).key)
    assert.equal(new Set(keys).size, keys.length)
  })

  test('lead to the checkpoint behind them, and to the same batches from there', async () => {
    const batches = await fill(parts)
    for (const [at, batch] of batches.entries()) {
      const { checkpoint } = endOf(batch)
      const rest = await fill(parts, checkpoint, batch.first + batch.covered)
      const again = rest.map(({ first, covered }) => [first, covered])
      assert.deepEqual(
        again,
        batches.slice(at + 1).map(({ first, covered }) => [first, covered]),
      )
    }
  })

  test('of a window that is resumed in its middle do not begin it', async () => {
    const [, first] = await fill(parts)
    assert(first)
    const [second] = await fill(parts, endOf(first).checkpoint, 5, 2)
    assert.equal(second && shown(second), '2 a ends')
    // A batch that was announced before a crash never joins two windows.
    const [longer] = await fill(parts, endOf(first).checkpoint, 5, 4)
    assert.equal(longer && shown(longer), '2 a ends')
  })

  test('are spoiled in both halves, of which the second one ends it', async () => {
    const [batch] = await fill([{ of: 'a', rows: 4, begins: true, ends: true }])
    assert(batch)
    assert.deepEqual(halve(batch).map(shown), ['2 a begins spoiled', '2 a ends spoiled'])
  })
})

test('a scope is found at the destination if its columns pass unchanged, and are of the key', () => {
  const step = (field: string, name = field, more: Partial<MappingStep> = {}): MappingStep => ({
    field,
    definition: undefined,
    column: { name, index: 0 },
    ...more,
  })
  const keys = (...names: string[]) => ({ windowKeys: () => names })
  const mapped = (steps: MappingStep[], destination: Parameters<typeof scopeAt>[0] = keys('account_id', 'day')) =>
    scopeAt(destination, {}, steps, { scope: scope('a'), key: ['day', 'account'] })
  const renamed = [
    step('account_id', 'account'),
    step('day'),
    { field: 'platform', definition: undefined, value: 'Meta' },
  ]
  assert.deepEqual(mapped(renamed).scope, { account_id: ['a'], day: ['2026-03-01'], platform: ['Meta'] })
  assert.match(mapped([step('day')]).stays ?? '', /^no column gets account, by which rows differ/)
  assert.match(mapped([step('account_id', 'account', { values: { a: 'b' } }), step('day')]).stays ?? '', /as it is/)
  assert.match(
    mapped(renamed, keys('day')).stays ?? '',
    /^choose Update by key \(Upsert\), with the key columns day, account_id$/,
  )
  assert.match(
    mapped(renamed, { windowKeys: () => undefined }).stays ?? '',
    /^choose Update by key \(Upsert\), with the key columns day, account_id$/,
  )
  assert.match(mapped(renamed, {}).stays ?? '', /^this destination cannot/)
})
