import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import type { ConnectionRule } from '@penstock/wire'
import { RunnerMemory } from '../runner-memory.ts'
import { countRows, noCounts, sumOf } from './counts.ts'
import { brokenSoFar, type Judged, judgeAll } from './judge.ts'
import { RuleWatch } from './rule-watch.ts'
import { rules as kind } from './stage.ts'
import { UniqueValues } from './unique-values.ts'

const nowMs = Date.parse('2026-11-26T12:00:00Z')
const judgedOf = (rules: readonly ConnectionRule[], cells: readonly Cell[], given: Partial<Judged> = {}): Judged => ({
  read: cells.length,
  rejected: 0,
  skipped: 0,
  counts: countRows(
    rules,
    ['a'],
    cells.map((cell, i) => ({ number: i + 1, raw: [cell] })),
    new UniqueValues(),
  ),
  uniqueRowsMax: 2,
  isBeyondUnique: false,
  usual: null,
  nowMs,
  isSample: false,
  ...given,
})
const outcome = (rule: Omit<ConnectionRule, 'action'>, cells: readonly Cell[], given: Partial<Judged> = {}) => {
  const rules: ConnectionRule[] = [{ action: 'stop', ...rule }]
  return judgeAll(rules, judgedOf(rules, cells, given))[0]?.outcome
}

describe('a rule', () => {
  test('of a column counts values that break it', () => {
    const column = 'a'
    assert.equal(outcome({ check: 'empty', column, percent: 50 }, ['', null, 'x', 'y']), 'kept')
    assert.equal(outcome({ check: 'empty', column, percent: 49 }, [' ', null, 'x', 'y']), 'broken')
    assert.equal(outcome({ check: 'values', column, values: ['1', 'x'] }, [1, 'x', null]), 'kept')
    assert.equal(outcome({ check: 'values', column, values: ['x'] }, ['x', 'X']), 'broken')
    assert.equal(outcome({ check: 'range', column, min: -1, max: 2 }, ['-1', ' 2.0 ', 1, '']), 'kept')
    for (const wrong of ['2.1', 'two', '1,5', true, 'Infinity'])
      assert.equal(outcome({ check: 'range', column, max: 2 }, [wrong]), 'broken', String(wrong))
    assert.equal(outcome({ check: 'unique', column }, ['x', '', null, '', 'y']), 'kept')
    assert.equal(outcome({ check: 'unique', column }, ['x', 'y', 'x']), 'broken')
    assert.equal(outcome({ check: 'unique', column }, ['x'], { isBeyondUnique: true }), 'not_checked')
    assert.equal(outcome({ check: 'unique', column: 'b' }, ['x']), 'broken', 'there is no such column')
    assert.equal(outcome({ check: 'unique', column: 'b' }, []), 'not_checked')
  })

  test('of freshness reads ISO 8601 and Unix times', () => {
    const rule = { check: 'freshness', column: 'a', hours: 24 } as const
    const fresh = [
      '2026-11-26',
      '2026-11-25 13:00',
      '2026-11-25T14:30:00+01:00',
      '2026-11-25T13:00:00.123Z',
      nowMs,
      nowMs / 1000,
    ]
    for (const time of fresh) assert.equal(outcome(rule, ['2001-01-01', time, 'n/a']), 'kept', String(time))
    for (const time of ['2026-11-25T12:30:00+01:00', '26.11.2026', '', 0]) {
      assert.equal(outcome(rule, [time]), 'broken', String(time))
    }
  })

  test('of numbers of records knows its bounds, and what is usual', () => {
    assert.equal(outcome({ check: 'rejected', count: 1, percent: 10 }, Array(20).fill('x'), { rejected: 1 }), 'kept')
    assert.equal(outcome({ check: 'rejected', count: 1, percent: 10 }, Array(20).fill('x'), { rejected: 2 }), 'broken')
    assert.equal(outcome({ check: 'rejected', percent: 0 }, []), 'kept')
    assert.equal(outcome({ check: 'rows', min: 1 }, []), 'broken')
    assert.equal(outcome({ check: 'rows', min: 1 }, [], { isSample: true }), 'not_checked')
    const volume = { check: 'volume', min: 50, max: 150 } as const
    assert.equal(outcome(volume, ['x'], { usual: { rows: 2, transfers: 3 } }), 'kept')
    assert.equal(outcome(volume, ['x'], { usual: { rows: 3, transfers: 3 } }), 'broken')
    assert.equal(outcome(volume, ['x'], { usual: { rows: 3, transfers: 2 } }), 'not_checked')
    assert.equal(outcome(volume, ['x'], { usual: { rows: 0, transfers: 9 } }), 'not_checked')
  })

  test('is broken early only if nothing that follows can keep it, or a share of many records is', () => {
    const rules: ConnectionRule[] = [
      { check: 'rejected', action: 'stop', percent: 1 },
      { check: 'rejected', action: 'stop', count: 5 },
      { check: 'rows', action: 'stop', min: 9 },
      { check: 'rows', action: 'stop', max: 999 },
      { check: 'volume', action: 'stop', min: 90 },
      { check: 'empty', action: 'stop', column: 'a', percent: 1 },
      { check: 'values', action: 'stop', column: 'a', values: ['x'] },
      { check: 'freshness', action: 'stop', column: 'a', hours: 1 },
    ]
    const early = (rows: number, cell: Cell, rejected: number) =>
      brokenSoFar(
        rules,
        judgedOf(rules, Array(rows).fill(cell), { rejected, usual: { rows: 10_000, transfers: 9 } }),
      ).map(({ check }) => check)
    assert.deepEqual(early(5, '', 5), [])
    assert.deepEqual(early(6, 'x', 6), ['rejected'])
    assert.deepEqual(early(6, 'y', 0), ['values'])
    assert.deepEqual(early(1_000, '', 11), ['rejected', 'rejected', 'rows', 'empty'])
  })

  test('counts groups of records as all of them, and a record twice as once', () => {
    const rules: ConnectionRule[] = [
      { check: 'unique', action: 'stop', column: 'a' },
      { check: 'empty', action: 'stop', column: 'a', percent: 0 },
      { check: 'freshness', action: 'stop', column: 'a', hours: 1 },
    ]
    const unique = new UniqueValues()
    const rows = ['2026-01-01', '', '2026-02-01', '2026-01-01'].map((cell, i) => ({ number: i + 1, raw: [cell] }))
    const count = (from: number, to: number) => countRows(rules, ['a'], rows.slice(from, to), unique)
    count(0, 4)
    const sum = [count(0, 1), count(1, 3), count(3, 4)].reduce(sumOf, noCounts(rules))
    assert.deepEqual(
      sum.map(({ broken, first }) => [broken, first]),
      [
        [1, 4],
        [1, 2],
        [0, null],
      ],
    )
    assert.equal(sum[2]?.newest, Date.parse('2026-02-01'))
    const few = new UniqueValues(2)
    assert.deepEqual([few.lacks(2), few.lacks(3)], [true, false])
    for (const number of [1, 2, 3]) few.isSeen(0, 'x', number)
    assert.deepEqual([few.isFull, few.isSeen(0, 'x', 4)], [true, false])
  })
})

