import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asConnectorError, type Cell, type Chunk, type Json, type Row, type SourceReader } from '@penstock/connector'
import fc from '../../../../../../test/harness/property.ts'
import { countSkipped, skipCode } from '../../../skipped.ts'
import { fillBatches } from '../../batches.ts'
import { beginning, type Checkpoint, type MappedChunk } from '../../filled-batch.ts'
import type { RepeatTools, StageChunk, StageContext } from '../stage.ts'
import { DuplicateKeys } from './duplicate-keys.ts'
import { duplicateSettings, type Winner } from './duplicate-settings.ts'
import { Duplicates } from './duplicates.ts'
import { compareOrder, orderBytesOf } from './order-values.ts'
import { duplicates } from './stage.ts'

/** A record: its key, its deciding value, whether it is skipped or invalid, and whether it is a removal. */
type Item = {
  readonly id: Cell
  readonly value: Cell
  readonly is: 'sent' | 'filtered' | 'invalid' | 'broken' | 'removed'
}
type Crash = {
  readonly batch: number
  /** `again`: while confirmed records are read again, after this many chunks. */
  readonly place: 'before' | 'sent' | 'confirmed' | 'again'
  readonly killed: boolean
}

class Crashed extends Error {}

const columns = ['id', 'value']
/** Runs of each property. A hundred times as many runs take 2 minutes. */
const runs = 100
const codeOf = (error: unknown) => asConnectorError(error)?.code

const readerOf = (items: () => readonly Item[]): SourceReader => ({
  async *read(checkpoint) {
    const all = items()
    for (let at = (checkpoint as number | undefined) ?? 0; at < all.length; at += 3) {
      const some = all.slice(at, at + 3)
      const indexes = (kind: Item['is']) => some.flatMap(({ is }, i) => (is === kind ? [i] : []))
      yield {
        columns,
        rows: some.map(({ id, value, is }): Row => [id, value, is]),
        errors: new Map(indexes('broken').map((i) => [i, 'it is broken'] as const)),
        removed: new Set(indexes('removed')),
        checkpoint: at + some.length,
        bytes: 10 * some.length,
      }
    }
  },
  close: async () => {},
})

/** A transfer of these records, in any number of sessions and runners. */
class Run {
  readonly #items: () => readonly Item[]
  readonly #winner: Winner
  #keys = new DuplicateKeys(1e9)
  #checkpoint: Checkpoint = beginning
  #pending: number | null = null
  read = 0
  duplicates = 0
  /** The numbers of the records that were sent and confirmed, and the records in the order in which they were sent. */
  readonly confirmed: number[] = []
  readonly log: Row[] = []

  constructor(items: () => readonly Item[], winner: Winner) {
    this.#items = items
    this.#winner = winner
  }

