import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ConnectorError, type Json } from '@penstock/connector'
import { masterKey, seal, Unreadable, unsealJson } from '../packages/server/src/secrets/seal.ts'
import { dumpDatabase, placesOf } from './harness/dump.ts'
import { type Engine, startEngine, type TestSource, taken } from './harness/engine.ts'
import { recordStatements } from './harness/recorded-statements.ts'

/** Stored rows of a transfer, and messages of platforms, are sealed at rest (invariant 6). */

let engine: Engine
before(async () => {
  engine = await startEngine()
})
after(() => engine.close())
beforeEach(() => {
  for (const part of ['source', 'destination', 'check'] as const) delete engine.sides[part]
})

const canary = 'canary-5f2e91'
type Checkpoint = { after: string; done: number }

/** Rows, ten to a chunk, whose checkpoint and cursor contain a value of the rows, as for a cursor column. */
const rowsOfCanaries =
  (count: number): TestSource =>
  (_, after) =>
    (function* () {
      for (let done = (after as Checkpoint | undefined)?.done ?? 0; done < count; ) {
        const rows = Array.from({ length: 10 }, (_, i) => [done + i + 1, `${canary} ${done + i + 1}`])
        done += rows.length
        const checkpoint = { after: `${canary} ${done}`, done }
        yield { columns: ['number', 'name'], rows, bytes: 100, checkpoint, cursor: checkpoint.after }
      }
    })()

const assertNowhere = async () =>
  assert.deepEqual(placesOf(canary, await dumpDatabase(engine.service.database.pool)), [])
const sealedIn = async (table: string, column: string, where: string, value: string) =>
  (await engine.sql(`select from ${table} where ${column} is not null and ${where} = $1`, value)).length

