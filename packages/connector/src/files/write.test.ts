import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import type { Batch, DestinationWriter } from '../destination.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { type MemorySink, memorySink, memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'
import { type WriteOptions, writeFiles } from './write.ts'

const columns = ['name', 'a "quoted", name', 'ü']

const formats: readonly WriteOptions[] = [
  { format: 'CSV', gzip: false },
  { format: 'CSV', gzip: true },
  { format: 'NDJSON', gzip: false },
  { format: 'NDJSON', gzip: true },
  { format: 'Parquet', gzip: false },
]

const batchOf = (rows: readonly Row[]): Batch => ({ key: '0'.repeat(32), columns, rows, firstRow: 1 })

function openWriter(sink: MemorySink, options: WriteOptions, deliveryStates: readonly Json[] = []) {
  const context = testContext({ columns, deliveryStates: JSON.parse(JSON.stringify(deliveryStates)) })
  return writeFiles(context, () => sink, options)
}

/** Confirmed part of a transfer: the number of batches, and their delivery states. */
type Confirmed = { batches: number; deliveryStates: Json[] }

/** Delivers the unconfirmed batches, and stores the confirmations. `unheard` delivery states never arrive, as after a crash. */
async function deliver(writer: DestinationWriter, batches: readonly Row[][], confirmed: Confirmed, upTo: number) {
  let next = confirmed.batches
  for (; next < upTo; next += 1) {
    const delivery = await writer.deliver(batchOf(batches[next] ?? []))
    if (delivery.held) continue
    confirmed.batches = next + 1
    if (delivery.deliveryState !== undefined) confirmed.deliveryStates.push(delivery.deliveryState)
  }
}

async function flush(writer: DestinationWriter, batches: readonly Row[][], confirmed: Confirmed) {
  const flushed = await writer.flush?.()
  if (flushed?.deliveryState !== undefined) confirmed.deliveryStates.push(flushed.deliveryState)
  confirmed.batches = batches.length
}

/** Writes a file without errors. */
async function writeAll(batches: readonly Row[][], options: WriteOptions, partBytesMin = 0): Promise<Buffer> {
  const sink = memorySink(partBytesMin)
  const writer = await openWriter(sink, options)
  const confirmed: Confirmed = { batches: 0, deliveryStates: [] }
  await deliver(writer, batches, confirmed, batches.length)
  await flush(writer, batches, confirmed)
  assert.equal(sink.published, undefined, 'the file shows before it is finished')
  await writer.finish?.()
  await writer.close?.()
  assert.ok(sink.published)
  return sink.published
}

async function readBack(content: Buffer, { format }: WriteOptions): Promise<Row[]> {
  const reader = await readFiles(testContext(), memoryStore({ file: content }), { format })
  const { chunks, rows } = await readAll(reader)
  for (const chunk of chunks) {
    assert.deepEqual(chunk.columns, columns)
    assert.equal(chunk.errors, undefined)
  }
  return rows
}

/** A cell after it is read again. It is a text in all formats except JSON, and in JSON if a number could not store it. */
const asKept =
  ({ format }: WriteOptions) =>
  (row: Row): Row =>
    row.map((cell) => {
      const isLarge = typeof cell === 'number' && !Number.isSafeInteger(cell) && /^-?\d+$/.test(String(cell))
      return cell === null || (format === 'NDJSON' && !isLarge) ? cell : String(cell)
    })

const cell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constant(null),
  fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '"', ',', '\r', '\n', ' '), maxLength: 12 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number || 0),
  fc.boolean(),
)
const row = fc.array(cell, { minLength: columns.length, maxLength: columns.length })
const batches = fc.array(fc.array(row, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 })

