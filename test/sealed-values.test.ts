import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ConnectorError, type Json } from '@penstock/connector'
import { dumpDatabase, placesOf } from './harness/dump.ts'
import { type Engine, startEngine, type TestSource, taken } from './harness/engine.ts'
import { recordStatements } from './harness/recorded-statements.ts'

/** What a transfer keeps of its rows, and of what the platforms say, is sealed at rest (invariant 6). */

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

/** Rows, ten to a chunk, whose checkpoint and cursor hold a value of the rows, as those of a cursor column do. */
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
              assert.equal(await sealedIn('transfers', 'position_sealed', 'id', own), 1)
              assert.equal(await sealedIn('ledger', 'receipt_sealed', 'transfer_id', own), 2)
              assert.equal(await sealedIn('rejects', 'reason_sealed', 'transfer_id', own), 2)
              throw new ConnectorError('rate_limited', 'The platform is busy.')
            }
            const reason = `"${canary} ${batch.firstRow}" is no name`
            return taken(batch, {
              ...{ deliveryState: `${canary} ${batches}`, state: { list: `${canary} list` } },
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
    assert.equal(await sealedIn('transfers', 'coalesce(position_sealed, marker_sealed)', 'id', transferId), 0)
    assert.equal(await sealedIn('ledger', 'receipt_sealed', 'transfer_id', transferId), 0)

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
      'select data_key_id, position as checkpoint, marker as cursor from transfers where id = $1',
      transfer.id,
    )
    assert.deepEqual(row, { data_key_id: null, checkpoint: null, cursor: null })
    const [kept] = await engine.sql(
      `select m.marker as cursor, k.id is not null as has_key from connection_memories m left join data_keys k on k.id = m.data_key_id
       where m.connection_id = $1`,
      id,
    )
    assert.deepEqual(kept, { cursor: null, has_key: true })
  })

  test('that the version before wrote in plain are read, and sealed with the next confirmation', async () => {
    engine.sides.source = rowsOfCanaries(30)
    const id = await engine.connectSides()
    const { id: transferId } = await engine.start(id)
    await engine.sql(
      `update transfers set attempt = 1, position = $2, marker = '"plain marker"' where id = $1`,
      transferId,
      JSON.stringify({ at: { after: 'plain position', done: 10 }, skip: 0, bytes: 100 }),
    )
    await engine.sql(
      `insert into connection_memories (connection_id, marker, memory) values ($1, '"before"', '"plain memory"')`,
      id,
    )
    await engine.sql(
      `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes, receipt)
       select id, 1, organization_id, account_id, connection_id, now(), 0, 0, 0, 0, 0, '"plain receipt"' from transfers where id = $1`,
      transferId,
    )
    const seen: unknown[] = []
    engine.sides.destination = {
      open: ({ state, deliveryStates }) => {
        seen.push(state, deliveryStates)
        return { deliver: async (batch) => taken(batch, { deliveryState: 'sealed', state: 'sealed' }) }
      },
    }
    await engine.work()
    assert.deepEqual(seen, ['plain memory', ['plain receipt']])
    assert.equal((await engine.get(id, transferId)).records.read, 20)
    const plain = await engine.sql(
      `select marker as cursor, memory as state from connection_memories where connection_id = $1
       union all select position, receipt from transfers t join ledger l on l.transfer_id = t.id where t.id = $2`,
      id,
      transferId,
    )
    assert.deepEqual(plain, Array(plain.length).fill({ cursor: null, state: null }))
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
        // As any real destination it answers later: what follows is read meanwhile.
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