  /** Runs to the end, or to the crash. */
  async to(crash?: Crash): Promise<void> {
    const settings = duplicateSettings({ duplicates: this.#winner, duplicateKey: 'id', duplicateColumn: 'value' }, [
      'id',
    ])
    assert.ok(settings)
    const open = async () => readerOf(this.#items)
    const map = ({ rows }: Pick<Chunk, 'rows'>): MappedChunk => ({
      rows,
      errors: new Map(
        rows.flatMap((row, i) => (row[2] === 'invalid' ? [[i, { reason: 'it is invalid' }] as const] : [])),
      ),
      skipped: Uint8Array.from(rows.map((row) => (row[2] === 'filtered' ? skipCode('filtered') : 0))),
    })
    const duplicates = new Duplicates({
      settings,
      keys: this.#keys,
      transferId: 'a',
      checkpoint: this.#checkpoint as Json,
      read: this.read,
      testRows: null,
      removesBy: ['id'],
    })
    if (crash?.killed) this.#keys = new DuplicateKeys(1e9)
    await duplicates.prepare(open, async (chunk) => ({ mapping: { columns }, mapped: map(chunk) }))
    const at = (place: Crash['place'], batch: number) => {
      if (crash?.batch === batch && crash.place === place) throw new Crashed()
    }
    if (duplicates.seesAgain) {
      let records = 0
      for await (const chunk of (await open()).read()) {
        at('again', records / 3)
        duplicates.seeAgain(chunk, map(chunk), columns, records + 1)
        records += chunk.rows.length
        if (records >= this.read) break
      }
      duplicates.endAgain(records)
    }
    const batches = fillBatches(await open(), {
      from: this.#checkpoint,
      firstNumber: this.read + 1,
      mapperFor: (chunk, first) => () => duplicates.mark(chunk, map(chunk), columns, first),
      bounds: { rowsMax: 4, bytesMax: 1_000 },
      pending: this.#pending,
      unconfirmed: null,
      testRows: null,
      lastNumber: duplicates.lastNumber,
    })
    let batch = 0
    let ahead = batches.next()
    for (;;) {
      const { value: filled } = await ahead
      if (!filled) break
      // One batch is read ahead.
      ahead = batches.next()
      ahead.catch(() => {})
      this.#pending = filled.covered
      at('before', batch)
      this.log.push(...filled.rows)
      at('sent', batch)
      const sentKeys = duplicates.confirm(filled.first + filled.covered - 1)
      const { first, covered } = filled
      const last = filled.segments.findLast((segment) => segment.first < first + covered)
      assert.ok(last)
      const isWhole = first + covered === last.first + last.count
      const spot = isWhole
        ? { at: last.after, skip: 0, bytes: last.bytes }
        : { at: last.before, skip: first + covered - last.first, bytes: last.bytes }
      this.#checkpoint = { ...spot, sentKeys } as Checkpoint
      this.read += covered
      this.duplicates += countSkipped(filled.skipped).duplicates
      this.confirmed.push(...filled.numbers)
      this.#pending = null
      at('confirmed', batch)
      batch += 1
    }
    duplicates.end()
  }

  async toEnd(crashes: readonly Crash[]): Promise<void> {
    for (const crash of crashes)
      await this.to(crash).catch((error) => {
        if (!(error instanceof Crashed)) throw error
      })
    if (this.read < this.#items().length || crashes.length === 0) await this.to()
  }
}

/** The numbers of the records to send, without removals. */
function expected(items: readonly Item[], winner: Winner): number[] {
  const winners = new Map<Cell, number>()
  const alone: number[] = []
  for (const [at, { id, value, is }] of items.entries()) {
    if (is !== 'sent') continue
    if (id === null || id === '') {
      alone.push(at + 1)
      continue
    }
    const before = winners.get(id)
    const best = before === undefined ? undefined : items[before - 1]?.value
    const wins =
      before === undefined ||
      winner === 'Last' ||
      (winner !== 'First' && compareOrder(orderBytesOf(value), orderBytesOf(best), winner === 'Least') > 0)
    if (wins) winners.set(id, at + 1)
  }
  return [...alone, ...winners.values()].sort((a, b) => a - b)
}

const cellOf = fc.constantFrom<Cell>(
  null,
  '',
  '1',
  '2',
  '10',
  '-3',
  '-30',
  '2026-01-01',
  '2026-01-01T00:00:00.001Z',
  'a',
  'b',
)
const itemOf = (kinds: readonly Item['is'][]) =>
  fc.record({ id: fc.constantFrom<Cell>(1, 2, 3, 4, 5, null, ''), value: cellOf, is: fc.constantFrom(...kinds) })
const kept = ['sent', 'sent', 'sent', 'filtered', 'invalid', 'broken'] as const
const crashOf = fc.record({
  batch: fc.nat(4),
  place: fc.constantFrom('before' as const, 'sent' as const, 'confirmed' as const, 'again' as const),
  killed: fc.boolean(),
})
const winnerOf = fc.constantFrom<Winner>('First', 'Last', 'Greatest', 'Least')

describe('duplicates', () => {
  test('are left out exactly, whatever crashes: one record of each key is sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(itemOf(kept), { maxLength: 30 }),
        winnerOf,
        fc.array(crashOf, { maxLength: 4 }),
        async (items, winner, crashes) => {
          const run = new Run(() => items, winner)
          await run.toEnd(crashes)
          // Of equal records with the last digest, the first is sent.
          const contentOf = (numbers: readonly number[]) =>
            numbers.map((number) => JSON.stringify([items[number - 1]?.id, items[number - 1]?.value])).sort()
          const all = expected(items, winner)
          assert.deepEqual(contentOf(run.confirmed), contentOf(all))
          if (winner !== 'Last') assert.deepEqual(run.confirmed, all)
          assert.equal(run.read, items.length)
          assert.equal(run.duplicates, items.filter(({ is }) => is === 'sent').length - all.length)
        },
      ),
      { numRuns: runs },
    )
  })

