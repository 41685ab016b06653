import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row, SourceReader } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { beginning, type Checkpoint, type ChunkMapper, fillBatches } from './batches.ts'
import { ChangedRows, keyOfRows } from './changed-rows.ts'
import { confirmationOf, entryOf } from './confirmation.ts'
import { DigestTable, decodeRecords, encodeRecords, RowDigester, recordWords } from './row-digests.ts'

const columns = ['id', 'value']
const key = Buffer.alloc(32, 7)

const passing: ChunkMapper = ({ rows }) => ({ rows, errors: new Map() })

/** Digests of a connection, as a database keeps them. */
class Log {
  pages: Uint32Array[] = []
  readDigests = async (after: number) => {
    const page = this.pages[after]
    return page ? { digests: encodeRecords(page), last: after + 1, pages: 1 } : null
  }
  doubtRows = async (records: string) => {
    this.pages.push(decodeRecords(records))
  }
  replaceDigests = async (pages: Iterable<Uint32Array>) => {
    this.pages = [...pages].map((page) => page.slice())
  }
  get records(): number {
    return this.pages.reduce((sum, page) => sum + page.length / recordWords, 0)
  }
}

const readerOf = (rows: readonly Row[]): SourceReader => ({
  async *read(checkpoint) {
    for (let at = (checkpoint as number | undefined) ?? 0; at < rows.length; at += 3) {
      const some = rows.slice(at, at + 3)
      yield { columns, rows: some, checkpoint: at + some.length, bytes: 10 * some.length }
    }
  },
  close: async () => {},
})

type Place = 'before' | 'sent' | 'confirmed'
type Crash = { readonly batch: number; readonly place: Place }

class Crashed extends Error {}

/** A connection with a destination that writes rows by their key, and rejects rows with the value 0. */
class Connection {
  readonly log = new Log()
  readonly destination = new Map<unknown, unknown>()
  checkpoint: Checkpoint = beginning
  read = 0
  pending: number | null = null
  sent = 0

  begin(): void {
    this.checkpoint = beginning
    this.read = 0
    this.pending = null
    this.sent = 0
  }

  /** Runs from the checkpoint to the end, or to the crash. */
  async run(rows: readonly Row[], crash?: Crash): Promise<void> {
    const changed = await ChangedRows.open({
      host: this.log,
      state: {
        digests: { key: key.toString('base64'), records: this.log.records },
        testRows: null,
        replay: null,
        deliveryStates: [],
      },
      settings: {},
      upsertKeys: ['id'],
      onProgress: () => {},
    })
    assert.ok(changed)
    const batches = fillBatches(readerOf(rows), {
      from: this.checkpoint,
      firstNumber: this.read + 1,
      mapperFor: () => changed.mapperOf(columns, passing),
      bounds: { rowsMax: 4, bytesMax: 1_000 },
      pending: this.pending,
      unconfirmed: null,
      testRows: null,
    })
    const at = (place: Place, batch: number) => {
      if (crash?.batch === batch && crash.place === place) throw new Crashed()
    }
    let batch = 0
    for await (const filled of batches) {
      this.pending = filled.covered
      await changed.doubt(filled)
      at('before', batch)
      const rejected = []
      for (const [index, [id, value]] of filled.rows.entries()) {
        if (value === 0) rejected.push({ index, reason: 'it is 0' })
        else this.destination.set(id, value)
      }
      this.sent += filled.rows.length
      at('sent', batch)
      const confirmation = confirmationOf([entryOf(filled, { bytes: 1, rejected })], null, columns, 100)
      if (confirmation.digests) this.log.pages.push(decodeRecords(confirmation.digests))
      this.checkpoint = confirmation.checkpoint as Checkpoint
      this.read += confirmation.read
      this.pending = null
      at('confirmed', batch)
      batch += 1
    }
  }
}

const rowsOf = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 })), { maxLength: 20 })
const crashOf = fc.record({
  batch: fc.nat(4),
  place: fc.constantFrom<Place>('before', 'sent', 'confirmed'),
})
const stepOf = fc.record({ rows: rowsOf, crash: fc.option(crashOf, { nil: undefined }), resumes: fc.boolean() })

