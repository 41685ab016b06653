import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Batch, Connector, Row, Values } from '@penstock/connector'
import fc from '../../../test/harness/property.ts'
import { assertRejected } from './assert-rejected.ts'
import { batchOf, deliver } from './tables.ts'

/** A database whose table `t` has a whole number `id` as its key, and a text `name`. */
export type Removing = {
  readonly connector: Connector
  readonly secrets: Values
  readonly settings: Values
  readonly routes?: Readonly<Record<string, string>>
  /** Makes the table again, with these rows. */
  reset(rows: readonly Row[]): Promise<void>
  rows(): Promise<Row[]>
  /** Makes another table, whose rows refer to the row with this number. Absent if the database lets such a row go. */
  refer?(id: number): Promise<void>
}

/**
 * Tests that a row which is written stays although another notation of its key is removed with it.
 * @param removing its table `t` has a text `id` as its key, for which case does not count
 */
export function testNotations(removing: Removing): void {
  const { connector, secrets, settings, reset, rows } = removing
  test('a row stays if only another notation of its key is removed, in any order', async () => {
    for (const [number, given, removed] of [
      [
        1,
        [
          ['Ada', null],
          ['ada', 'new'],
        ],
        0,
      ],
      [
        2,
        [
          ['ada', 'new'],
          ['Ada', null],
        ],
        1,
      ],
    ] as const) {
      await reset([['Ada', 'old']])
      const batch = { ...batchOf(['id', 'name'], given, 1_000 + number), removed: new Set([removed]) }
      assert.equal((await deliver(connector, { secrets, settings }, batch)).rejected, undefined)
      assert.deepEqual(
        (await rows()).map(([, name]) => name),
        ['new'],
      )
    }
  })
}

/** Tests that a destination removes rows by their key, in their order among others, and says which it does not give up. */
export function testRemovals({ connector, secrets, settings, routes = {}, reset, rows, refer }: Removing): void {
  let number = 0
  const send = (given: readonly Row[], removed: readonly number[], key?: number) => {
    number += 1
    const batch: Batch = { ...batchOf(['id', 'name'], given, key ?? number), removed: new Set(removed) }
    return deliver(connector, { secrets, settings, routes }, batch)
  }

  test('removes rows by their key, and says of every other one why not', async () => {
    await reset([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
      [0, 'zero'],
    ])
    await refer?.(3)
    const given: Row[] = [
      [1, null],
      [2, 'B'],
      [3, null],
      [null, null],
      [9, null],
      [4, 'd'],
      ['x', null],
    ]
    const { rejected = [] } = await send(given, [0, 2, 3, 4, 6])
    assertRejected(rejected, refer ? [2, 3, 6] : [3, 6])
    if (refer) assert.match(rejected[0]?.reason ?? '', /refers to this one, by|refers to this one by/)
    assert.match(rejected.find(({ index }) => index === 3)?.reason ?? '', /^There is no value for /)
    assert.deepEqual(await rows(), [[0, 'zero'], [2, 'B'], ...(refer ? [[3, 'c']] : []), [4, 'd']])
    assert.deepEqual(connector.destination?.deliver?.removesBy?.(settings), ['id'])
    assert.equal(connector.destination?.deliver?.removesBy?.({ ...settings, writeMode: 'Insert' }), undefined)
  })

  test('leaves what the last row of each key says, whatever came before, and does nothing when a batch comes again', async () => {
    const step = fc.record({ id: fc.nat({ max: 4 }), name: fc.constantFrom('a', 'b', 'c'), isRemoved: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { maxLength: 4 }), async (batches) => {
        await reset([])
        const model = new Map<number, string>()
        for (const batch of batches) {
          const given = batch.map(({ id, name, isRemoved }): Row => [id, isRemoved ? null : name])
          const removed = batch.flatMap(({ isRemoved }, at) => (isRemoved ? [at] : []))
          await send(given, removed)
          assert.equal((await send(given, removed, number)).rejected, undefined)
          for (const { id, name, isRemoved } of batch) {
            if (isRemoved) model.delete(id)
            else model.set(id, name)
          }
        }
        assert.deepEqual(
          await rows(),
          [...model].sort(([a], [b]) => a - b),
        )
      }),
      { numRuns: 15 },
    )
  })
}
