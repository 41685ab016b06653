import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Chunk, type Json, rawOf, type SourceReader } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import type { Announced } from '../protocol.ts'
import { countSkipped, totalSkipped } from '../skipped.ts'
import { endOf, halve } from './batch-ends.ts'
import { announcementOf, batchOf, type KeyScope } from './batch-keys.ts'
import { fillBatches } from './batches.ts'
import { type Bounds, beginning, type ChunkMapper, type FilledBatch } from './filled-batch.ts'
import { mappedRows, rawRowsOf } from './raw/numbers-as-raw-rows.ts'

/**
 * Records are distinguished by their content, which is their number. Every seventh record is broken, every fifth cannot be
 * mapped. If the scene requires it, every third is skipped, for one of three reasons.
 */
const isBroken = (number: number) => number % 7 === 0
const isUnmappable = (number: number) => number % 5 === 0
const skipOf = (number: number, { skips }: Pick<Scene, 'skips'>) =>
  skips && number % 3 === 0 && !isBroken(number) ? ((number / 3) % 3) + 1 : 0

type Scene = {
  records: number
  sizes: readonly number[]
  bounds: Bounds
  pending: number | null
  announced?: Announced | undefined
  /** Whether the next transfer can begin after any record, or only after a chunk. */
  incremental: boolean
  /** Where the transfer begins. */
  cursor?: number
  unconfirmed?: number
  skips?: boolean
  /** Whether records are raw rows. */
  raw?: boolean
  /** Of a test. */
  testRows?: number
}

const scenes = fc.record<Scene>({
  records: fc.nat({ max: 80 }),
  // The sizes of chunks, repeated cyclically. A chunk can be empty.
  sizes: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 6 }).map((sizes) => [...sizes, 3]),
  bounds: fc.record({ rowsMax: fc.integer({ min: 1, max: 30 }), bytesMax: fc.integer({ min: 1, max: 400 }) }),
  pending: fc.option(fc.integer({ min: 1, max: 40 })),
  incremental: fc.boolean(),
  skips: fc.boolean(),
  raw: fc.boolean(),
})

/** Minimum memory of a cell, in addition to its text. */
const cellBytes = 16

const bytesOf = (number: number) => 5 + (number % 11)

/** Numbers in chunks of these sizes, from any start. The division into chunks can differ between reads. */
function readerOf({ records, sizes, incremental, cursor = 0, raw }: Scene): SourceReader {
  return {
    async *read(after: Json = cursor) {
      for (let done = Number(after), turn = 0; done < records; turn++) {
        const size = Math.min(records - done, sizes[turn % sizes.length] ?? 1)
        const begun = done
        const numbers = Array.from({ length: size }, (_, i) => begun + i + 1)
        done += size
        yield {
          columns: ['number'],
          rows: raw ? rawRowsOf(numbers) : numbers.map((number) => [number]),
          errors: new Map(numbers.flatMap((number, i) => (isBroken(number) ? [[i, 'broken'] as const] : []))),
          bytes: numbers.reduce((sum, number) => sum + bytesOf(number), 0),
          checkpoint: done,
          ...(incremental ? { cursorAfter: (count) => begun + count } : { cursor: done }),
        } satisfies Chunk
      }
    },
    close: async () => {},
  }
}

const mapperIn =
  (scene: Pick<Scene, 'skips'>): ChunkMapper =>
  ({ rows }) => ({
    rows: mappedRows(rows),
    skipped: Uint8Array.from(rows, ([number]) => skipOf(Number(number), scene)),
    errors: new Map(
      rows.flatMap(([number], i) => (isUnmappable(Number(number)) ? [[i, { reason: 'unmappable' }] as const] : [])),
    ),
  })

async function fill(scene: Scene, from = beginning, first = 1): Promise<FilledBatch[]> {
  const filledBatches: FilledBatch[] = []
  const { bounds, pending, announced, unconfirmed = null, testRows = null } = scene
  const filled = fillBatches(readerOf(scene), {
    from,
    firstNumber: first,
    mapperFor: () => mapperIn(scene),
    bounds,
    pending,
    announced: announced ?? null,
    unconfirmed,
    testRows,
  })
  for await (const filledBatch of filled) filledBatches.push(filledBatch)
  return filledBatches
}

