import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import { testContext } from '../acceptance/index.ts'
import { cursorOfParts } from '../cursors.ts'
import type { Json } from '../rows.ts'
import type { Chunk, SourceContext, SourceReader } from '../source.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'
import { type FileStep, NewFiles } from './new-files.ts'
import { readFiles } from './read.ts'

type Standing = {
  cursor?: Json | undefined
  reached?: Json | undefined
  after?: Json | undefined
  plan?: Json | undefined
}

const open = (store: MemoryStore, { cursor, reached, plan }: Standing = {}, part?: SourceContext['part']) =>
  readFiles(
    {
      ...testContext(),
      cursor,
      ...(reached !== undefined && { reached }),
      ...(plan !== undefined && { plan }),
      ...(part && { part }),
    },
    store,
    // Small chunks, so that a file has several.
    { format: 'CSV', onlyNew: true, divides: true, chunkBytes: 30 },
  )

const stored = (value: Json | undefined): Json | undefined =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** Reads a limited number of chunks and confirms each. */
async function readSome(store: MemoryStore, { cursor, reached, after, plan }: Standing = {}, most = Infinity) {
  const reader = await open(store, { cursor: stored(cursor), reached: stored(reached), plan: stored(plan) })
  const rows: string[] = []
  const standing: Standing = { cursor, reached, after, plan: reader.plan }
  let left = most
  for await (const chunk of reader.read(stored(after)) as AsyncIterable<Chunk>) {
    if (left-- === 0) return { rows, standing, isWhole: false }
    rows.push(...chunk.rows.map(([cell]) => String(cell)))
    standing.after = chunk.checkpoint
    assert(JSON.stringify(chunk.checkpoint).length < 16_384)
    if (chunk.cursor !== undefined) standing.reached = chunk.cursor
  }
  await reader.close()
  return { rows, standing, isWhole: true }
}

/** Runs a whole transfer. @returns its rows, and the cursor of the next transfer */
async function transfer(store: MemoryStore, cursor?: Json): Promise<[string[], Json | undefined]> {
  const { rows, standing } = await readSome(store, { cursor })
  return [rows, standing.reached ?? cursor]
}

const csv = (...cells: string[]) => `id\n${cells.map((cell) => `${cell}\n`).join('')}`

