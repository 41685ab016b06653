import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ConnectorError, type Json } from '@penstock/connector'
import { openDataKey } from '../packages/server/src/secrets/data-keys.ts'
import { openText, places } from '../packages/server/src/transfers/sealed.ts'
import { assertAccounted } from './harness/accounting.ts'
import { type Engine, numbersIn, people, startEngine, taken } from './harness/engine.ts'
import { assertInvariants } from './harness/invariants.ts'
import { claimed } from './harness/standings.ts'
import { impatient } from './harness/supervision.ts'
import { bounded, until } from './harness/until.ts'

/** How transfers end that do not succeed, and what becomes of their connection and its state. */

let engine: Engine
before(async () => {
  engine = await startEngine({ retry: impatient })
})
after(async () => {
  await assertInvariants(engine.service.database.pool)
  await engine.close()
})
beforeEach(() => {
  for (const part of ['source', 'destination', 'check'] as const) delete engine.sides[part]
})

const status = (id: string) => engine.connection(id).then((connection) => connection.status)
const change = (id: string, action: 'enable' | 'disable') =>
  engine.caller.expect(
    engine.caller.call('updateConnectionStatus', { accountId: engine.accountId, id, body: { action } }),
  )
/** A destination that fails at batch `atBatch` and accepts the others. Counts requests to remove data. */
function failing(atBatch: number, fail: () => unknown, deliveryState?: Json) {
  const seen = { batches: 0, aborted: 0, opened: 0 }
  engine.sides.destination = {
    open: () => {
      seen.opened++
      return {
        deliver: async (batch) => {
          if (++seen.batches >= atBatch) throw fail()
          return taken(batch, deliveryState === undefined ? {} : { deliveryState })
        },
        abort: async () => void seen.aborted++,
      }
    },
  }
  return seen
}

describe('a transient error that persists', () => {
  test('fails the transfer once the retry policy is exhausted, keeps what was confirmed, and leaves the connection be', async () => {
    const seen = failing(2, () => new ConnectorError('rate_limited', 'Too many requests.'))
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'rate_limited'])
    assert.match(transfer.error?.message ?? '', /^Too many requests\. The error did not pass in time/)
    assert.equal(transfer.error?.side, 'destination')
    assert.deepEqual(transfer.records, { read: 10, sent: 10, accepted: 10, rejected: 0 })
    assert(seen.batches > 3, 'it was tried again and again')
    assert.equal(seen.aborted, 1)
    assert.equal(await status(id), 'active')
    await assertAccounted(engine, transfer)
  })

  test('is not waited for where the platform asks for more time than there is', async () => {
    const seen = failing(1, () => new ConnectorError('rate_limited', 'Come back tomorrow.', { afterMs: 86_400_000 }))
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual([transfer.status, transfer.error?.code, seen.batches], ['failed', 'rate_limited', 1])
  })

  for (const where of ['source', 'destination'] as const) {
    test(`of an unreachable ${where} puts the connection offline, until a probe gets through`, async () => {
      const unreachable = () => new ConnectorError('unreachable', 'Nothing answers.')
      if (where === 'destination') failing(1, unreachable)
      else {
        engine.sides.source = () => {
          throw unreachable()
        }
      }
      const id = await engine.connectSides()
      const transfer = await engine.move(id)
      assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'unreachable'])
      assert.equal(await status(id), 'offline')

      let tried = 0
      engine.sides.check = async () => [{ name: 'connectivity', ok: tried++ > 1, message: 'A step.' }]
      await engine.probe()
      assert.deepEqual([tried, await status(id)], [2, 'offline'], 'both sides were tried')
      await engine.probe()
      assert.equal(await status(id), 'active')
      assert.deepEqual(await engine.sql('select from probes where connection_id = $1', id), [])

      delete engine.sides.source
      delete engine.sides.destination
      assert.equal((await engine.move(id)).status, 'succeeded')
    })
  }

  test('whose probe is not answered holds up neither schedules nor the transfers of dead workers', async (t) => {
    const [offline, due, dead] = [await engine.connectSides(), await engine.connectSides(), await engine.connectSides()]
    failing(1, () => new ConnectorError('unreachable', 'Nothing answers.'))
    await engine.move(offline)
    assert.equal(await status(offline), 'offline')
    const stopping = new AbortController()
    let probed = 0
    engine.sides.check = () => {
      probed++
      return new Promise((resolve) => stopping.signal.addEventListener('abort', () => resolve([])))
    }
    await engine.sql('update probes set next_time = now() where connection_id = $1', offline)
    const upkeep = engine.keepUp(stopping.signal)
    t.after(async () => {
      stopping.abort()
      await upkeep
    })
    await until('it is probed', () => probed === 2)
    const { id: lost } = await engine.start(dead)
    await engine.sql(claimed('id = $1', { heartbeat: `now() - interval '1 hour'` }), lost)
    const { accountId, caller } = engine
    await caller.expect(caller.call('setSchedule', { accountId, id: due, body: { cron: '0 0 1 1 *' } }))
    await engine.sql(`update schedules set next_time = now() where connection_id = $1`, due)
    const statusOf = async (column: 'id' | 'connection_id', value: string) =>
      (await engine.sql<{ status: string }>(`select status from transfers where ${column} = $1`, value))[0]?.status
    await until('the dead is queued again', async () => (await statusOf('id', lost)) === 'queued')
    await until('the schedule started', async () => (await statusOf('connection_id', due)) === 'queued')
    assert.deepEqual([probed, stopping.signal.aborted], [2, false])
    for (const [id, transferId] of [[dead, lost]] as const)
      await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId }))
    delete engine.sides.check
    delete engine.sides.destination
    await engine.work()
  })

  test('of many connections that have timed out does not keep others from being probed', async () => {
    failing(1, () => new ConnectorError('unreachable', 'Nothing answers.'))
    const ids: string[] = []
    for (let count = 0; count < 12; count++) {
      const id = await engine.connectSides()
      await engine.move(id)
      ids.push(id)
    }
    const last = ids.pop()
    assert(last)
    for (const id of ids) await change(id, 'disable')
    engine.sides.check = async () => [{ name: 'connectivity', ok: true, message: 'A step.' }]
    await engine.probe()
    assert.equal(await status(last), 'active')
    for (const id of ids) assert.equal(await status(id), 'disabled')
  })
})