test('records that another runner confirmed are counted again without those that were left out', async () => {
  const rule: ConnectionRule = { check: 'unique', action: 'stop', column: 'id' }
  const rows = ['a', 'b', 'b', 'c'].map((id) => [id])
  const recounted = async (skipped: Uint8Array | undefined) => {
    const state = { rules: { list: [rule], usual: null }, testRows: null, read: 3, rejected: 0, checkpoint: null }
    const unique = new UniqueValues()
    const reports: string[] = []
    const host = {
      reportRules: async (results: readonly { outcome: string }[]) =>
        void reports.push(...results.map(({ outcome }) => outcome)),
    }
    const watch = RuleWatch.of(state as never, host as never, unique, () => ['id'])
    assert(watch)
    watch.countAgain({ columns: ['id'], rows, bytes: 10, checkpoint: 1 }, { ...(skipped && { skipped }) }, 1)
    const batch = { first: 4, covered: 1, numbers: [4], raws: [['b']], invalid: [], skipped: [] }
    return watch.check(batch as never)
  }
  await assert.rejects(recounted(undefined), { code: 'rule_broken' })
  await recounted(Uint8Array.of(0, 1, 1, 0))
})

test('records that the destination rejects only at a flush are counted, and rejected removals are not', async () => {
  const rule: ConnectionRule = { check: 'rejected', action: 'stop', count: 0 }
  const batch = { first: 1, covered: 2, numbers: [1, 2], raws: [['a'], ['b']], invalid: [], skipped: [] }
  const rejects = [{ row: 2, count: 1, field: null, reason: 'too late', raw: undefined }]
  const outcomes: string[] = []
  const ended = async (rejectedFrom: object) => {
    const state = { rules: { list: [rule], usual: null }, testRows: null, read: 0, rejected: 0, checkpoint: null }
    const host = {
      reportRules: async (results: readonly { outcome: string }[]) =>
        void outcomes.push(...results.map(({ outcome }) => outcome)),
    }
    const sides = { sourceColumns: ['id'] }
    const stage = await kind.open({ state, host, sides, memory: new RunnerMemory() } as never)
    stage?.added?.({ batch, rejectedFrom: batch, rejects: [], isDelivered: true, sent: 2 } as never)
    stage?.added?.({ batch: undefined, rejectedFrom, rejects, isDelivered: false, sent: 0 } as never)
    await stage?.finish?.()
  }
  await assert.rejects(ended(batch), { code: 'rule_broken' })
  await ended({ ...batch, left: {} })
  assert.deepEqual(outcomes, ['broken', 'kept'])
})