/** Fails unless these batches cover exactly the records from `first` to `last`, each once, in order, as sent, as invalid or as skipped. */
function assertCover(
  filledBatches: readonly FilledBatch[],
  first: number,
  last: number,
  scene: Pick<Scene, 'skips' | 'raw'>,
): void {
  let next = first
  for (const filledBatch of filledBatches) {
    assert.equal(filledBatch.first, next)
    assert(filledBatch.covered > 0)
    const all = Array.from({ length: filledBatch.covered }, (_, i) => filledBatch.first + i)
    const numbers = all.filter((number) => skipOf(number, scene) === 0)
    const isInvalid = (number: number) => isBroken(number) || isUnmappable(number)
    const skippedFor = (code: number) => all.filter((number) => skipOf(number, scene) === code).length
    assert.deepEqual(countSkipped(filledBatch.skipped), {
      filtered: skippedFor(1),
      unchanged: skippedFor(2),
      duplicates: skippedFor(3),
      noConsent: skippedFor(4),
      controlGroup: skippedFor(5),
    })
    assert.deepEqual(
      filledBatch.numbers,
      numbers.filter((number) => !isInvalid(number)),
    )
    assert.equal(rawOf(filledBatch.rows) !== undefined, filledBatch.rows.length > 0 && scene.raw === true)
    assert.deepEqual(
      [...filledBatch.rows],
      filledBatch.numbers.map((number) => [`mapped ${number}`]),
    )
    assert.deepEqual(
      [...filledBatch.raws],
      filledBatch.numbers.map((number) => [number]),
    )
    assert.deepEqual(
      filledBatch.invalid,
      numbers
        .filter(isInvalid)
        .map((number) => ({ number, raw: [number], error: { reason: isBroken(number) ? 'broken' : 'unmappable' } })),
    )
    next += filledBatch.covered
  }
  assert.equal(next, last + 1)
}

/** All leaves after cutting a batch in halves, as `cuts` decides and as far as possible. */
function cutUp(filledBatch: FilledBatch, cuts: readonly boolean[], depth = 0): FilledBatch[] {
  if (filledBatch.rows.length < 2 || !cuts[depth % cuts.length]) return [filledBatch]
  return halve(filledBatch).flatMap((half) => cutUp(half, cuts, depth + 1))
}

const scope: KeyScope = { transferId: 'transfer', connectionId: 'connection', settings: { table: 'people' } }

const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value))

