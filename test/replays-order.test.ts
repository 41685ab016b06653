import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Row } from '@penstock/connector'
import type { Transfer } from '@penstock/wire'
import { type Engine, startEngine, taken } from './harness/engine.ts'
import { assertInvariants } from './harness/invariants.ts'

/** Replays replace no newer data, and send no record that the source could not read. */

let engine: Engine
before(async () => {
  engine = await startEngine()
})
after(async () => {
  await assertInvariants(engine.service.database.pool)
  await engine.close()
})

const place = (id: string, transferId: string) => ({ accountId: engine.accountId, id, transferId })
const listRejects = (id: string, transferId: string) =>
  engine.caller.expect(engine.caller.call('listRejects', place(id, transferId)))
const replay = async (id: string, transferId: string) => {
  const { id: replayId } = await engine.caller.expect(engine.caller.call('replayTransfer', place(id, transferId)))
  await engine.work()
  return engine.get(id, replayId)
}

type Change = readonly [key: string, value: string | null]

/** A table that gets changes: values of null remove a row, and values that are bad are rejected. */
function startTable() {
  const table = new Map<string, string>()
  const bad = new Set<string>()
  engine.sides.destination = {
    batch: () => ({ rowsMax: 3, bytesMax: 1 << 20 }),
    windowKeys: () => ['key'],
    removesBy: () => ['key'],
    open: () => ({
      deliver: async (batch) => {
        const rejected = batch.rows.flatMap(([key, value], index) => {
          if (bad.has(String(value))) return [{ index, reason: 'The value is bad.' }]
          if (batch.removed?.has(index)) table.delete(String(key))
          else table.set(String(key), String(value))
          return []
        })
        return taken(batch, { rejected })
      },
    }),
  }
  return { table, bad }
}

/** The source of the next transfer. */
function give(changes: readonly Change[]) {
  engine.sides.source = function* (_, after) {
    if (after !== undefined) return
    const rows: Row[] = changes.map(([key, value]) => [key, value])
    const removed = new Set(changes.flatMap(([, value], i) => (value === null ? [i] : [])))
    const chunk = { columns: ['key', 'value'], rows, bytes: 10, checkpoint: 1 }
    yield removed.size > 0 ? { ...chunk, removed } : chunk
  }
}

describe('a replay of a record', () => {
  test('does not bring a row back that a later change removed', async () => {
    const { table, bad } = startTable()
    bad.add('old')
    give([['a', 'old']])
    const id = await engine.connectSides()
    const first = await engine.move(id)
    assert.equal(first.records.rejected, 1)
    give([['a', 'new']])
    await engine.move(id)
    give([['a', null]])
    await engine.move(id)
    assert.equal((await listRejects(id, first.id))[0]?.superseded, true)
    bad.clear()
    const again = await replay(id, first.id)
    assert.deepEqual(again.records, { read: 1, sent: 0, accepted: 0, rejected: 1 })
    assert.match((await listRejects(id, again.id))[0]?.reason ?? '', /Superseded by a newer change/)
    assert.deepEqual([...table], [])
  })

  test('depends on the order of the records of its own transfer, in one batch and in several', async () => {
    for (const padding of [0, 5]) {
      const { table, bad } = startTable()
      bad.add('bad')
      const others: Change[] = Array.from({ length: padding }, (_, i) => [`other ${i}`, 'x'])
      give([['a', 'bad'], ['b', 'good'], ...others, ['a', 'later'], ['b', 'bad']])
      const id = await engine.connectSides()
      const first = await engine.move(id)
      bad.clear()
      await replay(id, first.id)
      assert.deepEqual([table.get('a'), table.get('b')], ['later', 'bad'])
    }
  })

  test('gives way to a later one that another replay delivered', async () => {
    const { table, bad } = startTable()
    bad.add('1').add('2')
    give([['a', '1']])
    const id = await engine.connectSides()
    const first = await engine.move(id)
    give([['a', '2']])
    const second = await engine.move(id)
    bad.delete('2')
    await replay(id, second.id)
    bad.clear()
    assert.equal((await replay(id, first.id)).records.accepted, 0)
    assert.equal(table.get('a'), '2')
  })

  test('delivers both of two in their order, if no newer one is there', async () => {
    const { table, bad } = startTable()
    bad.add('1').add('2')
    give([
      ['a', '1'],
      ['b', 'x'],
      ['a', '2'],
    ])
    const id = await engine.connectSides()
    const first = await engine.move(id)
    bad.clear()
    assert.equal((await replay(id, first.id)).records.accepted, 2)
    assert.equal(table.get('a'), '2')
  })
})