  test('of a source that reports removals leave the destination as it would be without them, by the order of each key', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(itemOf(['sent', 'sent', 'removed']), { maxLength: 24 }),
        winnerOf,
        fc.array(crashOf, { maxLength: 3 }),
        async (items, winner, crashes) => {
          const run = new Run(() => items, winner)
          await run.toEnd(crashes)
          const there = new Set<Cell>()
          const after = new Set<Cell>()
          for (const { id, is } of items) is === 'removed' ? there.delete(id) : there.add(id)
          for (const [id = null, , is] of run.log) is === 'removed' ? after.delete(id) : after.add(id)
          for (const id of [1, 2, 3, 4, 5]) assert.equal(after.has(id), there.has(id), String(id))
        },
      ),
      { numRuns: runs / 2 },
    )
  })

  test('of a source that changes between two readings lose no key, or the transfer fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(itemOf(['sent']), { maxLength: 20 }),
        fc.array(itemOf(['sent']), { maxLength: 20 }),
        fc.nat(20),
        fc.constantFrom<Winner>('Last', 'Greatest', 'Least'),
        async (first, others, from, winner) => {
          const second = [...first.slice(0, from), ...others]
          let readings = 0
          const run = new Run(() => (++readings === 1 ? first : second), winner)
          try {
            await run.to()
          } catch (error) {
            assert.equal(codeOf(error), 'source_changed')
            return
          }
          const sent = new Set(run.log.map(([id]) => id))
          for (const { id } of [...first.filter(({ id }) => id), ...second]) assert.ok(sent.has(id), String(id))
        },
      ),
      { numRuns: runs / 2 },
    )
  })

  test('of a source that is empty after a replacement was judged end the transfer', async () => {
    const items: Item[] = [1, 2, 1].map((id) => ({ id, value: id, is: 'sent' }))
    const map = (chunk: Chunk) => ({ mapping: { columns }, mapped: { rows: chunk.rows, errors: new Map() } })
    const keys = new DuplicateKeys(1e9)
    const stage = await duplicates.open({
      sides: { settings: { duplicates: 'Last', duplicateKey: 'id' }, deliver: {}, removesBy: undefined },
      state: { checkpoint: null, read: 0, testRows: null },
      job: { id: 'a' },
      memory: { of: () => keys },
      openReader: async () => readerOf(() => items),
      mapBefore: async (chunk: Chunk) => map(chunk),
    } as unknown as StageContext)
    await stage?.prepare?.()
    // The guard of a replacement reads all records, and the stages mark them.
    let first = 1
    for await (const source of readerOf(() => items).read()) {
      const { mapping, mapped } = map(source)
      stage?.mark?.(mapped, { source, mapping } as unknown as StageChunk, first)
      first += source.rows.length
    }
    await stage?.opened?.(
      readerOf(() => []),
      { pending: null, announced: null },
      {} as unknown as RepeatTools,
    )
    assert.throws(
      () => stage?.end?.(),
      (error) => codeOf(error) === 'source_changed',
    )
  })

  test('are found after an error while the confirmed records are read again', async () => {
    const items: Item[] = [1, 2, 3, 1, 4, 5, 2, 6, 7].map((id) => ({ id, value: id, is: 'sent' }))
    const run = new Run(() => items, 'First')
    await assert.rejects(run.to({ batch: 1, place: 'before', killed: true }), Crashed)
    await assert.rejects(run.to({ batch: 1, place: 'again', killed: false }), Crashed)
    await run.to()
    assert.deepEqual(run.confirmed, [1, 2, 3, 5, 6, 8, 9])
  })

  test('fail if the confirmed records are others after a crash', async () => {
    let items: Item[] = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => ({ id, value: id, is: 'sent' }))
    const run = new Run(() => items, 'First')
    await assert.rejects(run.to({ batch: 0, place: 'confirmed', killed: true }), Crashed)
    items = items.map((item) => ({ ...item, id: 10 - Number(item.id) }))
    await assert.rejects(run.to(), (error) => codeOf(error) === 'source_changed')
  })

  test('are refused with a sentence beyond the memory that there is', async () => {
    const keys = new DuplicateKeys(400_000)
    const settings = duplicateSettings({ duplicates: 'First', duplicateKey: '*' }, undefined)
    assert.ok(settings)
    const state = { transferId: 'a', checkpoint: null, read: 0, testRows: null, removesBy: undefined }
    const duplicates = new Duplicates({ settings, keys, ...state })
    const rows = Array.from({ length: 20_000 }, (_, i): Row => [i])
    const chunk = { columns: ['id'], rows, bytes: 1, checkpoint: 1 }
    const mark = () => duplicates.mark(chunk, { rows, errors: new Map() }, ['id'], 1)
    assert.throws(mark, (error) => {
      assert.match(String(asConnectorError(error)?.message), /PENSTOCK_RUNNER_MEMORY_MB/)
      return codeOf(error) === 'invalid_setting'
    })
  })

  test('have the key of the destination, or a key of their own', () => {
    const of = (values: Record<string, string>, upsertKeys?: readonly string[]) => duplicateSettings(values, upsertKeys)
    assert.equal(of({}), undefined)
    assert.equal(of({ duplicates: 'All' }), undefined)
    assert.deepEqual(of({ duplicates: 'First' }, ['id'])?.keyNames, ['id'])
    assert.deepEqual(of({ duplicates: 'First', duplicateKey: ' a , b' }, ['id'])?.keyNames, ['a', 'b'])
    assert.deepEqual(of({ duplicates: 'First', rowKey: 'c' })?.keyNames, ['c'])
    assert.equal(of({ duplicates: 'First', duplicateKey: '*' }, ['id'])?.keyNames, undefined)
    assert.throws(() => of({ duplicates: 'First' }), /Key of duplicates/)
    assert.throws(() => of({ duplicates: 'Least', duplicateKey: 'a' }), /Deciding column/)
  })
})