describe('new and changed files', () => {
  test('are read once, again if they change, and are forgotten when they are gone', async () => {
    const store = memoryStore({ 'a.csv': csv('a1', 'a2'), 'b.csv': csv('b1'), 'empty.csv': csv() })
    const [first, one] = await transfer(store)
    assert.deepEqual(first, ['a1', 'a2', 'b1'])
    assert.deepEqual((await transfer(store, one))[0], [])
    store.contents.set('c.csv', Buffer.from(csv('c1')))
    store.contents.set('a.csv', Buffer.from(csv('a1', 'a3')))
    const [second, two] = await transfer(store, one)
    assert.deepEqual(second, ['a1', 'a3', 'c1'])
    const b = store.contents.get('b.csv') as Buffer
    store.contents.delete('b.csv')
    store.contents.set('d.csv', Buffer.from(csv('d1')))
    const [third, three] = await transfer(store, two)
    assert.deepEqual(third, ['d1'])
    store.contents.set('b.csv', b)
    assert.deepEqual((await transfer(store, three))[0], ['b1'])
  })

  test('a store without files is an error only before files were read', async () => {
    await assert.rejects(open(memoryStore({})), { code: 'object_not_found' })
    const store = memoryStore({ 'a.csv': csv('a1') })
    const [, cursor] = await transfer(store)
    store.contents.clear()
    assert.deepEqual((await transfer(store, cursor))[0], [])
  })

  test('after any crash, each row comes once, also of files that appear meanwhile', async () => {
    const files = fc.uniqueArray(fc.tuple(fc.constantFrom(...'abcdefghij'), fc.integer({ min: 0, max: 9 })), {
      selector: ([name]) => name,
      minLength: 1,
      maxLength: 8,
    })
    const crashes = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(files, files, crashes, async (before, later, stops) => {
        const rowsOf = ([name, count]: readonly [string, number]) =>
          Array.from({ length: count }, (_, at) => `${name}${at}`)
        const fileOf = (file: readonly [string, number]) => [`${file[0]}.csv`, csv(...rowsOf(file))] as const
        const store = memoryStore(Object.fromEntries(before.map(fileOf)))
        const isNew = ([name]: readonly [string, number]) => before.every(([other]) => other !== name)
        const [first, ...others] = stops
        const got: string[] = []
        let { rows, standing, isWhole } = await readSome(store, {}, first)
        got.push(...rows)
        for (const file of later.filter(isNew)) store.contents.set(fileOf(file)[0], Buffer.from(fileOf(file)[1]))
        for (const stop of [...others, Infinity]) {
          if (isWhole) break
          ;({ rows, standing, isWhole } = await readSome(store, standing, stop))
          got.push(...rows)
        }
        const [rest] = await transfer(store, standing.reached)
        got.push(...rest)
        const expected = [...before, ...later.filter(isNew)].flatMap(rowsOf)
        assert.deepEqual(got.toSorted(), expected.toSorted())
      }),
      { numRuns: 60 },
    )
  })

  test('that appear during a transfer are read by the next one, so that a batch has the same rows when it is sent again', async () => {
    for (const onlyNew of [true, false]) {
      const store = memoryStore({ 'b.csv': csv('b1', 'b2'), 'd.csv': csv('d1') })
      const begin = (plan?: Json) =>
        readFiles({ ...testContext(), cursor: undefined, ...(plan !== undefined && { plan }) }, store, {
          format: 'CSV',
          onlyNew,
        })
      const first = await begin()
      const cells = async (reader: SourceReader, after?: Json) => {
        const chunks: Chunk[] = []
        for await (const chunk of reader.read(stored(after))) chunks.push(chunk)
        await reader.close()
        return { cells: chunks.flatMap(({ rows }) => rows.map(([cell]) => cell)), chunks }
      }
      const plan = stored(first.plan)
      const { chunks } = await cells(first)
      for (const name of ['a', 'c', 'e']) store.contents.set(`${name}.csv`, Buffer.from(csv(`${name}1`)))
      assert.deepEqual((await cells(await begin(plan))).cells, ['b1', 'b2', 'd1'])
      assert.deepEqual((await cells(await begin(plan), chunks[0]?.checkpoint)).cells, ['d1'])
      const changed = { code: 'source_changed' }
      store.contents.set('d.csv', Buffer.from(csv('other')))
      await assert.rejects(async () => cells(await begin(plan)), changed)
      await assert.rejects(async () => cells(await begin(plan), chunks[0]?.checkpoint), changed)
      store.contents.delete('d.csv')
      await assert.rejects(async () => cells(await begin(plan), chunks[0]?.checkpoint), changed)
    }
  })

  test('a transfer that fails keeps the files that were confirmed', async () => {
    const many = Array.from({ length: 40 }, (_, at) => [
      `${String(at).padStart(2, '0')}.csv`,
      csv(`row ${at}`, 'x'.repeat(200)),
    ])
    const store = memoryStore(Object.fromEntries(many))
    const { rows, standing } = await readSome(store, {}, 30)
    const { rows: rest } = await readSome(store, { cursor: standing.reached })
    assert(rows.length + rest.length < 2 * 40 + 8, `${rows.length} and ${rest.length} rows were read`)
    assert.equal(new Set([...rows, ...rest].filter((row) => row.startsWith('row'))).size, 40)
  })

  test('parts keep what was read before, and their cursors are one', async () => {
    const store = memoryStore({ 'a.csv': csv('a1'), 'b.csv': csv('b1') })
    const [, cursor] = await transfer(store)
    for (const name of ['c', 'd', 'e']) store.contents.set(`${name}.csv`, Buffer.from(csv(`${name}1`)))
    const reader = await open(store, { cursor })
    const division = await reader.divide?.({ bytesMin: 1, partsMax: 10 })
    assert(division)
    const columns = await division.columns()
    await reader.close()
    const rows: string[] = []
    const cursors: Json[] = []
    for (const { key } of division.parts) {
      const part = await open(store, { cursor }, { key: stored(key) as Json, columns })
      for await (const chunk of part.read()) {
        rows.push(...chunk.rows.map(([cell]) => String(cell)))
        if (chunk.cursor !== undefined) cursors.push(chunk.cursor)
      }
      await part.close()
    }
    assert.deepEqual(rows.toSorted(), ['c1', 'd1', 'e1'])
    const next = cursorOfParts(cursors) as Json
    assert.deepEqual((await transfer(store, next))[0], [])
  })

  test('many files have a cursor of 11 characters each, and checkpoints that are small', async () => {
    const files = Array.from({ length: 5_000 }, (_, at) => ({ name: `${at}`, sizeBytes: 10, version: `${at}` }))
    async function* pieces(): AsyncGenerator<FileStep> {
      for (const ended of files) {
        yield { chunk: { columns: [], rows: [], bytes: 10, checkpoint: { file: ended.name } } }
        yield { ended }
      }
    }
    let cursor: Json | undefined
    let stored = 0
    for await (const chunk of new NewFiles({}, {}).withCursors(pieces(), files.length, undefined, false)) {
      const { since = [] } = chunk.checkpoint as { since?: string[] }
      assert(since.length < 800)
      if (chunk.cursor === undefined) continue
      cursor = chunk.cursor
      stored += 1
    }
    assert(JSON.stringify(cursor).length < 56_000 && stored < 20, `${stored} cursors`)
    assert.deepEqual(new NewFiles({ cursor }, {}).among(files), [])
    assert.equal(new NewFiles({ cursor }, { id: 'another bucket' }).among(files).length, files.length)
  })
})
