import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Batch, ConnectorError, type Json } from '@penstock/connector'
import type { Transfer } from '@penstock/wire'
import { assertAccounted } from './harness/accounting.ts'
import { holdLock } from './harness/database.ts'
import { type Engine, numbersIn, people, startEngine, taken } from './harness/engine.ts'
import fc from './harness/property.ts'
import { postgresql, postgresqlSecrets } from './harness/transfers.ts'

/** Reactions of the engine to the responses of a destination, on a real database. */

let engine: Engine
before(async () => {
  engine = await startEngine()
})
after(() => engine.close())
beforeEach(() => {
  for (const part of ['source', 'destination', 'check'] as const) delete engine.sides[part]
})

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const rejectsOf = async ({ id: transferId, connectionId: id }: Transfer) => {
  const { caller, accountId } = engine
  const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId, query: { size: 500 } }))
  return rejects.map(({ row, reason, field }) => ({ row, reason, field }))
}
const split = () => new ConnectorError('invalid_batch', 'The batch has a poisonous row.')

describe('rows that are not taken', () => {
  test('are not searched for without end where the destination refuses every row alike, and none is called bad', async () => {
    let calls = 0
    engine.sides.source = people(2_000)
    engine.sides.destination = {
      batch: () => ({ rowsMax: 2_000, bytesMax: 1 << 20 }),
      open: () => ({
        deliver: async () => {
          calls++
          throw new ConnectorError('invalid_batch', 'The list is closed.')
        },
      }),
    }
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'everything_refused'])
    assert.match(transfer.error?.message ?? '', /^The list is closed\..* the rows are not the cause/)
    assert.equal(transfer.error?.side, 'destination')
    assert.deepEqual([transfer.records.accepted, transfer.records.rejected], [0, 0])
    assert.deepEqual(await rejectsOf(transfer), [])
    assert(calls < 300, `${calls} calls`)
    await assertAccounted(engine, transfer)
  })

  test('leave no value of theirs in the error that ends the transfer, or in the reason', async () => {
    const name = 'someone'
    for (const [thrown, code] of [
      ['request_refused', 'request_refused'],
      ['invalid_batch', 'nothing_accepted'],
    ] as const) {
      engine.sides.source = people(3)
      engine.sides.destination = {
        open: () => ({
          deliver: async (batch) => {
            const quoted = [name, Buffer.from(`a:${name}:b`).toString('base64'), Buffer.from(name).toString('hex')]
            if (batch.firstRow > 0) throw new ConnectorError(thrown, `No relation ${quoted.join(', ')} here.`)
            return taken(batch)
          },
        }),
      }
      const transfer = await engine.move(await engine.connectSides())
      assert.deepEqual([transfer.status, transfer.error?.code], ['failed', code])
      const reported = JSON.stringify([transfer.error, await rejectsOf(transfer)])
      assert.match(reported, /No relation …, \S*…\S*, … here\./)
      assert.doesNotMatch(reported, /someone|736f6d656f6e65|c29tZW9uZ/)
    }
  })

  test('are found however many are at the beginning, where later ones are taken', async () => {
    engine.sides.source = people(400)
    engine.sides.destination = {
      batch: () => ({ rowsMax: 400, bytesMax: 1 << 20 }),
      open: () => ({
        deliver: async (batch) => {
          if (numbersIn(batch).some((number) => number <= 60)) throw split()
          return taken(batch)
        },
      }),
    }
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual([transfer.status, transfer.records.accepted, transfer.records.rejected], ['partial', 340, 60])
    assert.equal((await rejectsOf(transfer)).length, 60)
    await assertAccounted(engine, transfer)
  })

  test('are found by halving where the destination does not say which, and are named with its reason', () =>
    fc.assert(
      fc.asyncProperty(
        ...[fc.nat({ max: 60 }), fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 8 })],
        fc.constantFrom('answers', 'holds', 'awaits a permit'),
        async (count, poisons, how) => {
          const holds = how === 'holds'
          const there: number[] = []
          const held: number[] = []
          engine.sides.source = people(count)
          engine.sides.destination = {
            open: () => ({
              ...(how === 'awaits a permit' && { awaitsPermit: true }),
              deliver: async (batch, permit) => {
                if (numbersIn(batch).some((number) => poisons.includes(number))) throw split()
                if (how === 'awaits a permit') await permit
                held.push(...numbersIn(batch))
                if (holds && held.length < 15) return taken(batch, { held: true })
                there.push(...held.splice(0))
                return taken(batch)
              },
              flush: async () => {
                there.push(...held.splice(0))
                return holds ? { bytes: 0 } : undefined
              },
            }),
          }
          const id = await engine.connectSides()
          const transfer = await engine.move(id)
          const bad = upTo(count).filter((number) => poisons.includes(number))
          assert.equal(transfer.status, bad.length === 0 ? 'succeeded' : bad.length < count ? 'partial' : 'failed')
          assert.deepEqual(
            await rejectsOf(transfer),
            bad.map((row) => ({ row, reason: split().message, field: null })),
          )
          assert.deepEqual(
            there,
            upTo(count).filter((number) => !poisons.includes(number)),
          )
          const rejected = bad.length
          assert.deepEqual(transfer.records, { read: count, sent: count, accepted: count - rejected, rejected })
          await assertAccounted(engine, transfer)
        },
      ),
      { numRuns: 25 },
    ))

  test('are named by the destination, or only counted, in addition to those with invalid columns', async () => {
    engine.sides.source = function* () {
      const rows = [[1, 'a'], [2], [3, 'c'], [4, 'd'], [5, 'e']]
      yield { columns: ['number', 'name'], rows, errors: new Map([[1, 'lacks a cell']]), bytes: 9, checkpoint: 5 }
    }
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          assert.deepEqual(numbersIn(batch), [1, 3, 4, 5])
          return taken(batch, {
            rejected: [
              { count: 2, reason: 'unknown ones' },
              { index: 1, reason: 'no such name', field: 'name' },
            ],
          })
        },
      }),
    }
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.deepEqual(await rejectsOf(transfer), [
      { row: 2, reason: 'lacks a cell', field: null },
      { row: 3, reason: 'no such name', field: 'name' },
      { row: null, reason: 'unknown ones', field: null },
    ])
    assert.deepEqual(transfer.records, { read: 5, sent: 4, accepted: 1, rejected: 4 })
    await assertAccounted(engine, transfer)
  })

  test('are kept whatever text is in them, in their columns and in the reason', async () => {
    engine.sides.source = function* () {
      yield { columns: ['number', 'na\0me'], rows: [[1, 'zero\0byte \ud800']], bytes: 9, checkpoint: 1 }
    }
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => taken(batch, { rejected: [{ index: 0, reason: 'a\0b \ud800', field: 'na\0me' }] }),
      }),
    }
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'nothing_accepted'])
    assert.deepEqual(await rejectsOf(transfer), [{ row: 1, reason: 'a\ufffdb \ufffd', field: 'na\ufffdme' }])
    // The row itself is stored unchanged, to be sent again.
    const sentAgain: Batch[] = []
    const deliver = async (batch: Batch) => {
      sentAgain.push(batch)
      return taken(batch)
    }
    engine.sides.destination = { open: () => ({ deliver }) }
    const replay = await engine.caller.expect(
      engine.caller.call('replayTransfer', { accountId: engine.accountId, id, transferId: transfer.id }),
    )
    await engine.work()
    assert.equal((await engine.get(id, replay.id)).status, 'succeeded')
    assert.deepEqual(
      sentAgain.flatMap(({ rows }) => rows),
      [[1, 'zero\0byte \ud800']],
    )
  })
})

