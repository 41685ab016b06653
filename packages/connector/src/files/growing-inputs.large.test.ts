import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import fc from '../../../../test/harness/property.ts'
import { assertLinear } from '../../test/growth.ts'
import { testContext } from '../acceptance/index.ts'
import { distinctNames } from './column-names.ts'
import { memoryStore } from './memory-store.ts'
import { nameMatcher } from './name-pattern.ts'
import { readFiles } from './read.ts'

/**
 * Files are untrusted, so no reader may need more time per byte for longer files. Inputs consist of a start, a repeated unit and
 * an end, which are all chosen from the special characters of the format.
 */

const words = (tokens: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...tokens), { maxLength }).map((parts) => parts.join(''))

/** Starts, units and ends of tokens. */
const shapes = (tokens: readonly string[]) =>
  fc.tuple(
    words(tokens, 4),
    words(tokens, 5).filter((unit) => unit !== ''),
    words(tokens, 4),
  )

const grown =
  ([start, unit, end]: readonly [string, string, string]) =>
  (bytes: number) =>
    start + unit.repeat(Math.ceil(bytes / unit.length)) + end

const check = <T>(inputs: fc.Arbitrary<T>, assertion: (input: T) => Promise<void>, numRuns = 20) =>
  fc.assert(fc.asyncProperty(inputs, assertion), { numRuns, endOnFailure: true })

function parquetOf(rows: number, layout: { rowGroupSize: number; pageSize: number; distinct: number }): Buffer {
  const writer = new ByteWriter()
  const texts = Array.from({ length: rows }, (_, i) => `text ${i % layout.distinct}`)
  const data = [
    { name: 'text', data: texts },
    { name: 'list', data: texts.map((text, i) => ({ of: [text, i] })), type: 'JSON' as const },
  ]
  parquetWrite({ writer, columnData: data, ...layout, codec: 'UNCOMPRESSED' })
  return Buffer.from(writer.getBytes())
}

async function readAllOf(name: string, content: Buffer | string): Promise<void> {
  const reader = await readFiles(testContext(), memoryStore({ [name]: content }), { format: 'auto' })
  try {
    for await (const chunk of reader.read()) void chunk
  } finally {
    await reader.close()
  }
}

const csvTokens = ['"', '""', ',', ';', '\t', '\n', '\r\n', '\r', 'a', ' ', '\ufeff', '\0', 'é', '<', 'id,email\n']
const jsonTokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\n',
  '\\',
  '\\u0000',
  '1',
  '1e9',
  '0.1',
  '"a":1',
  '{"a":1}\n',
  ' ',
  'é',
]

test('a reader that takes quadratic time is found', async () => {
  const quadratic = (text: string) => {
    let sum = 0
    for (let at = 0; at < text.length; at += 16) {
      for (let from = at; from < text.length; from += 64) sum += text.charCodeAt(from)
    }
    return sum
  }
  await assert.rejects(assertLinear('quadratic', grown(['', 'a', '']), quadratic), /times as long/)
})

describe('a byte of a large input takes no longer than one of a small input', () => {
  test('in CSV', () =>
    check(shapes(csvTokens), (shape) =>
      assertLinear(JSON.stringify(shape), grown(shape), (input) => readAllOf('a.csv', input)),
    ))

  test('in NDJSON', () =>
    check(shapes(jsonTokens), (shape) =>
      assertLinear(JSON.stringify(shape), grown(shape), (input) => readAllOf('a.ndjson', input)),
    ))

  test('in CSV with rows behind a header', () =>
    check(shapes(csvTokens), ([start, unit, end]) =>
      assertLinear(JSON.stringify([start, unit, end]), grown([`id,email\n${start}`, unit, end]), (input) =>
        readAllOf('a.csv', input),
      ),
    ))

  test('in files that are packed', () =>
    check(
      shapes(csvTokens),
      (shape) =>
        assertLinear(
          JSON.stringify(shape),
          (bytes) => gzipSync(grown(shape)(bytes * 8)),
          (input) => readAllOf('a.csv.gz', input),
        ),
      8,
    ))

  test('in Parquet, whole and with a damaged byte', () => {
    const damages = fc.option(fc.tuple(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(255)))
    const layouts = fc.record({
      rowGroupSize: fc.constantFrom(10, 1_000, 1_000_000),
      pageSize: fc.constantFrom(100, 2_000, 1 << 20),
      distinct: fc.constantFrom(1, 100, 1_000_000),
      damage: damages,
    })
    return check(
      layouts,
      ({ damage, ...layout }) =>
        assertLinear(
          JSON.stringify({ damage, ...layout }),
          (bytes) => {
            const file = parquetOf(bytes >> 4, layout)
            if (damage) file[Math.floor(file.length * damage[0])] = damage[1]
            return file
          },
          (input) => readAllOf('a.parquet', input),
        ),
      8,
    )
  })

  test('in names of columns', () =>
    check(shapes(['a', 'a_2', '_', '1', ' ', 'é']), ([start, unit, end]) =>
      assertLinear(
        JSON.stringify([start, unit, end]),
        (bytes) => [start, ...Array.from({ length: bytes / 8 }, (_, i) => (i % 3 ? unit : `${unit}_${i % 7}`)), end],
        distinctNames,
      ),
    ))

  test('in patterns of names, and in names', () =>
    check(fc.tuple(shapes(['*', '*a', '?', 'a', 'b', 'ab']), shapes(['a', 'b', 'ab'])), ([pattern, name]) => {
      const matches = nameMatcher(grown(pattern)(20).slice(0, 40), { question: true })
      return assertLinear(JSON.stringify([pattern, name]), grown(name), matches)
    }))
})
