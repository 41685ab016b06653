import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from '../../../../test/harness/property.ts'
import { testContext } from '../acceptance/index.ts'
import { placeOfRow, RowNumbers } from '../row-places.ts'
import type { Chunk } from '../source.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { type ReadOptions, readFiles } from './read.ts'

/** Places of rows in their files. The expected lines are counted in the whole text, at the marker that begins each row. */

type Options = Partial<ReadOptions>
type Found = readonly [marker: string, file: string, unit: string | undefined, number: number | undefined]

const placesIn = (chunks: readonly Chunk[]): Found[] =>
  chunks.flatMap(({ rows, places }) =>
    rows.map((row, at): Found => {
      const place = places && placeOfRow(places, at)
      return [String(row[0]), place?.file ?? '', place?.unit, place?.number]
    }),
  )

/** The places of all rows, which are the same after every checkpoint. */
async function placesOf(files: Record<string, Buffer | string>, options: Options = {}): Promise<Found[]> {
  const store = memoryStore(files, 50)
  const open = () => readFiles(testContext(), store, { format: 'auto', ...options })
  const reader = await open()
  const { chunks } = await readAll(reader)
  await reader.close()
  const all = placesIn(chunks)
  let before = 0
  for (const { checkpoint, rows } of chunks) {
    before += rows.length
    const next = await open()
    assert.deepEqual(placesIn((await readAll(next, checkpoint)).chunks), all.slice(before))
    await next.close()
  }
  return all
}

/** The line of each marker in a text. */
const linesOf = (file: string, text: string, newline: string): Found[] =>
  [...text.matchAll(/m\d+;/g)].map(({ 0: marker, index }) => [
    marker,
    file,
    'line',
    text.slice(0, index).split(newline).length,
  ])

/** Text between the marker of a row and its end, which can have line breaks in quotes; and lines without a row. */
const rest = (newline: string) =>
  fc.array(
    fc.oneof(
      fc.constantFrom('x', '', '€', 'x,surplus', ' x"y'),
      fc
        .array(fc.constantFrom('a', ',', '""', newline, `${newline}${newline}`, 'ü'), { maxLength: 6 })
        .map((parts) => `"${parts.join('')}"`),
    ),
    { minLength: 1, maxLength: 3 },
  )
const file = fc.constantFrom('\n', '\r\n', '\r').chain((newline) =>
  fc.record({
    newline: fc.constant(newline),
    skipped: fc.array(fc.constantFrom('', 'Export of 2026', '"open'), { maxLength: 3 }),
    blankBefore: fc.nat(2),
    header: fc.constantFrom('marker,b', `marker,"b${newline}c"`),
    rows: fc.array(fc.record({ rest: rest(newline), blank: fc.nat(2), quoted: fc.boolean() }), { maxLength: 12 }),
    ended: fc.boolean(),
  }),
)
type Generated = typeof file extends fc.Arbitrary<infer T> ? T : never

function textOf({ newline, skipped, blankBefore, header, rows, ended }: Generated): string {
  const lines = rows.flatMap(({ rest: cells, blank, quoted }, at) => [
    ...Array.from({ length: blank }, () => ''),
    [quoted ? `"m${at};"` : `m${at};`, ...cells].join(','),
  ])
  const blanks = Array.from({ length: blankBefore }, () => '')
  return [...skipped, ...blanks, header, ...lines].join(newline) + (ended ? newline : '')
}

describe('the places of rows', () => {
  test('are the lines of a CSV file, with header, skipped and empty lines, and line breaks in quotes', async () => {
    const encodings: Record<string, (text: string) => Buffer> = {
      'utf-8': (text) => Buffer.from(text),
      'utf-8 with a mark': (text) => Buffer.from(`\uFEFF${text}`),
      'utf-16': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
      'invalid utf-8': (text) => Buffer.from(text.replaceAll('€', '\u00a4'), 'latin1'),
      packed: (text) => gzipSync(text),
    }
    const format = { format: 'CSV', delimiter: 'comma' } as const
    let counted = 0
    await fc.assert(
      fc.asyncProperty(
        file,
        fc.constantFrom(...Object.keys(encodings)),
        fc.integer({ min: 20, max: 200 }),
        async (generated, encoding, chunkBytes) => {
          const text = textOf(generated)
          const bytes = encodings[encoding]?.(text) as Buffer
          const skipLines = generated.skipped.length
          const found = await placesOf({ 'a.csv': bytes }, { ...format, skipLines, chunkBytes })
          const expected = linesOf('a.csv', text, generated.newline === '\r' ? '\r' : '\n')
          assert.deepEqual(found, expected)
          counted += found.length
        },
      ),
      { numRuns: 400 },
    )
    assert.ok(counted > 1000, `${counted} rows`)
  })

  test('begin again in each file, and name it', async () => {
    const files = { 'in/a.csv': 'marker,b\n\nm1;,x\n', 'in/b.csv': 'b,marker\nx,m2;\n"x\ny",m3;\nx,m4;\n' }
    assert.deepEqual(await placesOf(files, { format: 'CSV' }), [
      ['m1;', 'in/a.csv', 'line', 3],
      ['m2;', 'in/b.csv', 'line', 2],
      ['m3;', 'in/b.csv', 'line', 3],
      ['m4;', 'in/b.csv', 'line', 5],
    ])
  })

  test('are lines of JSON lines, and records of an array', async () => {
    const text = '{"m":"m1;"}\n\n \n{"m":"m2;"}\nnot JSON\n{"m":"m3;"}'
    assert.deepEqual(await placesOf({ 'a.jsonl': text }), [
      ['m1;', 'a.jsonl', 'line', 1],
      ['m2;', 'a.jsonl', 'line', 4],
      ['null', 'a.jsonl', 'line', 5],
      ['m3;', 'a.jsonl', 'line', 6],
    ])
    assert.deepEqual(await placesOf({ 'a.json': '\n[\n{"m":"m1;"},\n\n{"m":"m2;"}\n]\n' }), [
      ['m1;', 'a.json', 'record', 1],
      ['m2;', 'a.json', 'record', 2],
    ])
  })

  test('are unknown after a checkpoint of an earlier version', async () => {
    const store = memoryStore({ 'a.csv': `marker,b\n${'m1;,x\n'.repeat(20)}` })
    const reader = await readFiles(testContext(), store, { format: 'CSV', chunkBytes: 20 })
    const [first] = (await readAll(reader)).chunks
    const { records: _, ...older } = (first as Chunk).checkpoint as { records: number; place: { line: number } }
    const { line: __, ...place } = older.place
    const { chunks } = await readAll(reader, { ...older, place })
    assert.ok(chunks.length > 0 && chunks.every(({ places }) => places === undefined))
    await reader.close()
  })
})

test('numbers of rows are found by their pairs', () => {
  const places = (pairs: readonly number[]) => ({ file: 'a', unit: 'row' as const, numbers: pairs })
  const ascending = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 40 }).map((steps) => {
    let number = 0
    return steps.map((step) => (number += step))
  })
  fc.assert(
    fc.property(ascending, (expected) => {
      const numbers = new RowNumbers()
      for (const [at, number] of expected.entries()) numbers.set(at, number)
      assert.deepEqual(
        expected.map((_, at) => placeOfRow(places(numbers.pairs), at).number),
        expected,
      )
      const skips = new RowNumbers(expected[0])
      for (const [at, number] of expected.entries()) if (at > 0) skips.skip(at, number - (expected[at - 1] ?? 0) - 1)
      assert.deepEqual(skips.pairs, numbers.pairs)
    }),
  )
})
