import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Chunk, ConnectorError, type SourceReader } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import type { Announced } from '../protocol.ts'
import { endOf, halve } from './batch-ends.ts'
import { announcementOf, batchOf } from './batch-keys.ts'
import { fillBatches } from './batches.ts'
import { beginning, type Checkpoint, type ChunkMapper, type FilledBatch } from './filled-batch.ts'
import { SplitBudget } from './split-budget.ts'

/** A table in the order of its keys, which changes while a transfer is interrupted. The version of a row counts its changes. */
type Table = Map<number, number>

const columns = ['key', 'version']

/** Reads a table as a database does: after one key, up to another. */
const readerOf = (table: Table, chunkRows: number, incremental: boolean, hasPlaces = true): SourceReader => ({
  async *read(after, until): AsyncGenerator<Chunk> {
    const from = (after as number | undefined) ?? -1
    const keys = [...table.keys()].sort((a, b) => a - b).filter((key) => key > from && key <= Number(until ?? Infinity))
    for (let at = 0; at < keys.length; at += chunkRows) {
      const some = keys.slice(at, at + chunkRows)
      const before = keys[at - 1] ?? from
      yield {
        columns,
        rows: some.map((key) => [String(key), String(table.get(key))]),
        bytes: some.length,
        checkpoint: some.at(-1) as number,
        ...(hasPlaces && { checkpointAfter: (count: number) => some[count - 1] as number }),
        ...(incremental && { cursorAfter: (count: number) => some[count - 1] ?? before }),
      }
    }
  },
  async close() {},
})

const asItIs: ChunkMapper = ({ rows }) => ({ rows, errors: new Map() })

const repeating = { recognisesKeys: false, isIncremental: false, sendsChanged: false }
const scope = { transferId: 'transfer', connectionId: 'connection', settings: null }

/** The progress of a transfer in the database. */
type Standing = { checkpoint: Checkpoint; read: number; pending: number | null; announced: Announced | null }

const edits = fc.array(fc.record({ key: fc.integer({ min: 0, max: 60 }), removes: fc.boolean() }), { maxLength: 12 })
type Scene = typeof scenes extends fc.Arbitrary<infer Of> ? Of : never
const scenes = fc.record({
  keys: fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 }),
  chunkRows: fc.integer({ min: 1, max: 9 }),
  rowsMax: fc.integer({ min: 1, max: 9 }),
  incremental: fc.boolean(),
  // Number of steps after which each session crashes, and the changes before the next one.
  deaths: fc.array(fc.record({ steps: fc.integer({ min: 0, max: 12 }), edits }), { maxLength: 6 }),
})

type How = {
  hasPlaces: boolean
  /** Whether the destination recognises batches. Otherwise it receives no batch that is larger than its limit. */
  notesBatches: boolean
  /** The destination refuses batches of more rows, whichever they are. */
  refusedAbove: number
}

/** Moves a table, with sessions that die and edits in between. @returns the keys that were delivered, and the keys that no edit touched */
async function move({ keys, chunkRows, rowsMax, incremental, deaths }: Scene, how: Partial<How> = {}) {
  const { hasPlaces = true, notesBatches = true, refusedAbove = Infinity } = how
  const table: Table = new Map(keys.map((key) => [key, 0]))
  const untouched = new Set(keys)
  const removed = new Set<string>()
  const delivered = new Map<string, readonly string[]>()
  let standing: Standing = { checkpoint: beginning, read: 0, pending: null, announced: null }
  for (const death of [...deaths, undefined]) {
    let left = death?.steps ?? Infinity
    const lives = () => left-- > 0
    const filled = fillBatches(readerOf(table, chunkRows, incremental, hasPlaces), {
      ...standing,
      from: standing.checkpoint,
      firstNumber: standing.read + 1,
      mapperFor:
        () =>
        ({ rows }) => ({ rows, errors: new Map() }),
      bounds: { rowsMax, bytesMax: 1_000 },
      notesBatches,
      unconfirmed: null,
      testRows: null,
    })
    /** @returns whether the session lives */
    const deliver = async (batch: FilledBatch, budget: SplitBudget): Promise<boolean> => {
      if (!lives()) return false
      const announcement = announcementOf(budget.announced(batch), scope, columns, repeating)
      standing = { ...standing, pending: announcement.pending, announced: announcement.announced ?? null }
      if (!lives()) return false
      const { key, rows } = batchOf(batch, scope, columns)
      if (!notesBatches) assert(rows.length <= rowsMax, `${rows.length} rows in a batch`)
      if (!delivered.has(key) && rows.length > refusedAbove) {
        budget.refuse(new ConnectorError('invalid_batch', 'too many rows'), rows.length)
        for (const half of halve(batch)) if (!(await deliver(half, budget))) return false
        return true
      }
      budget.accept()
      if (!delivered.has(key))
        delivered.set(
          key,
          rows.map(([cell]) => String(cell)),
        )
      if (!lives()) return false
      const stored = JSON.parse(JSON.stringify(endOf(batch).checkpoint)) as Checkpoint
      standing = { checkpoint: stored, read: standing.read + batch.covered, pending: null, announced: null }
      return true
    }
    for await (const batch of filled) if (!(await deliver(batch, new SplitBudget(batch)))) break
    for (const { key, removes } of death?.edits ?? []) {
      untouched.delete(key)
      if (removes) removed.add(String(key))
      if (removes) table.delete(key)
      // A changed row keeps its key.
      else table.set(key, (table.get(key) ?? -1) + 1)
    }
  }
  return { rows: [...delivered.values()].flat(), untouched: [...untouched].map(String), removed }
}