describe('what is held', () => {
  test('is confirmed together: no checkpoint moves before, and one entry of the ledger covers all', async () => {
    engine.sides.source = people(45)
    const standings: { read: number; entries: number }[] = []
    let held = 0
    engine.sides.destination = {
      open: ({ transferId }) => ({
        deliver: async (batch) => {
          const [standing] = await engine.sql<{ read: number; entries: number }>(
            `select read::int, (select count(*)::int from ledger where transfer_id = id) as entries
             from transfers where id = $1`,
            transferId,
          )
          assert(standing)
          standings.push(standing)
          held = (held + 1) % 3
          return taken(batch, held === 0 ? { deliveryState: batch.firstRow } : { held: true })
        },
        flush: async () => ({ bytes: 7, deliveryState: 'last' }),
      }),
    }
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual(standings, [
      { read: 0, entries: 0 },
      { read: 0, entries: 0 },
      { read: 0, entries: 0 },
      { read: 30, entries: 1 },
      { read: 30, entries: 1 },
    ])
    assert.deepEqual(transfer.records, { read: 45, sent: 45, accepted: 45, rejected: 0 })
    assert.equal(transfer.bytes, 45 + 7)
    await assertAccounted(engine, transfer)
  })

  test('is read and delivered again after a transient error, in a new writer that knows what was confirmed', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 30 }), async (dice) => {
        const rolls = [...dice]
        const there: number[] = []
        engine.sides.source = people(60)
        engine.sides.destination = {
          open: ({ deliveryStates }) => {
            assert.deepEqual(deliveryStates, there.length > 0 ? deliveryStatesFor(there.length) : [])
            const confirmed = [...deliveryStates]
            let held: number[] = []
            const confirm = (): Json => {
              there.push(...held)
              held = []
              confirmed.push(there.length)
              deliveryStatesBy.set(there.length, [...confirmed])
              return there.length
            }
            return {
              deliver: async (batch) => {
                const roll = rolls.shift() ?? 9
                if (roll < 2) throw new ConnectorError('rate_limited', 'Busy.')
                held.push(...numbersIn(batch))
                return roll < 6 ? taken(batch, { held: true }) : taken(batch, { deliveryState: confirm() })
              },
              flush: async () => (held.length > 0 ? { bytes: 0, deliveryState: confirm() } : undefined),
            }
          },
        }
        const deliveryStatesBy = new Map<number, Json[]>()
        const deliveryStatesFor = (count: number) => deliveryStatesBy.get(count)
        const transfer = await engine.move(await engine.connectSides())
        assert.equal(transfer.status, 'succeeded', transfer.error?.message)
        assert.deepEqual(there, upTo(60))
        await assertAccounted(engine, transfer)
      }),
      { numRuns: 15 },
    ))

  test('at the end may be nothing: what the flush leaves behind is kept all the same', async () => {
    engine.sides.source = people(20)
    const opened: (readonly Json[])[] = []
    let flushes = 0
    let finishes = 0
    engine.sides.destination = {
      open: ({ deliveryStates }) => {
        opened.push(deliveryStates)
        return {
          deliver: async (batch) => taken(batch, { deliveryState: batch.firstRow }),
          flush: async () => {
            if (deliveryStates.at(-1) === 'end') return undefined
            flushes++
            return { bytes: 3, deliveryState: 'end' }
          },
          finish: async () => {
            if (finishes++ === 0) throw new ConnectorError('rate_limited', 'Busy.')
          },
        }
      },
    }
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    assert.deepEqual([flushes, finishes], [1, 2])
    assert.deepEqual(opened, [[], [1, 11, 'end']])
    assert.equal(transfer.bytes, 23)
    await assertAccounted(engine, transfer)
  })
})

