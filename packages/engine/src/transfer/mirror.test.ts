import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConnectorError, Row } from '@penstock/connector'
import type { TransferState } from '../protocol.ts'
import { beginning, type FilledBatch } from './batches.ts'
import { foldKey } from './fold-key.ts'
import { KeyPageWriter, rowsOfPage } from './key-pages.ts'
import { Mirror, whyNotWhole } from './mirror.ts'
import { removalsOf } from './mirror-removals.ts'
import { DigestTable, decodeRecords, RowDigester, uncertainRecord } from './row-digests.ts'

const key = Buffer.alloc(32, 7)
const digester = new RowDigester(key, ['id'], undefined, { salt: null, folds: true })
const recordOf = (row: Row) => {
  const record = new Uint32Array(4)
  digester.write(row, record, 0)
  return record
}

/** A mirror that has sent rows with these keys, and the source of which has some of them now. */
async function mirrorOf(had: readonly Row[], has: readonly Row[]): Promise<Mirror> {
  const pages = new KeyPageWriter()
  const table = new DigestTable(had.length)
  for (const row of had) {
    const record = recordOf(row)
    table.fill(record)
    pages.add([...record], row)
  }
  const page = pages.flush() as { records: string; keys: string } | undefined
  const readKeys = async (after: number) => (after === 0 && page ? { pages: [page], last: 1 } : null)
  const mirror = new Mirror({ readKeys }, table, key, ['id'])
  for (const row of has) mirror.see(row, recordOf(row), 0)
  return mirror
}

const state = { testRows: null, replay: null, range: null, read: 0, checkpoint: null, confirmed: false, cursor: null }

async function removed(
  mirror: Mirror,
  changes: { share?: number; state?: Partial<TransferState> } = {},
): Promise<{ batches: FilledBatch[]; notes: string[] }> {
  const notes: string[] = []
  const batches: FilledBatch[] = []
  const removals = removalsOf(mirror, {
    host: { note: async (sentence) => void notes.push(sentence) },
    job: { replaceShareMin: changes.share ?? 0.5 },
    state: { ...state, ...changes.state },
    sides: {
      bounds: { rowsMax: 2, bytesMax: 1_000 },
      columns: ['name', 'id'],
      openReader: () => assert.fail('the source was read'),
    },
    mapperFor: () => assert.fail('the source was read'),
    confirmed: { read: 10, checkpoint: null },
    signal: AbortSignal.timeout(1_000),
    onProgress: () => {},
  })
  for await (const batch of removals) batches.push(batch)
  return { batches, notes }
}

const isGuarded = (error: ConnectorError) =>
  error.code === 'confirmation_needed' && /Nothing was removed/.test(error.message)

test('rows that the source lacks are removed by their keys, in batches behind its own records', async () => {
  const { batches } = await removed(await mirrorOf([[1], [2], [3], [4], [5], [6]], [[1], [3], [5]]))
  assert.deepEqual(
    batches.map(({ rows, first, covered, removed, left }) => ({ rows, first, covered, removed: [...removed], left })),
    [
      {
        rows: [
          [null, 2],
          [null, 4],
        ],
        first: 11,
        covered: 2,
        removed: [0, 1],
        left: beginning,
      },
      { rows: [[null, 6]], first: 13, covered: 1, removed: [0], left: beginning },
    ],
  )
})

test('a test, a replay and a backfill remove nothing', async () => {
  const lacking = () => mirrorOf([[1], [2]], [[1]])
  assert.deepEqual((await removed(await lacking(), { state: { testRows: 1 } })).batches, [])
  assert.deepEqual((await removed(await lacking(), { state: { replay: { columns: [], rows: 1 } } })).batches, [])
  const range = { from: '2026-01-01', to: '2026-01-31' }
  assert.deepEqual((await removed(await lacking(), { state: { range } })).batches, [])
})

test('the replace guard bounds the share that is removed, and an empty source removes nothing, unless it is confirmed', async () => {
  await assert.rejects(removed(await mirrorOf([[1], [2], [3]], [[1]])), isGuarded)
  await assert.rejects(removed(await mirrorOf([[1]], []), { share: 0 }), isGuarded)
  const { batches } = await removed(await mirrorOf([[1]], []), { state: { confirmed: true } })
  assert.equal(batches.length, 1)
  assert.deepEqual((await removed(await mirrorOf([], []))).batches, [])
})