describe('a refusal', () => {
  for (const [code, then] of [
    ['permission_denied', 'broken'],
    ['invalid_credentials', 'broken'],
    ['request_refused', 'active'],
  ] as const) {
    test(`with ${code} ends the transfer at once, and leaves the connection ${then}`, async () => {
      const seen = failing(2, () => new ConnectorError(code, 'What to do.'))
      const id = await engine.connectSides()
      const transfer = await engine.move(id)
      assert.equal(transfer.status, 'failed')
      const at = { side: 'destination', connectorId: (await engine.connection(id)).dest.connectorId }
      assert.deepEqual(transfer.error, { code, message: 'What to do.', ...at })
      // The second writer knows only stored, confirmed state.
      assert.deepEqual(seen, { batches: 2, aborted: 1, opened: 2 })
      assert.equal(await status(id), then)
      await assertAccounted(engine, transfer)
    })
  }

  test('by the source leaves no trace at the destination either', async () => {
    let aborted = 0
    engine.sides.source = function* (context) {
      for (const chunk of people(20)(context, undefined) as Iterable<never>) yield chunk
      throw new ConnectorError('invalid_file', 'The file is damaged.')
    }
    engine.sides.destination = { open: () => ({ abort: async () => void aborted++ }) }
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.deepEqual([transfer.status, transfer.error?.code, aborted], ['failed', 'invalid_file', 1])
    const { src } = await engine.connection(id)
    assert.deepEqual([transfer.error?.side, transfer.error?.connectorId], ['source', src.connectorId])
  })

  test('says which side met a defect, and that a stop is of neither', async () => {
    engine.sides.source = () => {
      throw new TypeError('A defect')
    }
    const broken = await engine.move(await engine.connectSides())
    assert.deepEqual([broken.error?.code, broken.error?.side], ['connector_failed', 'source'])
    engine.sides.source = people(20)
    failing(1, () => new ConnectorError('invalid_batch', 'Not this one.'))
    const refused = await engine.move(await engine.connectSides())
    assert.deepEqual([refused.status, refused.error?.side], ['failed', 'destination'])
    const id = await engine.connectSides()
    delete engine.sides.destination
    const { id: transferId } = await engine.start(id)
    await engine.sql(
      `update accounts set enabled = false where id = (select account_id from transfers where id = $1)`,
      transferId,
    )
    await engine.work()
    await engine.sql(
      `update accounts set enabled = true where id = (select account_id from transfers where id = $1)`,
      transferId,
    )
    const stopped = await engine.get(id, transferId)
    assert.deepEqual(
      [stopped.error?.code, stopped.error?.side, stopped.error?.connectorId],
      ['account_disabled', 'service', null],
    )
  })
})

