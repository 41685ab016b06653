import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Chunk, Row, SourceReader } from '@penstock/connector'
import type { DigestRecords } from '../../../protocol.ts'
import { fillBatches } from '../../batches.ts'
import { confirmationOf, entryOf } from '../../confirmation.ts'
import { beginning } from '../../filled-batch.ts'
import { ChangedRows } from './changed-rows.ts'
import {
  DigestTable,
  decodeRecords,
  encodeRecords,
  freshRecord,
  RowDigester,
  recordWords,
  refusedRecord,
  uncertainRecord,
} from './row-digests.ts'
import { keyOfRows } from './row-keys.ts'

const columns = ['id', 'value']
const key = Buffer.alloc(32, 7)
const plain = { salt: null }

const unmapped = ({ rows }: Pick<Chunk, 'rows'>) => ({ rows, errors: new Map() })

/** Digests of a connection, as a database keeps them. */
class Log {
  pages: Uint32Array[] = []
  readDigests = async (after: number) => {
    const page = this.pages[after]
    return page ? { digests: encodeRecords(page), last: after + 1, pages: 1 } : null
  }
  readKeys = async () => null
  doubtRows = async ({ records }: DigestRecords) => {
    this.pages.push(decodeRecords(records))
  }
  replaceDigests = async (pages: Iterable<DigestRecords> | AsyncIterable<DigestRecords>) => {
    const all: Uint32Array[] = []
    for await (const { records } of pages) all.push(decodeRecords(records))
    this.pages = all
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

/** A connection with a destination that writes rows by their key. */
class Connection {
  readonly log = new Log()
  sent = 0

  /** Runs a transfer of all rows. */
  async run(rows: readonly Row[]): Promise<void> {
    this.sent = 0
    const changed = await ChangedRows.open({
      host: this.log,
      state: {
        digests: { key: key.toString('base64'), records: this.log.records, salt: null, keys: false },
        testRows: null,
        replay: null,
        deliveryStates: [],
      },
      keyNames: ['id'],
      settings: { sendRows: 'Changed' },
      onProgress: () => {},
    })
    assert.ok(changed)
    const batches = fillBatches(readerOf(rows), {
      from: beginning,
      firstNumber: 1,
      mapperFor: async (source) => {
        await changed.begin({ source, mapping: { columns } })
        return () => changed.mark(unmapped(source), { source })
      },
      bounds: { rowsMax: 4, bytesMax: 1_000 },
      pending: null,
      unconfirmed: null,
      testRows: null,
    })
    for await (const filled of batches) {
      await changed.sending(filled)
      this.sent += filled.rows.length
      const entry = entryOf(filled, { bytes: 1 })
      changed.added({ batch: filled, isDelivered: true })
      const confirmation = changed.confirming(confirmationOf([entry], null, columns, 100), entry.rejects)
      if (confirmation.digests) this.log.pages.push(decodeRecords(confirmation.digests))
    }
  }
}

test('only changed rows are sent, and the log is written again if it has many small pages', async () => {
  const connection = new Connection()
  const rows = Array.from({ length: 400 }, (_, id): Row => [id, 1])
  await connection.run(rows)
  assert.equal(connection.sent, 400)
  assert.equal(connection.log.pages.length, 100)
  rows[5] = [5, 2]
  rows[300] = [300, 2]
  await connection.run(rows)
  assert.equal(connection.sent, 2)
  assert.ok(connection.log.pages.length < 10)
  await connection.run(rows)
  assert.equal(connection.sent, 0)
})

test('the next pages are asked for before the records of some are taken, and a failure to read them is thrown', async () => {
  const asked: number[] = []
  const askedBefore: number[] = []
  const log = new Log()
  log.pages = [1, 2, 3].map((id) => Uint32Array.of(id, 2, 3, 4))
  const open = (readDigests: Log['readDigests']) =>
    ChangedRows.open({
      host: Object.assign(new Log(), { readDigests }),
      state: {
        digests: { key: key.toString('base64'), records: log.records, salt: null, keys: false },
        testRows: null,
        replay: null,
        deliveryStates: [],
      },
      keyNames: ['id'],
      settings: { sendRows: 'Changed' },
      onProgress: () => askedBefore.push(asked.length),
    })
  await open((after) => {
    asked.push(after)
    return log.readDigests(after)
  })
  assert.deepEqual(asked, [0, 1, 2, 3])
  assert.deepEqual(askedBefore, [2, 3, 4])
  const ended = new Error('The transfer ends here')
  await assert.rejects(
    open(async (after) => {
      if (after > 1) throw ended
      return log.readDigests(after)
    }),
    ended,
  )
})

test('of rows with the same key in one chunk, each is compared with what was sent before it', async () => {
  const connection = new Connection()
  await connection.run([['a', 1]])
  await connection.run([
    ['a', 2],
    ['a', 1],
    ['b', 1],
  ])
  assert.equal(connection.sent, 3)
  await connection.run([
    ['a', 1],
    ['b', 1],
  ])
  assert.equal(connection.sent, 0)
})

test('a record has the first bytes of SHA-512/256 of a derived secret and the values, as version 0.1.0 stored them', () => {
  const derived = (purpose: string, names: readonly string[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, names]))
      .digest('hex')
  const digestOf = (secret: string, cells: Row) =>
    createHash('sha512-256')
      .update(secret + JSON.stringify(cells))
      .digest()
  for (const row of [
    ['1', 'é'],
    [2, null],
    ['', true],
  ] satisfies Row[]) {
    const record = new Uint32Array(recordWords)
    new RowDigester(key, columns, [0], plain).write(row, record, 0)
    const [first, second] = [digestOf(derived('key', ['id']), row.slice(0, 1)), digestOf(derived('row', columns), row)]
    const words = [first.readUInt32LE(0), first.readUInt32LE(4), second.readUInt32LE(0), second.readUInt32LE(4)]
    assert.deepEqual([...record], words)
  }
})

test('the same values under other columns, and under another key, are other rows', () => {
  const recordOf = (digester: RowDigester) => {
    const record = new Uint32Array(recordWords)
    digester.write(['a', 'b'], record, 0)
    return [...record]
  }
  const [first, other, moved] = [
    new RowDigester(key, columns, [0], plain),
    new RowDigester(key, ['id', 'other'], [0], plain),
    new RowDigester(Buffer.alloc(32, 8), columns, [0], plain),
  ].map(recordOf)
  const salted = recordOf(new RowDigester(key, columns, [0], { salt: 'another' }))
  assert.deepEqual(salted.slice(0, 2), first?.slice(0, 2))
  assert.notDeepEqual(salted.slice(2), first?.slice(2))
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
  assert.deepEqual([table.takeForgotten(0xffffffff, 101, 9), table.takeForgotten(0xffffffff, 101, 9)], [true, false])
  assert.equal(
    [...table.certain(64)].reduce((sum, page) => sum + page.length / recordWords, 0),
    99,
  )
})

test('a first row that is rejected leaves no key, unless another row may have been delivered since', () => {
  const [high, low] = [7, 8]
  const tableOf = (...records: (readonly number[])[]) => {
    const table = new DigestTable(4)
    for (const record of records) table.fill(Uint32Array.from(record))
    return table
  }
  const [fresh, refused] = [freshRecord(high, low, 1_000), refusedRecord(high, low, 1_000)]
  assert.ok(tableOf(fresh).hasKey(high, low))
  assert.ok(!tableOf(fresh, refused).hasKey(high, low))
  assert.ok(!tableOf(fresh, fresh, refused, refused).hasKey(high, low))
  // After a crash, the first row may be at the destination, and another one is rejected.
  assert.ok(tableOf(fresh, refusedRecord(high, low, 2_000)).hasKey(high, low))
  assert.ok(tableOf(fresh, uncertainRecord(high, low), refused).hasKey(high, low))
  assert.ok(tableOf(fresh, [high, low, 1_000, 9], refused).hasKey(high, low))
  const table = tableOf(fresh)
  assert.deepEqual([table.takeForgotten(high, low, 1_000), table.takeForgotten(high, low, 2_000)], [false, true])
  assert.ok(tableOf(table.recordOf(high, low), refused).hasKey(high, low))
  assert.ok(!tableOf(tableOf(fresh).recordOf(high, low), refused).hasKey(high, low))
})

test('the key of rows is that of an upsert, the named columns, or all columns', () => {
  assert.deepEqual(keyOfRows({ rowKey: 'other' }, ['id']), ['id'])
  assert.deepEqual(keyOfRows({ rowKey: ' id , day' }, undefined), ['id', 'day'])
  assert.equal(keyOfRows({ rowKey: '*' }, undefined), undefined)
  assert.throws(() => keyOfRows({}, undefined), /no columns identify a row/)
})