describe('a secret that is changed while a transfer retries', () => {
  for (const [what, held] of [
    ['a batch', false],
    ['what is held', true],
  ] as const) {
    test(`is what the next try to deliver ${what} works with`, async () => {
      const { caller, accountId, targetUrl } = engine
      const passwords: unknown[] = []
      engine.sides.destination = {
        open: ({ secrets }) => {
          const password = `password ${passwords.push(secrets.password)}`
          return {
            deliver: async (batch) => {
              if (passwords.length > 2) return taken(batch, { held })
              if (held && passwords.length === 1 && numbersIn(batch).includes(1)) return taken(batch, { held })
              const secretConfig = { ...postgresqlSecrets(targetUrl), password }
              const body = { secretConfig }
              await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body }))
              throw new ConnectorError('rate_limited', 'Too many requests.')
            },
            flush: async () => (held ? { bytes: 0 } : undefined),
          }
        },
      }
      const before = postgresqlSecrets(targetUrl).password
      try {
        const transfer = await engine.move(await engine.connectSides())
        assert.equal(transfer.status, 'succeeded', transfer.error?.message)
        assert.deepEqual(passwords.slice(0, 3), [before, 'password 1', 'password 2'])
        await assertAccounted(engine, transfer)
      } finally {
        const body = { secretConfig: postgresqlSecrets(targetUrl) }
        await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body }))
      }
    })
  }
})