describe('a stop', () => {
  /** Delivers batches, and calls `stop` at the second one. */
  function stoppedAtSecond(stop: () => Promise<unknown>) {
    const seen = { batches: 0, aborted: 0, isSignalOver: true }
    engine.sides.destination = {
      open: ({ signal }) => ({
        deliver: async (batch) => {
          if (++seen.batches === 2) await stop()
          return taken(batch, { deliveryState: batch.firstRow })
        },
        abort: async () => {
          seen.aborted++
          seen.isSignalOver = signal.aborted
        },
      }),
    }
    return seen
  }

  test('ends the transfer before its next batch as cancelled, and a new one does it all', async () => {
    const id = await engine.connectSides()
    const { id: transferId } = await engine.start(id)
    const cancel = () =>
      engine.caller.expect(engine.caller.call('cancelTransfer', { accountId: engine.accountId, id, transferId }))
    const seen = stoppedAtSecond(cancel)
    await engine.work()
    const transfer = await engine.get(id, transferId)
    assert.deepEqual([transfer.status, transfer.error, transfer.records.read], ['cancelled', null, 20])
    assert.deepEqual(seen, { batches: 2, aborted: 1, isSignalOver: false })
    await assertAccounted(engine, transfer)
    assert.equal((await engine.move(id)).records.accepted, 25)
  })

  test('by disabling the connection says so, and enabling it lets a new transfer do it all', async () => {
    const id = await engine.connectSides()
    const seen = stoppedAtSecond(() => change(id, 'disable'))
    const transfer = await engine.move(id)
    assert.deepEqual([transfer.status, transfer.error?.code], ['cancelled', 'connection_not_active'])
    assert.equal(seen.aborted, 1)
    await change(id, 'enable')
    assert.equal((await engine.move(id)).records.accepted, 25)
  })

  test('while no worker has the transfer still has its incomplete data removed', async () => {
    const id = await engine.connectSides()
    const { id: transferId } = await engine.start(id)
    const worker = new AbortController()
    const seen = stoppedAtSecond(async () => worker.abort())
    await engine.work(worker.signal)
    assert.deepEqual([(await engine.get(id, transferId)).status, seen.aborted], ['queued', 0])
    await engine.caller.expect(engine.caller.call('cancelTransfer', { accountId: engine.accountId, id, transferId }))
    await engine.work()
    assert.equal((await engine.get(id, transferId)).status, 'cancelled')
    assert.deepEqual(seen, { batches: 2, aborted: 1, isSignalOver: false })
  })

  test('does not wait for a destination that hangs', async () => {
    const worker = new AbortController()
    engine.sides.destination = {
      open: ({ signal }) => ({
        deliver: () =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
            worker.abort()
          }),
      }),
    }
    const id = await engine.connectSides()
    const { id: transferId } = await engine.start(id)
    await bounded('the worker lets go', engine.work(worker.signal), 10_000)
    assert.equal((await engine.get(id, transferId)).status, 'queued')
    delete engine.sides.destination
    await engine.work()
    const transfer = await engine.get(id, transferId)
    assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 2])
  })
})

describe('a replace', () => {
  const replaced: number[][] = []
  beforeEach(() => {
    replaced.length = 0
    engine.sides.destination = {
      replaces: () => true,
      open: () => {
        const rows: number[] = []
        return {
          deliver: async (batch) => {
            rows.push(...numbersIn(batch))
            return taken(batch)
          },
          finish: async () => void replaced.push([...rows]),
        }
      },
    }
  })

  test('by nothing, or by far fewer than the last time, waits for confirmation', async () => {
    const id = await engine.connectSides()
    const sizes = async (count: number, body?: object) => {
      engine.sides.source = people(count)
      const transfer = await engine.move(id, body)
      return [transfer.status, transfer.error?.code, replaced.length]
    }
    const held = (times: number) => ['failed', 'confirmation_needed', times]
    assert.deepEqual(await sizes(0), held(0))
    assert.deepEqual(await sizes(40), ['succeeded', undefined, 1])
    assert.deepEqual(await sizes(19), held(1))
    assert.deepEqual(await sizes(20), ['succeeded', undefined, 2])
    assert.deepEqual(await sizes(9), held(2))
    assert.deepEqual(await sizes(0), held(2))
    assert.equal(await status(id), 'active')
    assert.deepEqual(await sizes(3, { confirm: true }), ['succeeded', undefined, 3])
    assert.deepEqual(await sizes(0, { confirm: true }), ['succeeded', undefined, 4])
    assert.deepEqual(replaced.at(-1), [])
  })
})

