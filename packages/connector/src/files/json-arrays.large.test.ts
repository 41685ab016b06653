import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testContext } from '../acceptance/index.ts'
import { rowErrors } from './bounds.ts'
import { readFiles } from './read.ts'
import type { FileStore } from './store.ts'

/** A file that is generated while it is read: a start, a repeated piece, and an end. */
function storeOf(start: string, piece: Buffer, count: number, end: string): FileStore {
  const sizeBytes = start.length + piece.length * count + end.length
  return {
    list: async () => [{ name: 'a.json', sizeBytes, version: '1' }],
    async *read(_file, fromByte) {
      if (fromByte === 0) yield Buffer.from(start)
      const skipped = Math.max(0, fromByte - start.length)
      const first = Math.floor(skipped / piece.length)
      for (let number = first; number < count; number += 1) {
        yield number === first ? piece.subarray(skipped % piece.length) : piece
      }
      yield Buffer.from(end)
    },
  }
}

async function readAllOf(store: FileStore) {
  const reader = await readFiles(testContext(), store, { format: 'auto' })
  const errors = new Map<string, number>()
  let rows = 0
  let checkpoint: unknown
  let memory = 0
  try {
    for await (const chunk of reader.read()) {
      rows += chunk.rows.length
      for (const error of chunk.errors?.values() ?? []) errors.set(error, (errors.get(error) ?? 0) + 1)
      checkpoint = chunk.checkpoint
      memory = Math.max(memory, process.memoryUsage.rss())
    }
  } finally {
    await reader.close()
  }
  return { rows, errors, checkpoint, memory }
}

const megabytes = Number(process.env.PENSTOCK_TEST_JSON_MB ?? 300)

describe('JSON from anyone', () => {
  test('is read as an array of any size, in memory that does not grow with it', async () => {
    const object = `{"id":12345678901234567890,"name":"a, \\"b\\" [}","tags":[{"x":[1,2]}],"note":"${'n'.repeat(200)}"},\n`
    const piece = Buffer.from(object.repeat(Math.ceil((1 << 20) / object.length)))
    const rowsOfPiece = piece.length / object.length
    await readAllOf(storeOf('[', piece, 20, '{"id":1}]'))
    const before = process.memoryUsage.rss()
    const { rows, errors, memory } = await readAllOf(storeOf('[', piece, megabytes, '{"id":1}]'))
    assert.equal(rows, rowsOfPiece * megabytes + 1)
    assert.equal(errors.size, 0)
    assert.ok(memory - before < 150 << 20, `${(memory - before) >> 20} MiB more`)
  })

  test('is refused with words for a text without an end, and for keys without number', async () => {
    const text = Buffer.alloc(1 << 20, 'a')
    const long = 'b'.repeat(6 << 20)
    const first = await readAllOf(storeOf(`[{"b":"${long}","a":1},`, Buffer.from('{"a":1},'), 10, '{"a":2}]'))
    assert.deepEqual([first.rows, first.errors.size], [12, 0])
    for (const [start, end] of [
      ['[{"a":"', '"}]'],
      ['{"a":"', '"}'],
      ['[{"a":1},{"a":"', '"}]'],
    ] as const) {
      await assert.rejects(readAllOf(storeOf(start, text, 1_024, end)), {
        code: 'row_too_large',
        message: /^a\.json has a row of more than 16 MiB\. /,
      })
    }
    const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join()
    const read = (content: string) => readAllOf(storeOf(content, Buffer.from(' '), 1, ''))
    for (const content of [`[{${keys}}]`, `{${keys}}`]) {
      await assert.rejects(read(content), { code: 'too_many_columns', message: /more than 2000 columns/ })
    }
    const { rows, errors } = await read(`[{"a":1},{${keys}}]`)
    assert.equal(rows, 2)
    assert.deepEqual([...errors], [['The row has a field that is not in the first rows.', 1]])
  })

  test('rejects the row that is nested without end, or that has bytes that are not text, and no other', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const levels = 1_000_000
      const deep = `${open.repeat(levels)}1${close.repeat(levels)}`
      const store = storeOf(`[{"a":1},{"a":${deep}},`, Buffer.from('{"a":2},'), 10, '{"a":3}]')
      const { rows, errors } = await readAllOf(store)
      assert.equal(rows, 13)
      assert.deepEqual([...errors], [[rowErrors.nestedTooDeep, 1]])
    }
    const broken = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"},')])
    const { rows, errors } = await readAllOf(storeOf('[{"a":1},', broken, 3, '{"a":3}]'))
    assert.equal(rows, 5)
    assert.deepEqual([...errors.values()], [3])
    assert.match([...errors.keys()][0] ?? '', /is not valid UTF-8/)
  })
})