test('a secret that is saved together with another host while a transfer retries is not sent to the host before', async () => {
  const { caller, accountId, targetUrl } = engine
  const opened: unknown[] = []
  const before = postgresqlSecrets(targetUrl)
  const configure = (secretConfig: Record<string, string | number>) =>
    caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  engine.sides.destination = {
    open: ({ secrets: { host, password } }) => {
      opened.push([host, password])
      return {
        deliver: async (batch) => {
          if (numbersIn(batch).includes(1)) return taken(batch)
          await configure({ ...before, host: 'elsewhere.example', password: 'of elsewhere' })
          throw new ConnectorError('rate_limited', 'Too many requests.')
        },
      }
    },
  }
  try {
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual(
      [transfer.status, transfer.error?.code, transfer.error?.side],
      ['failed', 'settings_changed', 'destination'],
    )
    assert.match(transfer.error?.message ?? '', /Host/)
    assert.deepEqual(opened, [[before.host, before.password]])
  } finally {
    await configure(before)
  }
})

describe('a connector that does what it may not', () => {
  for (const [what, deliver] of [
    ['rejects more than it was sent', async (batch: Batch) => taken(batch, { rejected: [{ count: 11, reason: 'x' }] })],
    [
      'rejects a row that there is not',
      async (batch: Batch) => taken(batch, { rejected: [{ index: 10, reason: 'x' }] }),
    ],
    [
      'throws what is no connector error',
      async () => {
        throw new TypeError('canary of the connector')
      },
    ],
  ] as const) {
    test(`and ${what} ends the transfer after a few tries, and removes what it began`, async () => {
      let aborted = 0
      let tried = 0
      engine.sides.destination = {
        open: () => ({
          deliver: async (batch) => {
            tried++
            return deliver(batch)
          },
          abort: async () => void aborted++,
        }),
      }
      const id = await engine.connectSides()
      const transfer = await engine.move(id)
      assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'connector_failed'])
      assert(!JSON.stringify(transfer).includes('canary'))
      assert(tried > 1)
      assert.equal(aborted, 1)
      assert.equal((await engine.connection(id)).status, 'active')
      await assertAccounted(engine, transfer)
    })
  }
})

describe('a destination that waits for a permit', () => {
  /** Has the confirmation of the first of two batches wait, and does something as soon as the second one is sent. */
  async function whileStoring(work: (id: string, permit: Promise<void>, store: () => Promise<void>) => Promise<void>) {
    const { accountId, sides } = engine
    const there: number[] = []
    let lock: AsyncDisposable | undefined
    const store = async () => lock?.[Symbol.asyncDispose]()
    sides.source = people(20)
    sides.destination = {
      open: ({ transferId }) => ({
        awaitsPermit: true,
        deliver: async (batch, permit) => {
          if (batch.firstRow === 1) {
            await permit
            const row = `select from accounts where id = '${accountId}' for update`
            lock = await holdLock(engine.service.databaseUrl, row)
          } else await work(transferId, permit ?? Promise.resolve(), store).finally(store)
          there.push(...numbersIn(batch))
          return taken(batch)
        },
      }),
    }
    const transfer = await engine.move(await engine.connectSides())
    await assertAccounted(engine, transfer)
    return { transfer, there }
  }
  const standing = async (id: string) => {
    const [row] = await engine.sql<{ read: string; pending: string }>(
      'select * from transfer_parts where transfer_id = $1',
      id,
    )
    return [row?.read, row?.pending].map(Number)
  }

  test('is sent a batch while the one before it is stored, and commits once that is and the batch is announced', async () => {
    const { transfer, there } = await whileStoring(async (id, permit, store) => {
      assert.deepEqual(await standing(id), [0, 10])
      assert.equal(await Promise.race([permit, settled('none yet')]), 'none yet')
      await store()
      await permit
      assert.deepEqual(await standing(id), [10, 10])
    })
    assert.deepEqual([transfer.status, there], ['succeeded', upTo(20)])
  })

  test('gets none if the transfer is cancelled meanwhile, and one for a batch that comes again after an error', async () => {
    const cancelled = await whileStoring(async (id, permit, store) => {
      await engine.sql('update transfers set cancelling = true where id = $1', id)
      await store()
      await permit
    })
    assert.deepEqual([cancelled.transfer.status, cancelled.there], ['cancelled', upTo(10)])
    let tries = 0
    const resent = await whileStoring(async (_, permit, store) => {
      tries += 1
      if (tries === 1) void store()
      if (tries < 3) throw new ConnectorError('platform_unavailable', 'The line is noisy.')
      await permit
    })
    assert.deepEqual([resent.transfer.status, resent.there, tries], ['succeeded', upTo(20), 3])
  })
})

const settled = <T>(value: T) => new Promise<T>((resolve) => setImmediate(resolve, value))

