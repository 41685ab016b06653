import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { type Rest, rowsIn, type SnowflakeRow } from './result-rows.ts'

/** Bytes in pieces that end at these places. */
async function* piecesOf(bytes: Buffer, ends: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const end of [...ends.map((each) => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, end)
    from = end
  }
}

async function parse(text: string, ends: readonly number[] = []): Promise<{ rows: SnowflakeRow[]; rest: Rest }> {
  const pages = rowsIn(piecesOf(Buffer.from(text), ends))
  const rows: SnowflakeRow[] = []
  let next = await pages.next()
  for (; !next.done; next = await pages.next()) rows.push(...next.value)
  return { rows, rest: next.value }
}

const cell = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '[{"data":[', ']}', '\\"')))
const answer = fc.record({
  before: fc.dictionary(fc.string(), fc.json()),
  rows: fc.array(fc.array(cell)),
  after: fc.dictionary(fc.string(), fc.jsonValue()),
  space: fc.constantFrom(undefined, 1),
})
const ends = fc.array(fc.nat(2000), { maxLength: 30 })

describe('rowsIn', () => {
  test('gives the rows and the rest of an answer, however it comes in pieces', async () => {
    await fc.assert(
      fc.asyncProperty(answer, ends, async ({ before, rows, after, space }, cuts) => {
        const whole = { a: before, list: [[1], { data: [2] }], data: rows, b: after }
        const found = await parse(JSON.stringify(whole, null, space), cuts)
        assert.deepEqual(found.rows, rows)
        assert.deepEqual(found.rest, JSON.parse(JSON.stringify({ ...whole, data: [] })))
      }),
      { numRuns: 300 },
    )
  })

  test('gives many rows a few at a time, and keeps none of them', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"data":[["first"]')
      for (let index = 0; index < 2_000; index++) yield Buffer.from(`,["${index}","${'x'.repeat(30_000)}"]`)
      yield Buffer.from(']}')
    }
    let count = 0
    let most = 0
    for await (const rows of rowsIn(endless())) {
      count += rows.length
      most = Math.max(most, rows.length)
    }
    assert.equal(count, 2_001)
    assert.ok(most < 20, `${most} rows at once`)
  })

  test('asks for another attempt where an answer ends too early or is not JSON', async () => {
    for (const text of ['{"data":[["1"', '{"data":[["1"]', '{"data":[[1,]]}', '<html>', '{"data":[["1"]]', '}{']) {
      const [result] = await Promise.allSettled([parse(text)])
      assert.equal(result?.status, 'rejected', text)
      assert.ok(result.reason instanceof ConnectorError, text)
      assert.deepEqual([result.reason.action, result.reason.code], ['retry', 'malformed_response'])
    }
    assert.deepEqual(await parse(''), { rows: [], rest: {} })
  })
})