test('a source without rows that continues after a cursor is refused, though it is confirmed', async () => {
  const mirror = await mirrorOf([[1]], [])
  await assert.rejects(removed(mirror, { state: { confirmed: true, cursor: 7 } }), { code: 'invalid_setting' })
})

test('a rejected row stays, and one without a key could be any row, so that nothing is removed', async () => {
  const known = await mirrorOf([[1], [2], [3]], [[1]])
  known.seeRejected([2])
  assert.deepEqual(
    (await removed(known)).batches.map(({ rows }) => rows),
    [[[null, 3]]],
  )
  for (const unknown of [undefined, [null], ['']]) {
    const mirror = await mirrorOf([[1], [2], [3]], [[1], [2]])
    mirror.seeRejected(unknown)
    const { batches, notes } = await removed(mirror)
    assert.deepEqual(batches, [])
    assert.match(notes.join(), /^Nothing was removed, although the source lacks 1 row .* 1 record of it was rejected/)
  }
})

test('keys that a destination may take for the same are the same', async () => {
  const same = [
    ['Straße', 'STRASSE ', 'strasse'],
    ['é', 'e', 'É'],
    ['007', '7', '7.0', '+7', 7],
    ['-0.50', '-0.5'],
    ['0', '-0', '00.0'],
  ]
  for (const [first, ...others] of same)
    for (const other of others) assert.equal(foldKey(other ?? null), foldKey(first ?? null))
  assert.deepEqual(['1e5', 'a b', true, null, '1.25'].map(foldKey), ['1e5', 'a b', 'true', null, '1.25'])
  const { batches } = await removed(await mirrorOf([['A'], ['b']], [['a'], ['B ']]))
  assert.deepEqual(batches, [])
  const both = await removed(await mirrorOf([['A'], ['a'], ['A'], ['b'], ['c']], [['b'], ['C']]), { share: 0 })
  assert.deepEqual(
    both.batches.flatMap(({ rows }) => rows),
    [
      [null, 'A'],
      [null, 'a'],
    ],
  )
})

test('a key that is not the one of its record is not removed', async () => {
  const pages = new KeyPageWriter()
  const record = recordOf([1])
  const table = new DigestTable(1)
  table.fill(record)
  pages.add([...record], [2])
  const page = pages.flush() as { records: string; keys: string }
  const mirror = new Mirror({ readKeys: async (after) => (after ? null : { pages: [page], last: 1 }) }, table, key, [
    'id',
  ])
  await assert.rejects(removed(mirror, { state: { confirmed: true } }), /not the one of its record/)
})

test('a page of keys has whole rows, and a bound', () => {
  const writer = new KeyPageWriter()
  const keys: Row[] = Array.from({ length: 8_200 }, (_, id) => [id, `line\n${id}`])
  const sizes: number[] = []
  for (const [i, row] of keys.entries()) {
    const page = writer.add(uncertainRecord(i, 2), row)
    if (page) sizes.push(decodeRecords(page.records).length / 4)
  }
  const last = writer.flush() as { records: string; keys: string }
  const rows = [...rowsOfPage(last)]
  assert.equal(sizes.reduce((sum, size) => sum + size, 0) + rows.length, keys.length)
  assert.deepEqual(rows.at(-1), { high: 8_199, low: 2, key: keys.at(-1) })
  assert.equal(writer.flush(), undefined)
})

test('a mirror needs a source that reads everything', () => {
  assert.equal(whyNotWhole({}), undefined)
  assert.equal(whyNotWhole({ cursor: 'key of a server', readsAll: true }), undefined)
  const window = { scope: {}, key: [], begins: true, ends: true }
  for (const chunk of [{ cursor: 1 }, { cursorAfter: () => 1 }, { removed: new Set([0]) }, { window }]) {
    assert.notEqual(whyNotWhole(chunk), undefined)
  }
})
