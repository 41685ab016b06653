import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '../acceptance/index.ts'
import type { ConnectorError } from '../connector-error.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'

/** Files of the program bzip2 1.0.8. */
const packed = (base64: string) => Buffer.from(base64, 'base64')
const header = packed('QlpoOTFBWSZTWc34cMoAAALRAAAQAAQmIyAAIgZHoQwIbPOCC7kinChIZvw4ZQA=')
const nothing = packed('QlpoORdyRThQkAAAAAA=')
const people = packed(
  'QlpoOTFBWSZTWZkRYGAAABNdlAAQQAR/4AAQAACIAAAgCAAgAEhqn5U2Kb1NIAkoNAA0rE1SWOszPoHC1ze3Dht2LhBIhAkEgkmAbBcBdBOCcF8XckU4UJCZEWBg',
)
/** 150,000 times 1, and 100,000 times 22: several blocks. All except the first begin within a byte. */
const blocks = packed(
  'QlpoMTFBWSZTWdNFI14Aw0ZJAAAQIAAEICAAIKVPUwzTTaQlBaQlBf9xigrJMprM2ecIuAMNGkAAAIEAAQABhAFI1QlBZQlBcxQVkmU1kriAoKAGGjSAAAECAAIAAwgCkZQlBaoSguYoKyTKazAsHbOACCOZAAACBgAEAAgKU0GY2lclBA7KtSggdSggeYoKyTKazmNSSbgEIvJAAACAgAEAAYQBSMqkIGqkIHMUFZJlNZzGpJNwCEXkgAABAQACAAMIApGVSEDVSEDmKCskyms1dIcNYAAFyQAAAgIABAAGEAmo0Kwri7kinChIA8Vb7QA=',
)

const rowsOf = async (content: Buffer, name = 'a.csv', pieceBytes?: number) =>
  (await readAll(await readFiles(testContext(), memoryStore({ [name]: content }, pieceBytes), { format: 'auto' }))).rows

test('reads files of bzip2 with several streams and blocks, whatever their name is', async () => {
  const wanted = Array.from({ length: 12 }, (_, n) => [String(n), `José ${n % 7}`])
  for (const name of ['a.csv', 'a.csv.bz2', 'a.parquet', 'a']) {
    assert.deepEqual(await rowsOf(Buffer.concat([header, nothing, people, nothing]), name, 7), wanted)
  }
  const many = await rowsOf(blocks)
  assert.deepEqual([many.length, many[149_999], many[150_000], many.at(-1)], [250_000, ['1'], ['22'], ['22']])
  await assert.rejects(rowsOf(nothing), /a\.csv is empty/)
  // A name of a column, and no compression.
  assert.deepEqual(await rowsOf(Buffer.from('BZh9,b\n1,2\n')), [['1', '2']])
})

test('refuses a file of bzip2 that is damaged', async () => {
  const refusal = { code: 'invalid_file', message: /^a\.csv is damaged and cannot be/ }
  const whole = Buffer.concat([header, people])
  for (const damaged of [whole.subarray(0, -1), whole.subarray(0, 60), Buffer.concat([whole, header.subarray(1)])]) {
    await assert.rejects(rowsOf(damaged), refusal)
  }
  const wanted = await rowsOf(whole)
  let refused = 0
  for (let at = 10; at < whole.length; at += 3) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    // Codes without a symbol, and bits after the end of a stream, have no meaning.
    await rowsOf(changed).then(
      (rows) => assert.deepEqual(rows, wanted),
      (error: ConnectorError) => {
        assert.match(`${error.code} ${error.message}`, /^invalid_file a\.csv is damaged and cannot be/)
        refused += 1
      },
    )
  }
  assert.ok(refused > whole.length / 6)
})