describe('writeFiles', () => {
  for (const options of formats) {
    const title = `${options.format}${options.gzip ? ' packed with gzip' : ''}`
    // A Parquet file takes ten times as long as a text file.
    const runs = options.format === 'Parquet' ? 10 : 40

    test(`writes ${title} that reads back the same`, async () => {
      await fc.assert(
        fc.asyncProperty(batches, fc.constantFrom(0, 100, 100_000), async (batches, partBytesMin) => {
          const content = await writeAll(batches, options, partBytesMin)
          assert.deepEqual(await readBack(content, options), batches.flat().map(asKept(options)))
        }),
        { numRuns: runs },
      )
    })

    test(`writes the same ${title} after a crash at any part as without one`, async () => {
      await fc.assert(
        fc.asyncProperty(batches, fc.constantFrom(0, 100, 100_000), async (batches, partBytesMin) => {
          const undisturbed = await writeAll(batches, options, partBytesMin)
          const sink = memorySink(partBytesMin)
          const confirmed: Confirmed = { batches: 0, deliveryStates: [] }
          for (let at = 1; at <= batches.length; at += 1) {
            // This one delivers, and its result is lost.
            const unheard = { batches: confirmed.batches, deliveryStates: [] }
            await deliver(await openWriter(sink, options, confirmed.deliveryStates), batches, unheard, at)
            await deliver(await openWriter(sink, options, confirmed.deliveryStates), batches, confirmed, at)
          }
          const beforeFlush = { ...confirmed, deliveryStates: [...confirmed.deliveryStates] }
          for (const state of [beforeFlush, confirmed]) {
            const writer = await openWriter(sink, options, state.deliveryStates)
            await deliver(writer, batches, state, batches.length)
            await flush(writer, batches, state)
          }
          for (let time = 0; time < 2; time += 1) {
            const last = await openWriter(sink, options, confirmed.deliveryStates)
            await last.flush?.()
            await last.finish?.()
            assert.deepEqual(sink.published, undisturbed)
          }
        }),
        { numRuns: runs },
      )
    })

    test(`writes ${title} as if nothing were where a part fails and comes again`, async () => {
      const rows = (from: number): Row[] => Array.from({ length: 20 }, (_, index) => [from + index, 'x', null])
      const all = [rows(0), rows(20), rows(40)]
      for (const partBytesMin of [0, 200, 100_000]) {
        const sink = memorySink(partBytesMin)
        const writer = await openWriter(sink, options)
        for (const each of all) {
          sink.failing = true
          const held = await writer.deliver(batchOf(each)).catch((error: unknown) => {
            assert.ok(error instanceof ConnectorError && error.action === 'retry')
            return undefined
          })
          sink.failing = false
          if (!held) await writer.deliver(batchOf(each))
        }
        sink.failing = true
        await writer.flush?.().catch(() => {})
        sink.failing = false
        await writer.flush?.()
        await writer.finish?.()
        assert.ok(sink.published)
        assert.deepEqual(await readBack(sink.published, options), all.flat().map(asKept(options)))
      }
    })

    test(`makes ${title} of what was confirmed where a transfer is aborted`, async () => {
      await fc.assert(
        fc.asyncProperty(batches, fc.constantFrom(0, 100), fc.nat(5), async (batches, partBytesMin, upTo) => {
          const sink = memorySink(partBytesMin)
          const confirmed: Confirmed = { batches: 0, deliveryStates: [] }
          await deliver(await openWriter(sink, options), batches, confirmed, Math.min(upTo, batches.length))
          const unheard = { batches: confirmed.batches, deliveryStates: [] }
          await deliver(await openWriter(sink, options, confirmed.deliveryStates), batches, unheard, batches.length)
          await (await openWriter(sink, options, confirmed.deliveryStates)).abort?.()
          const rows = batches.slice(0, confirmed.batches).flat().map(asKept(options))
          if (confirmed.batches === 0) assert.equal(sink.published, undefined)
          else assert.deepEqual(await readBack(sink.published ?? Buffer.alloc(0), options), rows)
          assert.equal(sink.parts.length, 0)
        }),
        { numRuns: 30 },
      )
    })

    test(`writes ${title} for a transfer without a row`, async () => {
      assert.deepEqual(await readBack(await writeAll([], options), options), [])
    })
  }

  test('writes a batch of more rows than a row group of Parquet has', async () => {
    const rows = Array.from({ length: 45_001 }, (_, index) => [`${index}`, index % 2 ? 'odd' : null, ''])
    const options = { format: 'Parquet', gzip: false } as const
    assert.deepEqual(await readBack(await writeAll([rows, [['last', null, 'é']]], options), options), [
      ...rows,
      ['last', null, 'é'],
    ])
  })

  test('names the extension of the file to the sink', async () => {
    const asked: string[] = []
    for (const options of [...formats, { format: 'Parquet', gzip: true } as const]) {
      const sink = (extension: string) => {
        asked.push(extension)
        return memorySink()
      }
      await writeFiles(testContext({ columns }), sink, options)
    }
    assert.deepEqual(asked, ['csv', 'csv.gz', 'ndjson', 'ndjson.gz', 'parquet', 'parquet'])
  })
})
