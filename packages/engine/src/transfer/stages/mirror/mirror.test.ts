import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chunk, ConnectorError, Row } from '@penstock/connector'
import type { TransferState } from '../../../protocol.ts'
import { beginning, type FilledBatch } from '../../filled-batch.ts'
import { ChangedRows } from '../changed-rows/changed-rows.ts'
import { DigestTable, decodeRecords, RowDigester, uncertainRecord } from '../changed-rows/row-digests.ts'
import { foldKey } from '../rejected-keys/fold-key.ts'
import { KeyPageWriter, rowsOfPage } from './key-pages.ts'
import { Mirror, textOfKey, whyNotWhole } from './mirror.ts'
import type { NameKeys } from './mirror-notations.ts'
import { removalsOf } from './mirror-removals.ts'

const key = Buffer.alloc(32, 7)
const digester = new RowDigester(key, ['id'], undefined, { salt: null, formOf: textOfKey })
const recordOf = (row: Row) => {
  const record = new Uint32Array(4)
  digester.write(row, record, 0)
  return record
}

/** A mirror that has sent rows with the keys `had`. Its source now has the keys `has`. */
async function mirrorOf(had: readonly Row[], has: readonly Row[], removes = true): Promise<Mirror> {
  const pages = new KeyPageWriter()
  const table = new DigestTable(had.length)
  for (const row of had) {
    const record = recordOf(row)
    table.fill(record)
    pages.add([...record], row)
  }
  const page = pages.flush() as { records: string; keys: string } | undefined
  const readKeys = async (after: number) => (after === 0 && page ? { pages: [page], last: 1 } : null)
  const mirror = new Mirror({ readKeys }, table, key, ['id'], removes)
  for (const row of has) mirror.see(row, recordOf(row), 0)
  return mirror
}

const state = { range: null, read: 0, checkpoint: null, confirmed: false, cursor: null }