describe('a record that the source could not read', () => {
  test('stays rejected with its reason and its row, until it is corrected', async () => {
    const { table } = startTable()
    engine.sides.source = function* (_, after) {
      if (after !== undefined) return
      const rows: Row[] = [
        ['a', '1'],
        ['b', ''],
        ['c', '3'],
        ['d', 'x'],
      ]
      const errors = new Map([
        [1, 'The row has 1 value.'],
        [3, 'The row has 3 values.'],
      ])
      yield { columns: ['key', 'value'], rows, bytes: 10, checkpoint: 1, errors }
    }
    const id = await engine.connectSides()
    const first = await engine.move(id)
    const described = async (transferId: string) =>
      (await listRejects(id, transferId)).map(({ row, reason, structural }) => [row, reason, structural])
    const both = [
      [2, 'The row has 1 value.', true],
      [4, 'The row has 3 values.', true],
    ]
    assert.deepEqual(await described(first.id), both)
    const second = await replay(id, first.id)
    assert.equal(second.records.rejected, 2)
    assert.deepEqual(await described(second.id), both)
    const edit = (number: number, record: Record<string, string>) =>
      engine.caller.call('editRejects', { ...place(id, second.id), body: { edits: [{ number, record }] } })
    assert.match((await edit(1, { key: 'b' })).text, /could not read the record/)
    await engine.caller.expect(edit(1, { value: '2' }))
    const third = await replay(id, second.id)
    assert.deepEqual(third.records, { read: 2, sent: 1, accepted: 1, rejected: 1 })
    assert.deepEqual(await described(third.id), [[4, 'The row has 3 values.', true]])
    assert.deepEqual(
      [...table],
      [
        ['a', '1'],
        ['c', '3'],
        ['b', '2'],
      ],
    )
    // A record can be confirmed as it was read.
    await engine.caller.expect(
      engine.caller.call('editRejects', {
        ...place(id, third.id),
        body: { edits: [{ number: 1, record: { key: 'd', value: 'x' } }] },
      }),
    )
    assert.equal((await replay(id, third.id)).records.accepted, 1)
    assert.equal(table.get('d'), 'x')
  })

  test('is not in a replay of the ready or the corrected records, and shows its state', async () => {
    const { table, bad } = startTable()
    bad.add('1').add('3')
    engine.sides.source = function* (_, after) {
      if (after !== undefined) return
      const rows: Row[] = [
        ['a', '1'],
        ['b', ''],
        ['c', '3'],
      ]
      yield {
        columns: ['key', 'value'],
        rows,
        bytes: 10,
        checkpoint: 1,
        errors: new Map([[1, 'The row has 1 value.']]),
      }
    }
    const id = await engine.connectSides()
    const { id: transferId } = await engine.move(id)
    const { caller } = engine
    const of = place(id, transferId)
    const states = async () => (await listRejects(id, transferId)).map(({ state }) => state)
    const ask = (rows: 'ready' | 'corrected') => caller.call('replayTransfer', { ...of, query: { rows } })
    const send = async (rows: 'ready' | 'corrected') => {
      const { id: replayId } = await caller.expect(ask(rows))
      assert((await states()).includes('sending'))
      await engine.work()
      return (await engine.get(id, replayId)) as Transfer
    }
    const edit = (number: number, record: Record<string, string>) =>
      caller.expect(caller.call('editRejects', { ...of, body: { edits: [{ number, record }] } }))
    assert.deepEqual(await states(), ['waiting', 'needs_correction', 'waiting'])
    assert.match((await ask('corrected')).text, /has no corrected records to send/)
    bad.delete('1')
    const first = await send('ready')
    assert.deepEqual(first.records, { read: 2, sent: 2, accepted: 1, rejected: 1 })
    assert.deepEqual(await states(), ['accepted', 'needs_correction', 'rejected_again'])
    const [accepted, , again] = await listRejects(id, transferId)
    assert.deepEqual(accepted?.resent, { transferId: first.id, reason: null })
    assert.deepEqual(again?.resent, { transferId: first.id, reason: (await listRejects(id, first.id))[0]?.reason })
    await edit(2, { value: '2' })
    assert.deepEqual(await states(), ['accepted', 'corrected', 'rejected_again'])
    assert.deepEqual((await send('corrected')).records, { read: 1, sent: 1, accepted: 1, rejected: 0 })
    assert.deepEqual(await states(), ['accepted', 'accepted', 'rejected_again'])
    await edit(3, { value: '4' })
    assert.deepEqual(await states(), ['accepted', 'accepted', 'corrected'])
    assert.deepEqual(
      (await listRejects(id, transferId))[2]?.resent,
      again?.resent,
      'a correction does not change what the replay said',
    )
    assert.equal((await send('ready')).records.accepted, 1)
    assert.deepEqual(await states(), ['accepted', 'accepted', 'accepted'])
    assert.equal((await ask('ready')).status, 409)
    assert.deepEqual(
      [...table],
      [
        ['a', '1'],
        ['b', '2'],
        ['c', '4'],
      ],
    )
  })
})
