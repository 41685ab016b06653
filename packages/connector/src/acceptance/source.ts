import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asConnectorError } from '../connector-error.ts'
import { placeOfRow, type RowPlaces } from '../row-places.ts'
import type { Json, Row } from '../rows.ts'
import type { Chunk, SourceContext, SourceRange, SourceReader } from '../source.ts'
import type { Values } from '../values.ts'
import { acceptCheck } from './check.ts'
import {
  type Acceptance,
  assertBreaks,
  assertConnectorError,
  boundMs,
  connectorErrorOf,
  contextOf,
  crashPointsOf,
  stopped,
} from './test-server.ts'

export type SourceAcceptance = Acceptance & {
  readonly columns: readonly string[]
  /** Expected rows, in order. They must span several chunks, so that resuming can be tested. */
  readonly rows: readonly Row[]
  /** Maximum number of rows with an error and a reason; 0 by default. */
  readonly broken?: number
  /** Settings of an incremental read, if the connector supports it. It must return several chunks. */
  readonly incremental?: Values
}

const checkpointBytesMax = 16 * 1024
const resumesMax = 25

/**
 * Registers the tests that every source must pass. The server must already be running: start it at the top level of the test
 * file, and stop it in `after`.
 */
export function acceptSource(acceptance: SourceAcceptance): void {
  const { connector, testServer, columns, rows, errors = [], hang, missing, wrongSecrets, broken = 0 } = acceptance
  const { incremental } = acceptance
  const options = { timeout: boundMs }

  describe(`${connector.slug} as a source, against ${testServer}`, () => {
    acceptCheck(acceptance)

    test('reads all rows in order, with the same columns in every chunk', options, async () => {
      const chunks = await readAll(acceptance)
      for (const chunk of chunks) assertChunk(chunk, columns)
      assert.deepEqual(rowsOf(chunks), rows)
      assert.equal(sum(chunks.map((chunk) => chunk.errors?.size ?? 0)), broken)
      assert.ok(sum(chunks.map(({ bytes }) => bytes)) > 0, 'chunks say how many bytes they were')
    })

    test('resumes after the checkpoint of any chunk, in another reader and in the same one', options, async () => {
      const chunks = await readAll(acceptance)
      assert.ok(chunks.length > 1, 'give more rows, so that reading can be resumed between two chunks')
      await withReader(acceptance, async (reader) => {
        for (const at of crashPointsOf(someOf(chunks.length))) {
          const rest = rowsOf(chunks.slice(at + 1))
          const after = asStored(chunks[at]?.checkpoint)
          assert.deepEqual(rowsOf(await readAll(acceptance, after)), rest, `after chunk ${at} of ${chunks.length}`)
          assert.deepEqual(rowsOf(await collect(reader.read(after))), rest, 'in the same reader')
        }
      })
    })

    test('can be stopped after the first chunk, and read again from the beginning', options, async () => {
      await withReader(acceptance, async (reader) => {
        for await (const _ of reader.read()) break
        assert.deepEqual(rowsOf(await collect(reader.read())), rows)
      })
    })

    test('stops at the signal, in mid-read and before it', options, async () => {
      const stop = new AbortController()
      const reader = await open(acceptance, contextOf(acceptance, { signal: stop.signal }))
      const chunks = reader.read()[Symbol.asyncIterator]()
      await chunks.next()
      const next = chunks.next()
      stop.abort()
      await stopped(acceptance, next, stop.signal)
      await stopped(acceptance, collect({ [Symbol.asyncIterator]: () => chunks }), stop.signal)
      await reader.close()
      const late = open(acceptance, contextOf(acceptance, { signal: stop.signal })).then(async (opened) => {
        try {
          await collect(opened.read())
        } finally {
          await opened.close()
        }
      })
      await stopped(acceptance, late, stop.signal)
    })

    test('closes without an error: unread, while it is being read, and a second time', options, async () => {
      const unread = await open(acceptance, contextOf(acceptance))
      await unread.close()
      await unread.close()
      const begun = await open(acceptance, contextOf(acceptance))
      const chunks = begun.read()[Symbol.asyncIterator]()
      await chunks.next()
      await begun.close()
      await chunks.return?.()
      await begun.close()
    })

    if (incremental) {
      test('begins the next transfer behind any row, and with the cursor of that row', options, async () => {
        const next = { ...acceptance, settings: incremental }
        const chunks = await readAll(next)
        assert.ok(chunks.length > 1, 'give more rows, so that a transfer can end in mid-read')
        for (const at of crashPointsOf([0, chunks.length - 1])) {
          const { rows, cursorAfter } = chunks[at] as Chunk
          assert.ok(cursorAfter, 'a chunk of an incremental read says where the next transfer begins')
          for (const count of [0, Math.floor(rows.length / 2), rows.length]) {
            const cursor = asStored(cursorAfter(count))
            assertStorable(cursorAfter(count), 'a cursor')
            const rest = await readAll(next, undefined, undefined, cursor)
            const expected = [...rows.slice(count), ...rowsOf(chunks.slice(at + 1))]
            assert.deepEqual(rowsOf(rest), expected, `behind row ${count} of chunk ${at} of ${chunks.length}`)
            if (expected.length > 0) assert.deepEqual(asStored(rest[0]?.cursorAfter?.(0)), cursor)
          }
        }
      })
    }

    if (incremental && connector.source?.backfill?.by === 'times') {
      test(
        'reads the rows of a range, and gives no cursor, or says that its cursor has no times',
        options,
        async () => {
          const next = { ...acceptance, settings: incremental }
          const inRange = async (range: SourceRange) => {
            const reader = await open(next, contextOf(next, { range }))
            return collect(reader.read()).finally(() => reader.close())
          }
          try {
            assert.deepEqual(await inRange({ from: '1980-01-01', to: '1980-01-02' }), [])
            const chunks = await inRange({ from: '1990-01-01', to: '2099-12-31' })
            assert.deepEqual(rowsOf(chunks), rowsOf(await readAll(next)))
            assert.ok(chunks.every(({ cursorAfter, cursor }) => cursorAfter === undefined && cursor === undefined))
          } catch (error) {
            assert.equal(asConnectorError(error)?.code, 'invalid_setting', String(error))
          }
        },
      )
    }

    if (wrongSecrets) {
      test('refuses to read with wrong credentials', options, async () => {
        const { action, code, message } = await connectorErrorOf(
          acceptance,
          readAll({ ...acceptance, secrets: wrongSecrets }),
        )
        assertBreaks(action, `${code}: ${message}`)
      })
    }

    if (missing) {
      test('refuses settings that name what is not there', options, async () => {
        const { action, code, message } = await connectorErrorOf(
          acceptance,
          readAll({ ...acceptance, settings: missing }),
        )
        assertBreaks(action, `${code}: ${message}`)
      })
    }

    for (const error of errors) {
      test(`answers ‘${error.action}’ where the server ${error.name}, and reads on afterwards`, options, async () => {
        await error.start()
        try {
          assertConnectorError(await connectorErrorOf(acceptance, readAll(acceptance)), error)
        } finally {
          await error.stop()
        }
        assert.deepEqual(rowsOf(await readAll(acceptance)), rows)
      })
    }

    if (hang) {
      test('stops at the signal while the server does not answer', options, async () => {
        const stop = new AbortController()
        await hang.start()
        try {
          const reading = readAll(acceptance, undefined, stop.signal)
          await Promise.race([hang.reached(), reading])
          stop.abort()
          await stopped(acceptance, reading, stop.signal)
        } finally {
          await hang.stop()
        }
      })
    }
  })
}

