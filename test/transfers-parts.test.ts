import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type RejectedRecords,
  type RejectPlace,
  type Row,
} from '@penstock/connector'
import { JobHost } from '../packages/server/src/transfers/job-host.ts'
import { assertAccounted } from './harness/accounting.ts'
import { type Engine, numbersIn, startEngine, taken } from './harness/engine.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'

/** Transfers whose source is divided: each part is moved on its own, and the whole is as if one worker had moved it. */

let engine: Engine
before(async () => {
  engine = await startEngine({ rejectsMax: 5 })
})
after(async () => {
  await assertInvariants(engine.service.database.pool)
  await engine.close()
})
beforeEach(() => {
  for (const side of ['source', 'divide', 'destination'] as const) delete engine.sides[side]
})

const parts = 4
const rowsEach = 25

/** A source with parts. The rows of part 2 are 1001 to 1025. @param bad rows that every destination refuses */
function divided(bad: (number: number) => boolean = () => false): void {
  engine.sides.divide = async () => ({
    parts: Array.from({ length: parts }, (_, index) => ({ key: index, name: `file ${index}`, share: 1 / parts })),
    columns: async () => ['number', 'name'],
  })
  engine.sides.source = function* ({ part }, after) {
    const indexes = part ? [Number(part.key)] : Array.from({ length: parts }, (_, index) => index)
    for (const index of indexes) {
      for (let done = Number(after ?? 0); done < rowsEach; ) {
        const rows: Row[] = Array.from({ length: Math.min(7, rowsEach - done) }, (_, i) => [
          index * 1000 + done + i + 1,
          'someone',
        ])
        const errors = new Map(
          rows.flatMap(([number], i) => (bad(Number(number)) ? [[i, 'is bad']] : [])) as [number, string][],
        )
        done += rows.length
        yield { columns: ['number', 'name'], rows, errors, bytes: rows.length * 10, checkpoint: done }
      }
    }
  }
}

/** A destination that accepts parts, and a record of what it got. @param hinder called before each batch */
function taking(hinder: (context: DestinationContext, first: number) => unknown = () => {}) {
  const got = { numbers: [] as number[], writers: new Set<string>(), finished: 0, aborted: 0 }
  engine.sides.destination = {
    whyNotParts: () => undefined,
    open: (context) => ({
      deliver: async (batch) => {
        await hinder(context, numbersIn(batch)[0] ?? 0)
        got.writers.add(context.transferId)
        got.numbers.push(...numbersIn(batch))
        return taken(batch, { deliveryState: got.numbers.length })
      },
      finish: async () => void got.finished++,
      abort: async () => void got.aborted++,
    }),
  }
  return got
}

const all = Array.from({ length: parts * rowsEach }, (_, i) => Math.floor(i / rowsEach) * 1000 + (i % rowsEach) + 1)
const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)
const partsOf = (id: string) =>
  engine.sql<{ number: number; status: string; attempt: number }>(
    'select number, status, attempt from transfer_parts where transfer_id = $1 order by number',
    id,
  )
const statusesOf = async (id: string) => (await partsOf(id)).map(({ status }) => status)
const logOf = async (connectionId: string, transferId: string) => {
  const { caller, accountId } = engine
  const lines = await caller.expect(
    caller.call('listTransferLog', { accountId, id: connectionId, transferId, query: {} }),
  )
  return lines.map(({ text }) => text)
}

/** The rejected records of a connection as another connection reads them: the numbers of the kept ones, and how many there are. */
async function lettersOf(connection: string) {
  const { database, service } = engine.service
  const side = { connector: connectorBySlug('rejected-records'), accountId: engine.accountId, configurationId: '' }
  const job = new JobHost({ database, keyring: service.deps.keyring }, [side])
  const kept: number[] = []
  let all = 0
  for (let after = { transfer: 0, record: null } as RejectPlace; ; ) {
    const { found } = (await job.answer('readRejected', { connection, after })) as { found: RejectedRecords | null }
    if (!found) return { kept, all }
    kept.push(...found.records.flatMap(({ number }) => number ?? []))
    all += found.records.reduce((sum, { count }) => sum + count, 0)
    after = found.next
  }
}