test('a table that changes while a transfer is interrupted: no row comes twice, and each that stayed comes', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const { rows, untouched } = await move(scene)
      assert.equal(new Set(rows).size, rows.length, 'a row came twice')
      assert.deepEqual(
        untouched.filter((key) => !rows.includes(key)),
        [],
      )
    }),
    { numRuns: 400 },
  )
})

test('a destination that refuses large batches: halves in doubt come again as the same ones', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, fc.integer({ min: 1, max: 4 }), async (scene, refusedAbove) => {
      const { rows, untouched, removed } = await move(scene, { refusedAbove })
      // A row that is removed and added again is a different row.
      const stayed = rows.filter((key) => !removed.has(key))
      assert.equal(new Set(stayed).size, stayed.length, 'a row came twice')
      assert.deepEqual(
        untouched.filter((key) => !rows.includes(key)),
        [],
      )
    }),
    { numRuns: 2_000 },
  )
})

test('a destination that has a limit and notes no batches: no batch that comes again is larger, and each row that stayed comes', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const { rows, untouched } = await move(scene, { notesBatches: false })
      assert.deepEqual(
        untouched.filter((key) => !rows.includes(key)),
        [],
      )
    }),
    { numRuns: 400 },
  )
})

test('a batch that comes again with more rows than the limit keeps its key for as many as are allowed', async () => {
  const first = { from: beginning, firstNumber: 1, mapperFor: () => asItIs, unconfirmed: null, testRows: null }
  const bounds = { rowsMax: 100, bytesMax: 10_000 }
  const fillOf = async (table: Table, pending: number | null, announced: Announced | null) => {
    const found: FilledBatch[] = []
    const filling = { ...first, bounds, pending, announced, notesBatches: false }
    for await (const batch of fillBatches(readerOf(table, 50, false), filling)) found.push(batch)
    return found
  }
  const table: Table = new Map(Array.from({ length: 100 }, (_, i) => [i * 20, 0]))
  const [batch] = await fillOf(table, null, null)
  assert(batch)
  const { pending, announced = null } = announcementOf(batch, scope, columns, repeating)
  // Ten rows for each previous row.
  for (let key = 0; key < 2_000; key += 2) table.set(key, 1)
  const again = await fillOf(table, pending, announced)
  assert(again.every(({ rows }) => rows.length <= bounds.rowsMax))
  assert.equal(again.flatMap(({ rows }) => rows).length, table.size)
  const keys = again.map((each) => batchOf(each, scope, columns).key)
  assert.equal(keys[0], announced?.key)
  assert.equal(new Set(keys).size, keys.length)
})

test('a source without places: rows that it has when it is read again come, rather twice than not at all', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      // Each chunk is a batch.
      const { rows, untouched } = await move(
        { ...scene, rowsMax: scene.chunkRows, incremental: false },
        { hasPlaces: false },
      )
      assert.deepEqual(
        untouched.filter((key) => !rows.includes(key)),
        [],
      )
      if (scene.deaths.every(({ edits: changes }) => changes.length === 0))
        assert.equal(new Set(rows).size, rows.length)
    }),
    { numRuns: 400 },
  )
})

test('halves of a batch of a table have keys that follow from their rows: a table that has changed is cut elsewhere', async () => {
  const keysOf = async (keys: readonly number[]) => {
    const filling = {
      from: beginning,
      firstNumber: 1,
      mapperFor: () => asItIs,
      bounds: { rowsMax: 100, bytesMax: 1_000 },
    }
    const table = new Map(keys.map((key) => [key, 0]))
    const filled = fillBatches(readerOf(table, 100, false), {
      ...filling,
      pending: null,
      unconfirmed: null,
      testRows: null,
    })
    for await (const batch of filled) return halve(batch).map((half) => batchOf(half, scope, columns).key)
    return []
  }
  const [before, after] = [await keysOf([10, 20, 30, 40]), await keysOf([20, 30, 40, 50])]
  assert.equal(new Set([...before, ...after]).size, 4)
  assert.deepEqual(await keysOf([10, 20, 30, 40]), before)
})