function open({ connector }: Acceptance, context: SourceContext): Promise<SourceReader> {
  const source = connector.source?.open
  assert.ok(source, `${connector.slug} cannot be read`)
  return source(context)
}

async function withReader(acceptance: Acceptance, work: (reader: SourceReader) => Promise<void>): Promise<void> {
  const reader = await open(acceptance, contextOf(acceptance))
  try {
    await work(reader)
  } finally {
    await reader.close()
  }
}

async function readAll(acceptance: Acceptance, after?: Json, signal?: AbortSignal, cursor?: Json): Promise<Chunk[]> {
  const options = { ...(signal ? { signal } : {}), ...(cursor === undefined ? {} : { cursor }) }
  const reader = await open(acceptance, contextOf(acceptance, options))
  try {
    return await collect(after === undefined ? reader.read() : reader.read(after))
  } finally {
    await reader.close()
    await reader.close()
  }
}

async function collect(chunks: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const all: Chunk[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

const rowsOf = (chunks: readonly Chunk[]): Row[] => chunks.flatMap(({ rows }) => rows)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
/** A checkpoint as another process reads it. */
const asStored = (checkpoint: Json | undefined): Json => JSON.parse(JSON.stringify(checkpoint))

function assertChunk({ columns, rows, errors, places, bytes, checkpoint }: Chunk, expected: readonly string[]): void {
  assert.deepEqual(columns, expected)
  assert.equal(new Set(columns).size, columns.length, 'a column occurs twice')
  rows.forEach((row, index) => {
    assert.ok(errors?.has(index) || row.length === columns.length, `row ${index} has ${row.length} cells`)
  })
  for (const [index, reason] of errors ?? []) assert.ok(index < rows.length && reason !== '')
  for (const index of places ? rows.keys() : []) {
    const { number } = placeOfRow(places as RowPlaces, index)
    assert.ok(Number.isSafeInteger(number) && number >= 1, `row ${index} has the number ${number} in its file`)
  }
  assert.ok(Number.isSafeInteger(bytes) && bytes >= 0, `${bytes} bytes`)
  assertStorable(checkpoint, 'a checkpoint')
}

function assertStorable(value: Json, name: string): void {
  assert.ok(Buffer.byteLength(JSON.stringify(value)) <= checkpointBytesMax, `${name} has at most 16 KiB`)
  assert.deepEqual(asStored(value), value, `${name} comes back from JSON as it was`)
}

/** All indexes if there are few; otherwise the first, the last and some in between. */
function someOf(length: number): number[] {
  const step = Math.max(1, (length - 1) / (resumesMax - 1))
  const count = Math.min(length, resumesMax)
  return Array.from({ length: count }, (_, index) => Math.round(index * step))
}
