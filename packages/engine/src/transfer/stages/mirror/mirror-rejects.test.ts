import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from '@penstock/connector'
import fc from '../../../../../../test/harness/property.ts'
import type { DigestRecords } from '../../../protocol.ts'
import { fillBatches } from '../../batches.ts'
import { confirmationOf, entryOf } from '../../confirmation.ts'
import { beginning } from '../../filled-batch.ts'
import { ChangedRows } from '../changed-rows/changed-rows.ts'
import { decodeRecords } from '../changed-rows/row-digests.ts'
import { removalsOf } from './mirror-removals.ts'

/** Tests mirrors with rejected rows and crashing sessions against a model of the table. */

const columns = ['id', 'value']

/** The state of a mirror in the database, and the table at its destination, by key. `ours` was delivered by the mirror. */
class World {
  pages: DigestRecords[] = []
  readonly table = new Map<number, 'ours' | 'foreign'>()

  /**
   * Runs one transfer. @param rejects keys whose rows the destination rejects. @param dies number of batches after which it
   * crashes, before their confirmation is stored
   */
  async run(source: readonly Row[], rejects: ReadonlySet<number>, dies = Infinity): Promise<void> {
    const host = {
      readDigests: async (after: number) => {
        const page = this.pages[after]
        return page ? { digests: page.records, last: after + 1, pages: 1 } : null
      },
      readKeys: async (after: number) =>
        after > 0
          ? null
          : {
              pages: this.pages.flatMap(({ records, keys }) => (keys === null ? [] : [{ records, keys }])),
              last: 1,
            },
      doubtRows: async (page: DigestRecords) => void this.pages.push(page),
      replaceDigests: async (pages: Iterable<DigestRecords> | AsyncIterable<DigestRecords>) => {
        const made: DigestRecords[] = []
        for await (const page of pages) made.push(page)
        this.pages = made
      },
    }
    const records = this.pages.reduce((sum, page) => sum + decodeRecords(page.records).length / 4, 0)
    const changed = await ChangedRows.open({
      host,
      state: {
        digests: { key: Buffer.alloc(32, 1).toString('base64'), records, salt: null, keys: true },
        testRows: null,
        replay: null,
        deliveryStates: [],
      },
      keyNames: ['id'],
      settings: { sendRows: 'Mirror' },
      onProgress: () => {},
    })
    assert(changed?.mirror)
    let batchesLeft = dies
    const deliver = async (filled: Parameters<typeof entryOf>[0]) => {
      await changed.sending(filled)
      const rejected = filled.rows.flatMap(([id], index) =>
        rejects.has(Number(id)) ? [{ index, reason: 'It is rejected.' }] : [],
      )
      const bad = new Set(rejected.map(({ index }) => index))
      for (const [i, [id]] of filled.rows.entries()) {
        if (bad.has(i)) continue
        if (filled.removed.has(i)) this.table.delete(Number(id))
        else this.table.set(Number(id), 'ours')
      }
      if (batchesLeft-- <= 0) return false
      const entry = entryOf(filled, { bytes: 1, rejected })
      changed.added({ batch: filled, isDelivered: true })
      const { digests } = changed.confirming(confirmationOf([entry], null, columns, 100), entry.rejects)
      if (digests) this.pages.push({ records: digests, keys: null })
      return true
    }
    const batches = fillBatches(
      {
        async *read() {
          yield { columns, rows: source, bytes: 10, checkpoint: 1 }
        },
        async close() {},
      },
      {
        from: beginning,
        firstNumber: 1,
        async mapperFor(source) {
          changed.mirror?.begin(source)
          await changed.begin({ source, mapping: { columns } })
          return () => changed.mark({ rows: source.rows, errors: new Map() }, { source })
        },
        bounds: { rowsMax: 3, bytesMax: 1_000 },
        pending: null,
        unconfirmed: null,
        testRows: null,
      },
    )
    for await (const filled of batches) if (filled.rows.length > 0 && !(await deliver(filled))) return
    const removals = removalsOf(changed.mirror, {
      host: { ...host, reportLine: async () => {} },
      job: { replaceShareMin: 0 },
      state: { range: null, read: 0, checkpoint: null, confirmed: true, cursor: null },
      sides: {
        bounds: { rowsMax: 3, bytesMax: 1_000 },
        columns,
        openReader: () => assert.fail('it is not read again'),
      },
      mapperFor: () => assert.fail('it is not read again'),
      confirmed: { read: source.length, checkpoint: null },
      signal: AbortSignal.timeout(10_000),
      onProgress: () => {},
      nameKeys: async () => undefined,
      settled: async () => {},
    })
    for await (const filled of removals) if (!(await deliver(filled))) return
  }
}

test('a row whose record was rejected, and which the mirror never delivered, is not removed', async () => {
  const world = new World()
  world.table.set(2, 'foreign')
  await world.run(
    [
      [1, 'a'],
      [2, 'b'],
    ],
    new Set([2]),
  )
  await world.run([[1, 'a']], new Set())
  assert.equal(world.table.get(2), 'foreign')
})

const steps = fc.array(
  fc.record({
    source: fc.uniqueArray(fc.nat(5), { maxLength: 6 }),
    version: fc.nat(2),
    rejects: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
    dies: fc.constantFrom(Infinity, Infinity, 0, 1),
  }),
  { minLength: 1, maxLength: 8 },
)

test('over any transfers, the rows of others stay, and rows of the mirror leave with the source', () =>
  fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(5)), steps, async (foreign, sequence) => {
      const world = new World()
      for (const key of foreign) world.table.set(key, 'foreign')
      // Keys that the mirror delivered, and keys of crashed sessions that may or may not have been delivered.
      const touched = new Set<number>()
      const unknown = new Set<number>()
      const assertKept = () => {
        for (const key of foreign) if (!touched.has(key)) assert(world.table.has(key), `${key} of another was removed`)
      }
      for (const { source, version, rejects, dies } of sequence) {
        const rows = source.map((id): Row => [id, version])
        await world.run(rows, new Set(rejects), dies)
        for (const [key, of] of world.table) if (of === 'ours') touched.add(key)
        if (dies < Infinity) for (const id of source) for (const keys of [unknown, touched]) keys.add(id)
        assertKept()
      }
      await world.run([[9, 'the last']], new Set())
      assertKept()
      assert.deepEqual(
        [...world.table].filter(([key, of]) => of === 'ours' && !unknown.has(key)).map(([key]) => key),
        [9],
      )
    }),
    { numRuns: 500 },
  ))