async function removed(
  mirror: Mirror,
  changes: { share?: number; state?: Partial<TransferState>; nameKeys?: NameKeys; source?: readonly Row[] } = {},
): Promise<{ batches: FilledBatch[]; notes: string[]; stored: number[][] }> {
  const notes: string[] = []
  const stored: number[][] = []
  const { source } = changes
  const batches: FilledBatch[] = []
  const removals = removalsOf(mirror, {
    host: {
      reportLine: async ({ text }) => void notes.push(text),
      doubtRows: async ({ records }) => void stored.push([...decodeRecords(records)]),
    },
    job: { replaceShareMin: changes.share ?? 0.5 },
    state: { ...state, ...changes.state },
    sides: {
      bounds: { rowsMax: 2, bytesMax: 1_000 },
      columns: ['name', 'id'],
      openReader: async () => ({
        async *read() {
          yield { columns: ['name', 'id'], rows: source ?? assert.fail('the source was read'), bytes: 1, checkpoint: 1 }
        },
        close: async () => {},
      }),
    },
    mapperFor: async () => (chunk: Pick<Chunk, 'rows'>) => ({
      rows: chunk.rows,
      errors: new Map(),
      digests: Uint32Array.from(chunk.rows.flatMap(([, id]) => [...recordOf([id ?? null])])),
    }),
    nameKeys: changes.nameKeys ?? (async () => undefined),
    settled: async () => {},
    confirmed: { read: 10, checkpoint: null },
    signal: AbortSignal.timeout(1_000),
    onProgress: () => {},
  })
  for await (const batch of removals) batches.push(batch)
  return { batches, notes, stored }
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

test('a mirror removes rows in its own transfers, and not in tests, replays and transfers of other rows', async () => {
  const removesIn = async (sendRows: string, own: Partial<TransferState> = {}) => {
    const digests = { key: key.toString('base64'), records: 0, salt: null, keys: true }
    const read = async () => null
    const opened = await ChangedRows.open({
      host: { readDigests: read, readKeys: read, doubtRows: async () => {}, replaceDigests: async () => {} },
      state: { testRows: null, replay: null, deliveryStates: [], ...own, digests },
      keyNames: ['id'],
      settings: { sendRows },
      onProgress: () => {},
    })
    return [opened?.mirror?.removes, opened?.leavesOut]
  }
  assert.deepEqual(await removesIn('Mirror'), [true, true])
  assert.deepEqual(await removesIn('Changed'), [false, true])
  assert.deepEqual(await removesIn('All'), [false, false])
  assert.deepEqual(await removesIn('Mirror', { testRows: 1 }), [false, false])
  assert.deepEqual(await removesIn('Mirror', { replay: { columns: [], rows: 1 } }), [false, false])
})

test('a backfill, and a transfer that only keeps the keys, remove nothing', async () => {
  const range = { from: '2026-01-01', to: '2026-01-31' }
  assert.deepEqual((await removed(await mirrorOf([[1], [2]], [[1]]), { state: { range } })).batches, [])
  const keeps = await mirrorOf([[1], [2]], [[1]], false)
  keeps.begin({ cursor: 1 })
  assert.deepEqual((await removed(keeps)).batches, [])
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

test('keys of rejected records are compared without case, accents, spaces and zeros', () => {
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
})

test('another notation of a key is another key, unless the destination takes it for the same: then its row is sent again', async () => {
  const source: Row[] = [
    ['new', 'ada'],
    ['other', 'bob'],
  ]
  const had = [['Ada'], ['ADA'], ['bob'], ['eve']]
  const mirror = () => mirrorOf(had, [['ada'], ['bob']])
  const exact = await removed(await mirror(), { share: 0 })
  assert.deepEqual(
    exact.batches.flatMap(({ rows }) => rows),
    [
      [null, 'Ada'],
      [null, 'ADA'],
      [null, 'eve'],
    ],
  )
  const known = await mirrorOf([...had, ['ada']], [['ada'], ['bob']])
  const nameKeys: NameKeys = async (keys) => keys.map(([id]) => (id === 'eve' ? null : String(id).toLowerCase()))
  const { batches, stored } = await removed(known, { source, nameKeys, share: 0.8 })
  assert.deepEqual(
    batches.map(({ rows, removed, first }) => ({ rows, removed: removed.size, first })),
    [
      { rows: [['new', 'ada']], removed: 0, first: 11 },
      { rows: [[null, 'eve']], removed: 1, first: 12 },
    ],
  )
  const key = (id: string) => [...recordOf([id])].slice(0, 2)
  assert.deepEqual(stored, [
    [...key('ada'), 0, 0],
    [...key('Ada'), 1, 0, ...key('ADA'), 1, 0],
  ])
})

test('the row of a key stays if its record is rejected in another notation', async () => {
  const mirror = await mirrorOf([['Ada'], ['bob']], [['bob']])
  mirror.seeRejected(['ada'])
  const nameKeys: NameKeys = async (keys) => keys.map(([id]) => String(id).toLowerCase())
  assert.deepEqual((await removed(mirror, { nameKeys })).batches, [])
})

test('a key that is not the one of its record is not removed', async () => {
  const pages = new KeyPageWriter()
  const record = recordOf([1])
  const table = new DigestTable(1)
  table.fill(record)
  pages.add([...record], [2])
  const page = pages.flush() as { records: string; keys: string }
  const readKeys = async (after: number) => (after ? null : { pages: [page], last: 1 })
  const mirror = new Mirror({ readKeys }, table, key, ['id'], true)
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

test('a source that follows changes is mirrored: rows are removed after a copy, and none if it continues', async () => {
  const changes = { cursor: 1, removed: new Set([0]) }
  const mirror = await mirrorOf([[1], [2]], [[1]])
  assert.throws(() => mirror.begin(changes), { code: 'invalid_setting' })
  mirror.open({ follows: 'whole' })
  mirror.begin(changes)
  assert.deepEqual(
    (await removed(mirror)).batches.map(({ rows }) => rows),
    [[[null, 2]]],
  )
  const continued = await mirrorOf([[1], [2]], [[1]])
  continued.open({ follows: 'changes' })
  continued.begin(changes)
  assert.deepEqual((await removed(continued, { state: { cursor: 7, checkpoint: { at: 1 } } })).batches, [])
})