test('values are compared exactly, by their type; empty ones lose', () => {
  const ascending: Cell[] = [
    null,
    '9999-99-99',
    'A',
    'a',
    'ab',
    '1969-12-31T23:59:59.999999999Z',
    '2026-11-26',
    '2026-11-26 10:00:00.000000001+10:00',
    '2026-11-26T00:00:00.000001Z',
    '2026-11-26 12:00',
    '-1e30',
    '-12345678901234567890.2',
    '-12345678901234567890.1',
    -12,
    '-1',
    '-0.5',
    0,
    '0.05',
    '0.5',
    true,
    '+2',
    '10',
    '12345678901234567890123456789012345678',
    '12345678901234567890123456789012345679',
    '1e40',
  ]
  const all = ascending.map(orderBytesOf)
  for (const [i, one] of all.entries())
    for (const [j, other] of all.entries()) {
      const name = `${ascending[i]} and ${ascending[j]}`
      const isOfOneKind = one[0] === other[0]
      assert.equal(compareOrder(one, other, false) > 0, i > j, name)
      assert.equal(compareOrder(one, other, true) > 0, isOfOneKind ? i < j : i > j, name)
    }
  assert.equal(compareOrder(orderBytesOf('1.50'), orderBytesOf(1.5), false), 0)
  assert.equal(compareOrder(orderBytesOf('2026-11-26T12:00:00+02:00'), orderBytesOf('2026-11-26 10:00Z'), false), 0)
})