test('a batch is confirmed, and the next one announced, by one statement', async () => {
  const id = await engine.connectSides()
  const statementsFor = async (batches: number): Promise<readonly string[]> => {
    engine.sides.source = people(10 * batches)
    // Like any real destination it answers later. Meanwhile the next rows are read.
    engine.sides.destination = { open: () => ({ deliver: async (batch) => settled(taken(batch)) }) }
    const before = engine.statements.length
    const transfer = await engine.move(id)
    assert.deepEqual([transfer.status, transfer.records.accepted], ['succeeded', 10 * batches])
    return engine.statements.slice(before)
  }
  // The first transfer of a connection makes what later ones find.
  await statementsFor(1)
  const [few, many] = [await statementsFor(1), await statementsFor(21)]
  const confirmations = (texts: readonly string[]) => texts.filter((text) => text.includes('insert into ledger')).length
  assert.deepEqual([confirmations(few), confirmations(many)], [1, 21])
  assert.equal(many.length - few.length, 20)
})

test('a filter leaves rows out, which are counted; rows without a value of it are rejected, and sent again by a replay', async () => {
  const batches: (readonly unknown[])[] = []
  engine.sides.destination = {
    open: () => ({
      deliver: async (batch) => {
        batches.push(...batch.rows)
        return taken(batch)
      },
    }),
  }
  const { caller, accountId } = engine
  const id = await engine.connectSides()
  const of = { accountId, id }
  const path = 'body.destConnectionConfig'
  const save = (filter: string, mapping: object) =>
    caller.call('updateConnection', {
      ...of,
      body: { destConnectionConfig: { table: 'any', filter, mapping: JSON.stringify(mapping) } },
    })
  const refused = await save('number > ', { label: { expression: 'lowr(name)' } })
  assert.deepEqual(refused.details, [
    { field: `${path}.mapping.label`, message: 'expression has no function lowr, at character 1. Did you mean lower?' },
    { field: `${path}.filter`, message: 'ends after >: a value is missing, at character 8' },
  ])
  await caller.expect(
    save('number % 2 == 0 || 1 / (number - 5) == 0', { label: { expression: 'upper(name) + "-" + string(number)' } }),
  )
  const transfer = await engine.move(id)
  assert.deepEqual(
    [transfer.status, transfer.records.read, transfer.records.accepted, transfer.records.rejected, transfer.skipped],
    ['partial', 25, 12, 1, { filtered: 12, unchanged: 0, duplicates: 0, noConsent: 0, controlGroup: 0 }],
  )
  assert.deepEqual(
    batches.map(([label]) => label),
    upTo(12).map((n) => `SOMEONE-${2 * n}`),
  )
  assert.deepEqual(await rejectsOf(transfer), [
    { row: 5, field: 'filter', reason: 'The filter has no value: divides by zero, at character 22' },
  ])
  await assertAccounted(engine, transfer)

  // The row is sent again as the source gave it, with what the connection says now.
  await caller.expect(save('number == 5 || missing == 1', {}))
  const broken = await engine.move(id)
  assert.deepEqual([broken.status, broken.error?.code], ['failed', 'columns_do_not_fit'])
  assert.match(broken.error?.message ?? '', /filter: has no column missing, at character 16/)

  // A keyed hash needs a key, which the transfer gets with the secrets of the destination.
  const hashed = { number: { expression: 'hmac(string(number))' } }
  await caller.expect(save('number == 5', hashed))
  await caller.expect(caller.call('updateConnectionStatus', { ...of, body: { action: 'activate' } }))
  assert.match((await engine.move(id)).error?.message ?? '', /save a hash key/)
  const secretConfig = { hashKey: 'a key' }
  await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  await caller.expect(caller.call('updateConnectionStatus', { ...of, body: { action: 'activate' } }))
  batches.length = 0
  await engine.move(id)
  assert.deepEqual(batches, [[createHmac('sha256', 'a key').update('5').digest('hex')]])

  await caller.expect(save('number == 5', { number: 'number' }))
  batches.length = 0
  await caller.expect(caller.call('updateConnectionStatus', { ...of, body: { action: 'activate' } }))
  const replay = await caller.expect(caller.call('replayTransfer', { ...of, transferId: transfer.id }))
  await engine.work()
  assert.equal((await engine.get(id, replay.id)).status, 'succeeded')
  assert.deepEqual(batches, [[5]])
})
