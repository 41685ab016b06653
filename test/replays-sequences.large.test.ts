import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Row } from '@penstock/connector'
import { type Engine, startEngine, taken } from './harness/engine.ts'
import { assertInvariants } from './harness/invariants.ts'
import fc from './harness/property.ts'

/** Transfers and replays in any order, compared with a model of what the destination must hold (docs/rejected-records.md). */

let engine: Engine
before(async () => {
  engine = await startEngine()
})
after(async () => {
  await assertInvariants(engine.service.database.pool)
  await engine.close()
})

/** A change of a row, in the order of the source. A null value removes the row. */
type Change = { readonly key: string; readonly value: string | null; readonly order: number; delivered: boolean }

type Step =
  | { readonly do: 'move'; readonly changes: readonly (readonly [key: string, value: string | null])[] }
  | { readonly do: 'toggle'; readonly value: string }
  | { readonly do: 'replay'; readonly of: number }

const key = fc.constantFrom('a', 'b', 'c')
const value = fc.constantFrom('1', '2', '3', '4')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      changes: fc.array(fc.tuple(key, fc.option(value, { freq: 4 })), { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('toggle' as const), value }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replay' as const), of: fc.nat(20) }) },
)

/** The destination: a table whose rows have keys, and the values that it rejects at present. */
function startTable() {
  const table = new Map<string, string>()
  const bad = new Set(['1', '2'])
  engine.sides.destination = {
    batch: () => ({ rowsMax: 3, bytesMax: 1 << 20 }),
    windowKeys: () => ['key'],
    removesBy: () => ['key'],
    open: () => ({
      deliver: async (batch) => {
        const rejected = batch.rows.flatMap(([name, cell], index) => {
          if (bad.has(String(cell))) return [{ index, reason: 'The value is bad.' }]
          if (batch.removed?.has(index)) table.delete(String(name))
          else table.set(String(name), String(cell))
          return []
        })
        return taken(batch, { rejected })
      },
    }),
  }
  return { table, bad }
}

/** The source of the next transfer. */
function give(changes: readonly Pick<Change, 'key' | 'value'>[]): void {
  engine.sides.source = function* (_, from) {
    if (from !== undefined) return
    const rows: Row[] = changes.map((change) => [change.key, change.value])
    const removed = new Set(changes.flatMap((change, i) => (change.value === null ? [i] : [])))
    const chunk = { columns: ['key', 'value'], rows, bytes: 10, checkpoint: 1 }
    yield removed.size > 0 ? { ...chunk, removed } : chunk
  }
}

/** The expected content of the destination: the newest delivered change of each key. */
function rowsOf(changes: readonly Change[]): [string, string][] {
  const rows = new Map<string, string | null>()
  for (const { key: name, value: cell, delivered } of changes) if (delivered) rows.set(name, cell)
  return [...rows].flatMap(([name, cell]): [string, string][] => (cell === null ? [] : [[name, cell]])).sort()
}

test('the destination holds the newest delivered change of each key, whatever is replayed and when', async () => {
  let replays = 0
  let superseded = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const { table, bad } = startTable()
      const id = await engine.connectSides()
      const changes: Change[] = []
      const rejects: { readonly transferId: string; readonly changes: readonly Change[] }[] = []
      for (const one of steps) {
        if (one.do === 'toggle') {
          if (!bad.delete(one.value)) bad.add(one.value)
        } else if (one.do === 'move') {
          const given = one.changes.map(([name, cell], i) => ({
            key: name,
            value: cell,
            order: changes.length + i,
            delivered: !bad.has(String(cell)),
          }))
          give(given)
          const transfer = await engine.move(id)
          changes.push(...given)
          const rejected = given.filter(({ delivered }) => !delivered)
          assert.deepEqual([transfer.records.read, transfer.records.rejected], [given.length, rejected.length])
          if (rejected.length > 0) rejects.push({ transferId: transfer.id, changes: rejected })
        } else if (rejects.length > 0) {
          const [kept] = rejects.splice(one.of % rejects.length, 1)
          assert(kept)
          for (const change of kept.changes) {
            const isOld = changes.some(
              (other) => other.delivered && other.key === change.key && other.order > change.order,
            )
            if (isOld) superseded++
            change.delivered = !isOld && !bad.has(String(change.value))
          }
          const left = kept.changes.filter(({ delivered }) => !delivered)
          const at = { accountId: engine.accountId, id, transferId: kept.transferId }
          const { id: transferId } = await engine.caller.expect(engine.caller.call('replayTransfer', at))
          await engine.work()
          const { records } = await engine.get(id, transferId)
          assert.deepEqual([records.read, records.rejected], [kept.changes.length, left.length])
          if (left.length > 0) rejects.push({ transferId, changes: left })
          replays++
        }
        assert.deepEqual([...table].sort(), rowsOf(changes))
      }
    }),
    { numRuns: 40 },
  )
  assert(
    replays > 20 && superseded > 5,
    `${replays} replays, ${superseded} superseded records: too few to show anything`,
  )
})