describe('batches', () => {
  test('hold every record once, in order, whatever the chunks, and stay within their bounds', () =>
    fc.assert(
      fc.asyncProperty(scenes, async (scene) => {
        const filledBatches = await fill(scene)
        assertCover(filledBatches, 1, scene.records, scene)
        for (const [i, { covered, first, skipped }] of filledBatches.entries()) {
          if (i === 0 && scene.pending !== null) {
            assert.equal(
              covered,
              Math.min(scene.pending, scene.records),
              'what may have been delivered comes as it was',
            )
            continue
          }
          const kept = covered - totalSkipped(countSkipped(skipped))
          assert(kept <= scene.bounds.rowsMax)
          // The bytes of a chunk are spread evenly over its rows, at least five each.
          assert(kept <= 1 || kept * 5 <= scene.bounds.bytesMax, `${kept} records from ${first}`)
        }
      }),
    ))

  test('continue after any batch, and after any part of one, with exactly the remaining records', () =>
    fc.assert(
      fc.asyncProperty(
        ...[scenes, fc.nat(), fc.array(fc.boolean(), { minLength: 1, maxLength: 5 })],
        ...[fc.array(fc.nat({ max: 9 }), { minLength: 1 }), fc.option(fc.integer({ min: 1, max: 30 }))],
        async (scene, which, cuts, otherSizes, pending) => {
          const filledBatches = await fill(scene)
          const filledBatch = filledBatches[which % Math.max(1, filledBatches.length)]
          if (!filledBatch) return
          const parts = cutUp(filledBatch, cuts)
          assertCover(parts, filledBatch.first, filledBatch.first + filledBatch.covered - 1, scene)
          for (const part of parts) {
            const next = part.first + part.covered
            const { checkpoint, cursor } = endOf(part)
            const again = { ...scene, sizes: [...otherSizes, 2], pending }
            assertCover(await fill(again, stored(checkpoint), next), next, scene.records, scene)
            // The cursor promises that everything up to it is confirmed.
            if (scene.incremental) assert.equal(cursor, next - 1, 'and not one record less is')
            else if (cursor !== undefined) assert(Number(cursor) < next)
          }
        },
      ),
    ))

  test('of a test cover its first records alone, also when it continues, and read no chunk behind them', () =>
    fc.assert(
      fc.asyncProperty(scenes, fc.integer({ min: 1, max: 90 }), fc.nat(), async (scene, testRows, which) => {
        const last = Math.min(testRows, scene.records)
        const filledBatches = await fill({ ...scene, testRows })
        assertCover(filledBatches, 1, last, scene)
        const filledBatch = filledBatches[which % Math.max(1, filledBatches.length)]
        if (!filledBatch) return
        const next = filledBatch.first + filledBatch.covered
        const again = { ...scene, testRows, sizes: [3, 2], pending: null }
        assertCover(await fill(again, stored(endOf(filledBatch).checkpoint), next), next, last, scene)
        let read = 0
        const reader = readerOf(scene)
        const counting: SourceReader = {
          ...reader,
          async *read(after) {
            for await (const chunk of reader.read(after)) {
              assert(read < testRows, 'a chunk was read behind the last record of the test')
              read += chunk.rows.length
              yield chunk
            }
          },
        }
        const { bounds, pending } = scene
        const filling = { from: beginning, firstNumber: 1, mapperFor: () => mapperIn(scene), bounds, pending }
        for await (const _ of fillBatches(counting, { ...filling, unconfirmed: null, testRows }));
      }),
    ))

  test('of a test never have the key of a batch of another transfer', async () => {
    const scene = { records: 9, sizes: [9], bounds: { rowsMax: 9, bytesMax: 1_000 }, pending: null, incremental: true }
    const [[tested], [real]] = [await fill({ ...scene, testRows: 9 }), await fill(scene)]
    assert(tested && real)
    const keyOf = (filledBatch: FilledBatch, transferId: string) =>
      batchOf(filledBatch, { ...scope, transferId }, ['number']).key
    assert.equal(keyOf(real, 'one'), keyOf(real, 'other'))
    assert.equal(new Set([keyOf(tested, 'one'), keyOf(tested, 'other'), keyOf(real, 'one')]).size, 3)
  })

  test('have the same key for the same records of a transfer, and another one for all others', () =>
    fc.assert(
      fc.asyncProperty(scenes, fc.nat(), async (scene, which) => {
        const filledBatches = await fill(scene)
        const keys = filledBatches.map((filledBatch) => batchOf(filledBatch, scope, ['number']).key)
        assert.equal(new Set(keys).size, keys.length)
        const index = which % Math.max(1, filledBatches.length)
        const filledBatch = filledBatches[index]
        if (!filledBatch) return
        const before = filledBatches[index - 1]
        const from = before ? stored(endOf(before).checkpoint) : beginning
        const repeats = {
          ...scene,
          sizes: [4, 1],
          announced: undefined,
          ...announcementOf(filledBatch, scope, ['number'], {
            recognisesKeys: false,
            isIncremental: false,
            sendsChanged: false,
          }),
        }
        const [again] = await fill(repeats, from, filledBatch.first)
        assert(again)
        const batch = batchOf(filledBatch, scope, ['number'])
        assert.deepEqual(batchOf(again, scope, ['number']), batch, 'a batch that comes again is the same')
        const others = [
          batchOf(filledBatch, { ...scope, [scene.incremental ? 'connectionId' : 'transferId']: 'another' }, [
            'number',
          ]),
          ...(filledBatch.rows.length > 1 ? halve(filledBatch).map((half) => batchOf(half, scope, ['number'])) : []),
        ]
        for (const { key } of others) assert.notEqual(key, batch.key)
      }),
    ))

  test('have the same key in the next transfer, which begins behind the last confirmed record, while nothing has changed', () =>
    fc.assert(
      fc.asyncProperty(scenes, fc.nat(), async (scene, which) => {
        const incremental = { ...scene, incremental: true }
        const filledBatches = await fill(incremental)
        const index = 1 + (which % Math.max(1, filledBatches.length - 1))
        const [before, filledBatch] = [filledBatches[index - 1], filledBatches[index]]
        if (!before || !filledBatch) return
        const cursor = Number(endOf(before).cursor)
        const next = { ...incremental, sizes: [4, 1], pending: null, cursor, unconfirmed: filledBatch.covered }
        const [again] = await fill(next)
        assert(again)
        const later = { ...scope, transferId: 'later' }
        const { key, rows } = batchOf(filledBatch, scope, ['number'])
        const repeated = batchOf(again, later, ['number'])
        assert.deepEqual([repeated.key, repeated.rows, repeated.firstRow], [key, rows, 1])
        const changed = [
          batchOf({ ...again, rows: again.rows.map((row, i) => (i === 0 ? ['changed'] : row)) }, later, ['number']),
          batchOf(again, { ...later, settings: { table: 'another' } }, ['number']),
          batchOf(again, later, ['another']),
        ]
        for (const other of rows.length > 0 ? changed : []) assert.notEqual(other.key, key)
      }),
    ))

  test('are not those of an earlier transfer where reading is not incremental, nor larger than a destination takes', async () => {
    const scene = { records: 30, sizes: [10], bounds: { rowsMax: 8, bytesMax: 1_000 }, pending: null }
    const covered = async (incremental: boolean, unconfirmed: number) =>
      (await fill({ ...scene, incremental, unconfirmed })).map((filledBatch) => filledBatch.covered)
    assert.deepEqual(await covered(false, 3), [8, 8, 8, 6])
    assert.deepEqual(await covered(true, 3), [3, 8, 8, 8, 3])
    assert.deepEqual(await covered(true, 9), [8, 8, 8, 6])
  })

  test('report how much of the source they are, up to all of it', () =>
    fc.assert(
      fc.asyncProperty(scenes, async (scene) => {
        const bytes = (await fill(scene)).map((filledBatch) => endOf(filledBatch).checkpoint.bytes)
        assert.deepEqual(
          bytes,
          [...bytes].sort((a, b) => a - b),
        )
        const all = Array.from({ length: scene.records }, (_, i) => bytesOf(i + 1)).reduce((sum, each) => sum + each, 0)
        assert.equal(bytes.at(-1) ?? 0, all)
      }),
    ))

  test('take no more memory than there is, however small the source of many rows or long texts is', async () => {
    for (const row of [Array.from({ length: 20 }, () => 'short'), ['long '.repeat(1_000)]]) {
      const reader: SourceReader = {
        async *read() {
          for (let done = 0; done < 100_000; done += 5_000) {
            yield { columns: [], rows: Array.from({ length: 5_000 }, () => row), bytes: 1, checkpoint: done + 5_000 }
          }
        },
        close: async () => {},
      }
      const bounds = { rowsMax: 1_000_000, bytesMax: 1 << 30 }
      const asIs: ChunkMapper = ({ rows }) => ({ rows, errors: new Map() })
      let covered = 0
      for await (const filledBatch of fillBatches(reader, {
        from: beginning,
        firstNumber: 1,
        mapperFor: () => asIs,
        bounds,
        pending: null,
        unconfirmed: null,
        testRows: null,
      })) {
        const cells = filledBatch.rows.reduce((sum, each) => sum + each.length, 0)
        assert(cells * (cellBytes + String(row[0]).length) < 25_000_000, `${filledBatch.covered} records at once`)
        covered += filledBatch.covered
      }
      assert.equal(covered, 100_000)
    }
  })

  test('know the cursor of the last record that is confirmed, or of the last chunk that is confirmed as a whole', async () => {
    const scene = { records: 12, sizes: [4, 4, 4], bounds: { rowsMax: 6, bytesMax: 1_000 }, pending: null }
    const cursors = async (incremental: boolean) =>
      (await fill({ ...scene, incremental })).map((filledBatch) => endOf(filledBatch).cursor)
    assert.deepEqual(await cursors(false), [4, 12])
    assert.deepEqual(await cursors(true), [6, 12])
  })

  test('end at a number, and take the cursor behind it only if nothing was added', async () => {
    const sizes = { same: [2, 1, 0], grown: [2, 2, 0], more: [2, 1, 1, 0] }
    const cursorsOf = async (counts: readonly number[]) => {
      const reader: SourceReader = {
        async *read() {
          for (const [at, count] of counts.entries()) {
            const chunk = {
              columns: ['n'],
              rows: Array.from({ length: count }, () => [at]),
              bytes: count,
              checkpoint: at,
            }
            yield count > 0 ? chunk : { ...chunk, settles: true, cursor: 'end' }
          }
        },
        close: async () => {},
      }
      const found: unknown[] = []
      const passing: ChunkMapper = ({ rows }) => ({ rows, errors: new Map() })
      const ends = { pending: null, unconfirmed: null, testRows: null, lastNumber: 3 }
      const bounds = { rowsMax: 10, bytesMax: 100 }
      const filling = { from: beginning, firstNumber: 1, mapperFor: () => passing, bounds, ...ends }
      for await (const batch of fillBatches(reader, filling)) found.push([batch.covered, endOf(batch).cursor])
      return found
    }
    assert.deepEqual(await cursorsOf(sizes.same), [[3, 'end']])
    assert.deepEqual(await cursorsOf(sizes.grown), [[3, undefined]])
    assert.deepEqual(await cursorsOf(sizes.more), [[3, undefined]])
  })
})