describe('values of rows', () => {
  test('stand nowhere in the database in plain, while a transfer runs and once it has ended', async () => {
    engine.sides.source = rowsOfCanaries(40)
    const seen: { state: Json | undefined; deliveryStates: readonly Json[] }[] = []
    let batches = 0
    let transferId = ''
    engine.sides.destination = {
      open: ({ state, deliveryStates, transferId: own }) => {
        transferId = own
        seen.push({ state, deliveryStates })
        return {
          deliver: async (batch) => {
            batches++
            if (batches === 3) {
              await assertNowhere()
              assert.equal(await sealedIn('transfer_parts', 'checkpoint_sealed', 'transfer_id', own), 1)
              assert.equal(await sealedIn('ledger', 'delivery_state_sealed', 'transfer_id', own), 2)
              assert.equal(await sealedIn('rejects', 'reason_sealed', 'transfer_id', own), 2)
              throw new ConnectorError('rate_limited', 'The platform is busy.')
            }
            const reason = `"${canary} ${batch.firstRow}" is no name`
            return taken(batch, {
              deliveryState: `${canary} ${batches}`,
              state: { list: `${canary} list` },
              rejected: [{ index: 0, reason, field: 'name' }],
            })
          },
        }
      },
    }
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.equal(transfer.id, transferId)
    assert.equal(transfer.status, 'partial')
    assert.deepEqual(transfer.records, { read: 40, sent: 40, accepted: 36, rejected: 4 })
    await assertNowhere()
    const list = { list: `${canary} list` }
    assert.deepEqual(seen, [
      { state: undefined, deliveryStates: [] },
      { state: list, deliveryStates: [`${canary} 1`, `${canary} 2`] },
    ])
    assert.equal(
      await sealedIn('transfer_parts', 'coalesce(checkpoint_sealed, cursor_sealed)', 'transfer_id', transferId),
      0,
    )
    assert.equal(await sealedIn('ledger', 'delivery_state_sealed', 'transfer_id', transferId), 0)

    const { caller, accountId } = engine
    const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId }))
    assert.deepEqual(
      rejects.map(({ reason }) => reason),
      [1, 11, 21, 31].map((row) => `"${canary} ${row}" is no name`),
    )

    // The next transfer continues at the cursor, and gets the state.
    const cursors: (Json | undefined)[] = []
    engine.sides.source = (context, after) => {
      cursors.push(context.cursor)
      return rowsOfCanaries(10)(context, after)
    }
    await engine.move(id)
    assert.deepEqual(cursors, [`${canary} 40`])
    assert.deepEqual(seen.at(-1), { state: list, deliveryStates: [] })
  })

  test('open for another worker, which continues where the first one stopped', async () => {
    engine.sides.source = rowsOfCanaries(30)
    const opened: (readonly Json[])[] = []
    const firstRows: number[] = []
    const stopping = new AbortController()
    engine.sides.destination = {
      open: ({ deliveryStates }) => {
        opened.push(deliveryStates)
        return {
          deliver: async (batch) => {
            firstRows.push(batch.firstRow)
            if (opened.length === 1 && firstRows.length === 2) stopping.abort()
            return taken(batch, { deliveryState: `${canary} ${batch.firstRow}` })
          },
        }
      },
    }
    const id = await engine.connectSides()
    const { id: transferId } = await engine.start(id)
    await engine.work(stopping.signal)
    await engine.work()
    const { status, attempt, records } = await engine.get(id, transferId)
    assert.deepEqual([status, attempt, records.read], ['succeeded', 2, 30])
    assert.deepEqual(opened, [[], [`${canary} 1`]])
    assert.deepEqual(firstRows, [1, 11, 11, 21])
  })

  test('have a key that no transfer keeps which ended without rejected records', async () => {
    engine.sides.source = rowsOfCanaries(20)
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.equal(transfer.status, 'succeeded')
    const [row] = await engine.sql(
      `select data_key_id, checkpoint_sealed as checkpoint, cursor_sealed as cursor
       from transfers t join transfer_parts p on p.transfer_id = t.id where t.id = $1`,
      transfer.id,
    )
    assert.deepEqual(row, { data_key_id: null, checkpoint: null, cursor: null })
    const [kept] = await engine.sql(
      `select s.cursor_sealed is not null as has_cursor, k.id is not null as has_key
       from connection_states s left join data_keys k on k.id = s.data_key_id where s.connection_id = $1`,
      id,
    )
    assert.deepEqual(kept, { has_cursor: true, has_key: true })
  })

  test('are refused with words where they are plain, altered, moved or too deep, and nothing is taken from them', async () => {
    const plain = (column: string) =>
      `update connection_states set ${column} = convert_to('"plain"', 'UTF8') where connection_id = $1`
    const spoil = 'set cursor_sealed = set_byte(cursor_sealed, 40, get_byte(cursor_sealed, 40) # 1)'
    for (const [name, sql] of [
      ['a plain cursor', plain('cursor_sealed')],
      ['a plain state', plain('state_sealed')],
      ['altered', `update connection_states ${spoil} where connection_id = $1`],
      ['moved', 'update connection_states set cursor_sealed = state_sealed where connection_id = $1'],
      ['short', `update connection_states set cursor_sealed = '\\x01' where connection_id = $1`],
      ['without a key', `update connection_states set data_key_id = 'ffffffffffffffff' where connection_id = $1`],
    ] as const) {
      engine.sides.source = rowsOfCanaries(20)
      engine.sides.destination = {
        open: () => ({ deliver: async (batch) => taken(batch, { state: `${canary} state` }) }),
      }
      const id = await engine.connectSides()
      assert.equal((await engine.move(id)).status, 'succeeded')
      await engine.sql(sql, id)
      const seen: unknown[] = []
      engine.sides.source = (context, after) => {
        seen.push(context.cursor)
        return rowsOfCanaries(10)(context, after)
      }
      const transfer = await engine.move(id)
      assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'stored_value_unreadable'], name)
      assert.match(transfer.error?.message ?? '', /cannot be opened: it was altered, is not sealed/)
      assert.deepEqual(seen, [], name)
    }
  })

  test('that are altered refuse a request, which is answered 409', async () => {
    engine.sides.source = rowsOfCanaries(10)
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => taken(batch, { rejected: [{ index: 0, reason: canary, field: 'name' }] }),
      }),
    }
    const id = await engine.connectSides()
    const { id: transferId } = await engine.move(id)
    const { caller, accountId } = engine
    const list = () => caller.call('listRejects', { accountId, id, transferId })
    assert.equal((await list()).status, 200)
    await engine.sql(`update rejects set reason_sealed = '\\x0100' where transfer_id = $1`, transferId)
    const refused = await list()
    assert.equal(refused.status, 409)
    assert.equal(refused.error, 'stored_value_unreadable')

    // As an operator who has lost the key does.
    await engine.sql('update rejects set sealed = null, reason_sealed = null where transfer_id = $1', transferId)
    assert.deepEqual(
      (await caller.expect(list())).map(({ reason }) => reason),
      ['The reason was sealed under a key that was lost.'],
    )
  })

  test('open as JSON, unless it is so deep that nothing could pass it on', () => {
    const key = masterKey(Buffer.alloc(32, 1))
    const place = ['any']
    const depth = 100_000
    assert.deepEqual(unsealJson(key, place, seal(key, place, '{"a":[1]}')), { a: [1] })
    for (const text of ['[', 'no JSON', `${'['.repeat(depth)}${']'.repeat(depth)}`]) {
      assert.throws(() => unsealJson(key, place, seal(key, place, text)), Unreadable)
    }
  })
})

test('sealing costs a batch no statement after the first', async () => {
  engine.sides.source = rowsOfCanaries(50)
  const statements = recordStatements(engine.service.database.pool)
  const perBatch: string[][] = []
  engine.sides.destination = {
    open: () => ({
      deliver: async (batch) => {
        perBatch.push(statements.splice(0))
        // Like any real destination it answers later. Meanwhile the next rows are read.
        await new Promise((resolve) => setImmediate(resolve))
        return taken(batch, { deliveryState: canary })
      },
    }),
  }
  await engine.move(await engine.connectSides())
  const [, first = [], ...later] = perBatch
  assert.equal(later.length, 3)
  assert(first.some((text) => text.includes('data_keys')))
  for (const texts of later) assert.deepEqual(texts, later[0])
  assert(!later.flat().some((text) => /data_keys|master_keys/.test(text)))
})