/** The rows that the destination must have after a whole transfer, of keys of which no row is rejected. */
const expected = (rows: readonly Row[]) => {
  const last = new Map<unknown, unknown>()
  for (const [id, value] of rows) last.set(id, value)
  for (const [id, value] of rows) if (value === 0) last.delete(id)
  return last
}

test('after any edits, rejections and crashes, a whole transfer makes the destination equal to the source', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 8 }), rowsOf, async (steps, end) => {
      const connection = new Connection()
      for (const { rows, crash, resumes } of steps) {
        if (!resumes) connection.begin()
        await connection.run(rows, crash).catch((error) => {
          if (!(error instanceof Crashed)) throw error
        })
      }
      connection.begin()
      await connection.run(end)
      for (const [id, value] of expected(end)) assert.equal(connection.destination.get(id), value)
      const keys = new Set(end.map(([id]) => id))
      connection.begin()
      await connection.run(end)
      if (keys.size === end.length) assert.equal(connection.sent, end.filter(([, value]) => value === 0).length)
    }),
    { numRuns: 150 },
  )
})

test('only changed rows are sent, and the log is written again if it has many small pages', async () => {
  const connection = new Connection()
  const rows = Array.from({ length: 400 }, (_, id): Row => [id, 1])
  await connection.run(rows)
  assert.equal(connection.sent, 400)
  assert.equal(connection.log.pages.length, 100)
  rows[5] = [5, 2]
  rows[300] = [300, 2]
  connection.begin()
  await connection.run(rows)
  assert.equal(connection.sent, 2)
  assert.ok(connection.log.pages.length < 10)
  connection.begin()
  await connection.run(rows)
  assert.equal(connection.sent, 0)
})

test('the same values under other columns, and under another key, are other rows', () => {
  const recordOf = (digester: RowDigester) => {
    const record = new Uint32Array(recordWords)
    digester.write(['a', 'b'], record, 0)
    return [...record]
  }
  const [first, other, moved] = [
    new RowDigester(key, columns, [0]),
    new RowDigester(key, ['id', 'other'], [0]),
    new RowDigester(Buffer.alloc(32, 8), columns, [0]),
  ].map(recordOf)
  assert.deepEqual(first?.slice(0, 2), other?.slice(0, 2))
  assert.notDeepEqual(first?.slice(2), other?.slice(2))
  assert.notDeepEqual(first?.slice(0, 2), moved?.slice(0, 2))
})

test('a table keeps the last record of a key, and finds every key even if all begin alike', () => {
  const table = new DigestTable(100)
  table.fill(Uint32Array.from(Array.from({ length: 100 }, (_, i) => [0xffffffff, 2 + i, i, 9]).flat()))
  table.fill(Uint32Array.of(0xffffffff, 2, 77, 78))
  assert.equal(table.size, 100)
  assert.ok(table.hasRow(Uint32Array.of(0xffffffff, 2, 77, 78), 0))
  assert.ok(table.hasRow(Uint32Array.of(0xffffffff, 101, 99, 9), 0))
  table.forget(0xffffffff, 101)
  assert.ok(!table.hasRow(Uint32Array.of(0xffffffff, 101, 99, 9), 0))
  assert.deepEqual([table.takeForgotten(0xffffffff, 101), table.takeForgotten(0xffffffff, 101)], [true, false])
  assert.equal(
    [...table.certain(64)].reduce((sum, page) => sum + page.length / recordWords, 0),
    99,
  )
})

test('the key of rows is that of an upsert, the named columns, or all columns', () => {
  assert.deepEqual(keyOfRows({ rowKey: 'other' }, ['id']), ['id'])
  assert.deepEqual(keyOfRows({ rowKey: ' id , day' }, undefined), ['id', 'day'])
  assert.equal(keyOfRows({ rowKey: '*' }, undefined), undefined)
  assert.throws(() => keyOfRows({}, undefined), /no columns identify a row/)
})