describe('duplicates of a source with a cursor', () => {
  const last = { destConnectionConfig: { duplicates: 'Last', duplicateKey: 'name' } }

  test('are not counted when a destination replaces everything', async () => {
    const replaced: number[][] = []
    engine.sides.destination = {
      replaces: () => true,
      open: () => {
        const rows: number[] = []
        return {
          deliver: async (batch) => {
            rows.push(...numbersIn(batch))
            return taken(batch)
          },
          finish: async () => void replaced.push([...rows]),
        }
      },
    }
    const id = await engine.connectSides()
    engine.sides.source = people(40)
    const { status, records, skipped } = await engine.move(id, last)
    assert.deepEqual([status, records.read, records.accepted, skipped.duplicates], ['succeeded', 40, 1, 39])
    engine.sides.source = people(3)
    assert.equal((await engine.move(id, last)).status, 'succeeded')
    assert.deepEqual(replaced, [[40], [3]])
    engine.sides.source = people(0)
    assert.equal((await engine.move(id, last)).error?.code, 'confirmation_needed')
  })

  test('move it on only when all records are sent, and leave what comes meanwhile to the next transfer', async () => {
    let length = 30
    const cursors: (Json | undefined)[] = []
    const sent: number[] = []
    let fails = true
    engine.sides.source = (context, after) => {
      cursors.push(context.cursor)
      const rows = people(length)(context, after ?? context.cursor)
      // It grows after it was read in advance.
      length = 44
      return rows
    }
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          if (fails) throw new ConnectorError('statement_failed', 'It does not want to.')
          sent.push(...numbersIn(batch))
          return taken(batch)
        },
      }),
    }
    const id = await engine.connectSides()
    assert.equal((await engine.move(id, last)).status, 'failed')
    length = 30
    fails = false
    assert.equal((await engine.move(id, last)).records.read, 30)
    assert.equal((await engine.move(id, last)).records.read, 16)
    assert.deepEqual(sent, [30, 44])
    assert.deepEqual(cursors, [undefined, undefined, undefined, undefined, 28, 28])
  })
})

describe('the cursor of incremental reading', () => {
  const cursors: (Json | undefined)[] = []
  beforeEach(() => {
    cursors.length = 0
    engine.sides.source = (context, after) => {
      cursors.push(context.cursor)
      return people(25)(context, after ?? context.cursor)
    }
  })
  const kept = async (id: string): Promise<Json | undefined> => {
    const [row] = await engine.sql<{ sealed: Buffer; keyId: string }>(
      `select cursor_sealed as sealed, data_key_id as "keyId" from connection_states
       where connection_id = $1 and cursor_sealed is not null`,
      id,
    )
    const { database, service } = engine.service
    const key = row && (await openDataKey(database, service.deps.keyring, row.keyId))
    return row && JSON.parse(openText(key, places.cursor(id), row.sealed))
  }

  test('moves when the transfer has ended, not while it runs', async () => {
    const during: (Json | undefined)[] = []
    const id = await engine.connectSides()
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          during.push(await kept(id))
          return taken(batch)
        },
      }),
    }
    await engine.move(id)
    assert.deepEqual([during, await kept(id)], [[undefined, undefined, undefined], 25])
    const again = await engine.move(id)
    assert.deepEqual([cursors, again.records.read], [[undefined, 25], 0])
  })

  test('moves as far as rows are confirmed where the destination keeps what it took', async () => {
    failing(3, () => new ConnectorError('request_refused', 'What to do.'))
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    // Twenty rows are confirmed. The last complete chunk of seven ends with the fourteenth.
    assert.deepEqual([transfer.records.read, await kept(id)], [20, 14])
  })

  test('stays where the destination removes what is not whole', async () => {
    failing(3, () => new ConnectorError('request_refused', 'What to do.'), 'a part')
    const id = await engine.connectSides()
    assert.equal((await engine.move(id)).records.read, 20)
    assert.equal(await kept(id), undefined)
    delete engine.sides.destination
    assert.equal((await engine.move(id)).records.accepted, 25)
  })
})