describe('a transfer in parts', () => {
  test('moves each part once, and counts as one transfer', async () => {
    divided()
    const got = taking()
    const connectionId = await engine.connectSides()
    const { id } = await engine.start(connectionId)
    await Promise.all([engine.work(), engine.work()])
    await engine.work()
    const transfer = await engine.get(connectionId, id)
    assert.deepEqual([transfer.status, transfer.error, transfer.progress, transfer.attempt], ['succeeded', null, 1, 1])
    assert.deepEqual(transfer.records, { read: 100, sent: 100, accepted: 100, rejected: 0 })
    assert.deepEqual(sorted(got.numbers), all)
    assert.deepEqual([got.writers.size, got.finished, got.aborted], [parts, parts, 0])
    assert.ok(!got.writers.has(id), 'each part is a transfer of its own to its destination')
    await assertAccounted(engine, transfer)
    const log = await logOf(connectionId, id)
    assert.ok(log.includes('The source is divided into 4 parts, which workers share.'), log.join('\n'))
    assert.ok(log.includes('Part 4 of 4 succeeded: 25 read, 25 accepted, 0 rejected'), log.join('\n'))
    assert.equal(log.at(-1), 'All parts are delivered and confirmed.')
  })

  test('stays whole if its destination takes no parts, and says why', async () => {
    divided()
    const got = taking()
    engine.sides.destination = {
      ...engine.sides.destination,
      whyNotParts: () => 'the last of several records with the same key must win',
    }
    const connectionId = await engine.connectSides()
    const { id, status } = await engine.move(connectionId)
    const only = { number: 1, status: 'succeeded', attempt: 1 }
    assert.deepEqual([status, [...got.writers], await partsOf(id)], ['succeeded', [id], [only]])
    const { accountId, caller } = engine
    const listed = await caller.expect(
      caller.call('listTransferParts', { accountId, id: connectionId, transferId: id, query: {} }),
    )
    assert.deepEqual(listed, [], 'its only part is not shown')
    const sentence = 'One worker moves all records, because the last of several records with the same key must win.'
    assert.ok((await logOf(connectionId, id)).includes(sentence))
  })

  test('is upserted in parts if rows of different parts have different keys', async () => {
    const sentenceFor = async (apart: readonly string[] | undefined, keys: readonly string[]) => {
      divided()
      const { divide } = engine.sides
      assert(divide)
      engine.sides.divide = async (...asked) => {
        const division = await divide(...asked)
        return division && { ...division, ...(apart && { apart }) }
      }
      taking()
      engine.sides.destination = { ...engine.sides.destination, windowKeys: () => keys }
      const connectionId = await engine.connectSides()
      const { id, status } = await engine.move(connectionId)
      assert.equal(status, 'succeeded')
      return (await logOf(connectionId, id)).find((text) => /parts|One worker/.test(text))
    }
    assert.equal(
      await sentenceFor(['number'], ['number', 'name']),
      'The source is divided into 4 parts, which workers share.',
    )
    const whole = 'One worker moves all records, because the last of several records with the same key must win'
    assert.equal(
      await sentenceFor(['number'], ['name']),
      `${whole}: the key columns need number of the source, unchanged.`,
    )
    assert.equal(await sentenceFor(undefined, ['number', 'name']), `${whole}.`)
  })

  test('gives the next transfer the cursors of all its parts, once all have succeeded', async () => {
    const cursors: unknown[] = []
    const withCursors = (fails: boolean) => {
      divided()
      const { source } = engine.sides
      assert(source)
      engine.sides.source = async function* (context, after) {
        cursors.push(context.cursor)
        if (fails && context.part?.key === 3) throw new ConnectorError('invalid_file', 'It is damaged.')
        for await (const chunk of source(context, after)) {
          yield { ...chunk, cursor: { part: context.part?.key ?? null, until: Number(chunk.checkpoint) } }
        }
      }
    }
    taking()
    const connectionId = await engine.connectSides()
    const seen = async (status: string) => {
      assert.equal((await engine.move(connectionId)).status, status)
      return cursors.splice(0)[0]
    }
    withCursors(true)
    assert.equal(await seen('failed'), undefined)
    withCursors(false)
    const { destination } = engine.sides
    let isTaken = false
    engine.sides.destination = {
      ...destination,
      open: async (context) => ({
        ...(await destination?.open?.(context)),
        async finish() {
          if (isTaken || !context.transferId.endsWith('-2')) return
          isTaken = true
          // Another worker claims the part after its last row, and so gets no row with a cursor.
          await engine.sql(`update transfer_parts set status = 'queued' where number = 2 and status = 'running'`)
        },
      }),
    }
    assert.equal(await seen('succeeded'), undefined)
    assert.ok(isTaken)
    const all = { parts: [0, 1, 2, 3].map((part) => ({ part, until: rowsEach })) }
    assert.deepEqual(await seen('succeeded'), all)
    const left = await engine.sql(
      'select number from transfer_parts where coalesce(checkpoint_sealed, cursor_sealed) is not null',
    )
    assert.deepEqual(left, [])
  })

  test('keeps no more rejected records than one that is whole, and counts all', async () => {
    divided((number) => number % 1000 <= 3)
    taking()
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual([transfer.status, transfer.records.rejected], ['partial', 12])
    const kept = await engine.sql('select number from rejects where transfer_id = $1', transfer.id)
    assert.equal(kept.length, 5)
    await assertAccounted(engine, transfer)
  })

  test('fails with the part that fails, once the others have ended', async () => {
    divided()
    const got = taking()
    engine.sides.source = failingSource(1, new ConnectorError('invalid_file', 'file 1 is damaged.'))
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual(
      [transfer.status, transfer.error?.code, transfer.error?.side],
      ['failed', 'invalid_file', 'source'],
    )
    assert.equal(transfer.error?.message, 'Part 2 of 4: file 1 is damaged.')
    assert.deepEqual(await statusesOf(transfer.id), ['succeeded', 'failed', 'succeeded', 'succeeded'])
    assert.equal(got.numbers.length, 75)
    await assertAccounted(engine, transfer)
  })

  test('is retried with the parts that failed, each after its last confirmed record', async () => {
    const isBad = (number: number) => [3, 23].includes(number % 1000)
    divided(isBad)
    let isDown = true
    const got = taking(({ transferId }, first) => {
      if (isDown && /-[23]$/.test(transferId) && first % 1000 > 10) throw new ConnectorError('invalid_file', 'Not now.')
    })
    // A destination that returns delivery states can drop the data of a failing transfer.
    const { destination } = engine.sides
    engine.sides.destination = {
      ...destination,
      open: async (context) => {
        const writer = await destination?.open?.(context)
        const deliver = async (batch: Batch) => {
          await writer?.deliver?.(batch)
          return taken(batch)
        }
        return { ...writer, deliver }
      },
    }
    const { caller, accountId } = engine
    const connectionId = await engine.connectSides()
    const failed = await engine.move(connectionId)
    assert.deepEqual(await statusesOf(failed.id), ['succeeded', 'failed', 'failed', 'succeeded'])
    isDown = false
    const of = { accountId, id: connectionId, transferId: failed.id }
    const retried = await caller.call('retryTransfer', of)
    assert.deepEqual([retried.status, retried.response.status, retried.response.id], [202, 'running', failed.id])
    assert.equal((await caller.call('retryTransfer', of)).status, 200)
    await engine.work()
    const transfer = await engine.get(connectionId, failed.id)
    assert.deepEqual([transfer.status, transfer.error], ['partial', null])
    assert.deepEqual(transfer.records, { read: 100, sent: 92, accepted: 92, rejected: 8 })
    assert.deepEqual(
      sorted(got.numbers),
      all.filter((number) => !isBad(number)),
    )
    assert.ok((await logOf(connectionId, failed.id)).includes('2 of 4 parts are retried.'))
    await assertAccounted(engine, transfer)
    const { kept, all: letters } = await lettersOf(connectionId)
    assert.deepEqual(
      [kept.length, new Set(kept).size, letters],
      [5, 5, 8],
      'each once, whether it came before the retry or after it',
    )
    const again = await caller.call('retryTransfer', of)
    assert.deepEqual([again.status, again.error], [409, 'nothing_to_retry'])
  })

  test('is not retried if a part cannot continue, or if another transfer followed', async () => {
    const { caller, accountId } = engine
    divided()
    let isDown = true
    taking(({ transferId }, first) => {
      if (isDown && transferId.endsWith('-2') && first > 1010) throw new ConnectorError('invalid_file', 'Not now.')
    })
    const connectionId = await engine.connectSides()
    const { id } = await engine.move(connectionId)
    const retry = () => caller.call('retryTransfer', { accountId, id: connectionId, transferId: id })
    assert.match((await retry()).text, /has a part that cannot continue/)
    isDown = false
    await engine.move(connectionId)
    assert.match((await retry()).text, /was followed by another transfer/)
    const kept = await engine.sql(
      'select from transfer_parts where transfer_id = $1 and coalesce(key_sealed, checkpoint_sealed, cursor_sealed) is not null',
      id,
    )
    assert.equal(kept.length, 0)
  })

  test('leaves parts out that would fail in the same way, and breaks its connection', async () => {
    divided()
    taking(({ transferId }) => {
      if (transferId.endsWith('-2')) throw new ConnectorError('permission_denied', 'You may not.')
    })
    const connectionId = await engine.connectSides()
    const transfer = await engine.move(connectionId)
    assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'permission_denied'])
    assert.deepEqual(await statusesOf(transfer.id), ['succeeded', 'failed', 'skipped', 'skipped'])
    assert.equal((await engine.connection(connectionId)).status, 'broken')
    await assertAccounted(engine, transfer)
  })

  test('is cancelled with all its parts', async () => {
    divided()
    const { caller, accountId } = engine
    const connectionId = await engine.connectSides()
    const { id } = await engine.start(connectionId)
    taking(async (_, first) => {
      if (first !== 11) return
      await caller.expect(caller.call('cancelTransfer', { accountId, id: connectionId, transferId: id }))
    })
    await engine.work()
    const transfer = await engine.get(connectionId, id)
    assert.deepEqual([transfer.status, transfer.error], ['cancelled', null])
    assert.deepEqual(await statusesOf(id), ['cancelled', 'skipped', 'skipped', 'skipped'])
    await assertAccounted(engine, transfer)
  })

  test('writes nothing by a worker whose part another one has taken', async () => {
    divided()
    let isTaken = false
    const got = taking(async ({ transferId }, first) => {
      if (first !== 1011 || isTaken) return
      isTaken = true
      // As if this worker had slept: its part waits again, and another worker moves all that is left.
      await engine.sql(
        `update transfer_parts set status = 'queued' where transfer_id = $1 and number = 2`,
        transferId.replace(/-2$/, ''),
      )
      await engine.work()
    })
    const transfer = await engine.move(await engine.connectSides())
    assert.equal(transfer.status, 'succeeded')
    assert.deepEqual(transfer.records, { read: 100, sent: 100, accepted: 100, rejected: 0 })
    const twice = got.numbers.filter((number, i) => got.numbers.indexOf(number) !== i)
    assert.deepEqual(
      sorted(twice),
      Array.from({ length: 10 }, (_, i) => 1011 + i),
      'its last batch, under the same key',
    )
    assert.deepEqual(
      (await partsOf(transfer.id)).map(({ attempt }) => attempt),
      [1, 2, 1, 1],
    )
    await assertAccounted(engine, transfer)
  })

  test('is no more than its share of the parts at once', async () => {
    divided()
    let running = 0
    let most = 0
    taking(async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
    })
    const connectionId = await engine.connectSides()
    const { id } = await engine.start(connectionId)
    const limits = { perTransfer: 2 }
    await engine.work(undefined, { perTransfer: 0 })
    assert.deepEqual(new Set(await statusesOf(id)), new Set(['queued']))
    await Promise.all(Array.from({ length: 4 }, () => engine.work(undefined, limits)))
    await engine.work(undefined, limits)
    assert.equal((await engine.get(connectionId, id)).status, 'succeeded')
    assert.ok(most <= 2, `${most} parts at once`)
  })
})

/** The same source, of which one part cannot be read. */
function failingSource(index: number, error: ConnectorError): NonNullable<Engine['sides']['source']> {
  const { source } = engine.sides
  assert(source)
  return (context, after) => {
    if (context.part?.key === index) throw error
    return source(context, after)
  }
}
