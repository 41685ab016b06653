import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Batch, ConnectorError, type Rejection } from '@penstock/connector'
import { addWebhook, startEndpoint, webhook } from './harness/endpoint.ts'
import { type Engine, numbersIn, people, startEngine, taken } from './harness/engine.ts'
import { assertInvariants } from './harness/invariants.ts'
import fc from './harness/property.ts'
import { large } from './harness/tiers.ts'
import { localFolder } from './harness/transfers.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** Replays of rejected records: which records they send, which they do not, and how they are reported. */

const rejectsMax = 40

let engine: Engine
before(async () => {
  engine = await startEngine({ rejectsMax })
})
after(async () => {
  await assertInvariants(engine.service.database.pool)
  await engine.close()
})

/** Behaviour of a destination for a batch, given as record numbers: returns the rejections. */
type Judge = (numbers: readonly number[], batch: Batch) => readonly Rejection[] | undefined

/** Accepts four records per batch, each batch once by its key. Returns how often each record was accepted. */
function receive(): { accepted: Map<number, number>; judge: Judge } {
  const receiver = { accepted: new Map<number, number>(), judge: (() => []) as Judge }
  const answers = new Map<string, readonly Rejection[]>()
  engine.sides.destination = {
    batch: () => ({ rowsMax: 4, bytesMax: 1 << 20 }),
    open: () => ({
      deliver: async (batch) => {
        const numbers = numbersIn(batch)
        const rejected = answers.get(batch.key) ?? receiver.judge(numbers, batch) ?? []
        if (!answers.has(batch.key)) {
          answers.set(batch.key, rejected)
          const bad = new Set(rejected.map(({ index }) => index))
          for (const [i, number] of numbers.entries()) {
            if (!bad.has(i)) receiver.accepted.set(number, (receiver.accepted.get(number) ?? 0) + 1)
          }
        }
        return taken(batch, { rejected })
      },
    }),
  }
  return receiver
}

/** Rejects the records that the condition names. */
const unless =
  (isGood: (number: number) => boolean): Judge =>
  (numbers) =>
    numbers.flatMap((number, index) => (isGood(number) ? [] : [{ index, reason: 'It is not wanted.' }]))

const placeOf = (id: string, transferId: string) => ({ accountId: engine.accountId, id, transferId })
const replayable = async (id: string, transferId: string) =>
  engine.caller.expect(engine.caller.call('getReplayable', placeOf(id, transferId)))
const ask = (id: string, transferId: string) => engine.caller.call('replayTransfer', placeOf(id, transferId))
const replay = async (id: string, transferId: string) => {
  const { id: replayId } = await engine.caller.expect(ask(id, transferId))
  await engine.work()
  return engine.get(id, replayId)
}
const counts = (all: number, replayed = 0, notKept = 0) => ({ replayable: all, replayed, notKept })

describe('a replay', () => {
  test('counts each record once, in the connection and in reports', async () => {
    const receiver = receive()
    receiver.judge = unless((number) => number > 3)
    engine.sides.source = people(5)
    const id = await engine.connectSides()
    const { id: transferId } = await engine.move(id)
    const { caller, accountId } = engine
    const volumes = async () => {
      const { totalVolume, usedVolume } = await engine.connection(id)
      const query = { connectionIds: id }
      const [report] = await caller.expect(caller.call('reportConnections', { accountId, query }))
      const { read, accepted, rejected, replayed } = report?.total ?? {}
      return { totalVolume, usedVolume, read, accepted, rejected, replayed }
    }
    const read = { totalVolume: 5, read: 5, rejected: 3 }
    assert.deepEqual(await volumes(), { ...read, usedVolume: 2, accepted: 2, replayed: 0 })
    receiver.judge = unless((number) => number !== 2)
    await replay(id, transferId)
    assert.deepEqual(await volumes(), { ...read, usedVolume: 4, accepted: 4, replayed: 2 })
    receiver.judge = unless(() => true)
    await replay(id, transferId)
    assert.deepEqual(await volumes(), { ...read, usedVolume: 5, accepted: 5, replayed: 3 })
  })

  test('sends corrected values, and keeps the original ones', async () => {
    const receiver = receive()
    receiver.judge = unless((number) => number > 3)
    engine.sides.source = people(5)
    const id = await engine.connectSides()
    const { id: transferId } = await engine.move(id)
    const { caller } = engine
    const edit = (...edits: { number: number; record: Record<string, string | null> }[]) =>
      caller.call('editRejects', { ...placeOf(id, transferId), body: { edits } })
    const list = () => caller.expect(caller.call('listRejects', placeOf(id, transferId)))
    const edited = await edit(
      { number: 1, record: { number: '101', name: null } },
      { number: 2, record: { name: 'x' } },
    )
    assert.deepEqual(edited.response, { edited: 2, restored: 0 })
    assert.deepEqual((await edit({ number: 2, record: {} })).response, { edited: 0, restored: 1 })
    assert.deepEqual(
      (await list()).map(({ record, edited, editable }) => [record.number, edited, editable]),
      [
        ['1', { number: '101', name: null }, true],
        ['2', null, true],
        ['3', null, true],
      ],
    )
    for (const [wrong, message] of [
      [{ number: 9, record: { name: 'x' } }, /not the number of a rejected record/],
      [{ number: 1, record: { names: 'x' } }, /not a column of the record/],
    ] as const) {
      assert.match((await edit(wrong)).text, message)
    }
    const { response } = await caller.call('listAudit', { query: { action: 'editRejects' } })
    assert(!JSON.stringify(response).includes('"101"'), 'the audit log has no values')

    // Corrections count for what the organization keeps.
    const { pool } = engine.service.database
    const keptBytes = async () => {
      const { rows } = await pool.query(
        `select kept_bytes::int as kept, (select sum(octet_length(edited_sealed))::int from rejects where transfer_id = id) as edited
         from transfers where id = $1`,
        [transferId],
      )
      return rows[0]
    }
    const before = await keptBytes()
    await edit({ number: 3, record: { name: 'x'.repeat(5_000) } })
    const larger = await keptBytes()
    assert(larger.edited > before.edited + 5_000)
    assert.equal(larger.kept - before.kept, larger.edited - before.edited)
    await pool.query(
      `insert into organization_limits (organization_id, name, value) select organization_id, 'rejects-mb', 0 from transfers where id = $1`,
      [transferId],
    )
    const refused = await edit({ number: 2, record: { name: 'x' } })
    assert.equal(refused.status, 400)
    assert.match(
      refused.text,
      /at most 0 MiB of values of rejected records; the command `org limit rejects-mb` of Penstock/,
    )
    assert.deepEqual((await edit({ number: 3, record: {} })).response, { edited: 0, restored: 1 })
    assert.deepEqual(await keptBytes(), before)
    await pool.query('delete from organization_limits')

    receiver.judge = unless((number) => number !== 2)
    const replayed = await replay(id, transferId)
    assert.deepEqual(replayed.records, { read: 3, sent: 3, accepted: 2, rejected: 1 })
    assert.deepEqual([receiver.accepted.get(101), receiver.accepted.get(1)], [1, undefined])
    assert.equal((await list())[0]?.record.number, '1')
    assert.match((await edit({ number: 1, record: { name: 'x' } })).text, /was delivered by a replay/)
    await ask(id, transferId)
    assert.equal((await edit({ number: 2, record: { name: 'x' } })).error, 'transfer_active')
    await engine.work()
  })

  test('sends nothing that an earlier one delivered, be it through a replay of a replay', async () => {
    const receiver = receive()
    receiver.judge = unless((number) => number > 10)
    engine.sides.source = people(15)
    const id = await engine.connectSides()
    const first = await engine.move(id)
    assert.deepEqual(await replayable(id, first.id), counts(10))

    receiver.judge = unless((number) => number > 4)
    const started = await ask(id, first.id)
    assert.deepEqual([started.status, started.response.rejects], [202, counts(10)])
    await engine.work()
    const second = await engine.get(id, started.response.id)
    assert.deepEqual([second.records.accepted, second.records.rejected], [6, 4])
    assert.deepEqual(await replayable(id, first.id), counts(4, 6))
    assert.deepEqual(await replayable(id, second.id), counts(4))

    receiver.judge = unless((number) => number !== 3)
    const third = await replay(id, second.id)
    assert.deepEqual([third.records.accepted, third.records.rejected], [3, 1])
    for (const [transferId, replayed] of [
      [first.id, 9],
      [second.id, 3],
    ] as const) {
      assert.deepEqual(await replayable(id, transferId), counts(1, replayed))
    }

    receiver.judge = () => []
    const fourth = await replay(id, first.id)
    assert.deepEqual(fourth.records, { read: 1, sent: 1, accepted: 1, rejected: 0 })
    for (const transferId of [first.id, second.id, third.id]) {
      assert.equal((await replayable(id, transferId)).replayable, 0)
      const { status, error, text } = await ask(id, transferId)
      assert.deepEqual([status, error], [409, 'nothing_to_replay'])
      assert.match(text, /of its rejected records were delivered by earlier replays/)
    }
    assert.deepEqual(
      [...receiver.accepted.values()].filter((times) => times !== 1),
      [],
    )
    assert.equal(receiver.accepted.size, 15)
  })

  test('says how many records were not kept, and refuses where none was', async () => {
    const receiver = receive()
    receiver.judge = unless(() => false)
    engine.sides.source = people(rejectsMax + 5)
    const id = await engine.connectSides()
    const first = await engine.move(id)
    assert.deepEqual(await replayable(id, first.id), counts(rejectsMax, 0, 5))
    await engine.sql('update rejects set sealed = null where transfer_id = $1 and number > 2', first.id)
    const { response } = await ask(id, first.id)
    assert.deepEqual(response.rejects, counts(2, 0, rejectsMax + 3))
    receiver.judge = () => []
    await engine.work()
    assert.deepEqual(await replayable(id, first.id), counts(0, 2, rejectsMax + 3))
    const { text } = await ask(id, first.id)
    assert.match(text, /2 of its rejected records were delivered by earlier replays/)
    assert.match(text, new RegExp(`${rejectsMax + 3} of its rejected records are not kept and cannot be sent again`))
  })

  test('of records of which a destination says only how many it rejected counts as one of all, unless it accepted none', async () => {
    const receiver = receive()
    receiver.judge = unless(() => false)
    engine.sides.source = people(8)
    const id = await engine.connectSides()
    const first = await engine.move(id)
    receiver.judge = (numbers) => [{ count: numbers.includes(1) ? 4 : 3, reason: 'Some are not wanted.' }]
    const second = await replay(id, first.id)
    assert.deepEqual([second.records.accepted, second.records.rejected], [1, 7])
    assert.deepEqual(await replayable(id, first.id), counts(4, 4))
    assert.deepEqual(await replayable(id, second.id), counts(0, 0, 7))
  })

  test('keeps no more of what is rejected again than the operator wants now, and loses none that is kept already', async () => {
    const receiver = receive()
    receiver.judge = unless(() => false)
    engine.sides.source = people(6)
    const id = await engine.connectSides()
    const first = await engine.move(id)
    engine.settings.rejectsMax = 2
    try {
      receiver.judge = unless((number) => number === 2)
      const second = await replay(id, first.id)
      assert.deepEqual([second.records.accepted, second.records.rejected], [1, 5])
      assert.deepEqual(await replayable(id, first.id), counts(5, 1))
      assert.deepEqual(await replayable(id, second.id), counts(2, 0, 3))
      receiver.judge = () => []
      assert.equal((await replay(id, first.id)).records.accepted, 5)
      assert.deepEqual(await replayable(id, second.id), counts(0, 2, 3))
      assert.equal(receiver.accepted.size, 6)
    } finally {
      engine.settings.rejectsMax = rejectsMax
    }
  })
})

const turns = fc.record({
  /** Which of the transfers so far is replayed. */
  which: fc.nat(),
  /** Which records the destination accepts, repeated cyclically. */
  takes: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
  /** In which batch something happens, and what. */
  at: fc.integer({ min: 1, max: 6 }),
  happens: fc.constantFrom('nothing', 'worker stops', 'fails', 'is cancelled'),
})

test('every record is accepted once over any sequence of replays, also of those that are interrupted', () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.array(turns, { maxLength: 6 }), async (records, sequence) => {
      const receiver = receive()
      receiver.judge = unless((number) => number % 3 === 0)
      engine.sides.source = people(records)
      const id = await engine.connectSides()
      const transfers = [(await engine.move(id)).id]
      for (const { which, takes, at, happens } of sequence) {
        const { status, response } = await ask(id, transfers[which % transfers.length] ?? '')
        if (status !== 202) continue
        transfers.push(response.id)
        const stopping = new AbortController()
        let batches = 0
        receiver.judge = (numbers, batch) => {
          batches++
          if (batches === at && happens === 'worker stops') stopping.abort()
          if (batches === at && happens === 'fails') throw new ConnectorError('invalid_file', 'What to do.')
          return unless((number) => takes[number % takes.length] ?? true)(numbers, batch)
        }
        if (happens === 'is cancelled' && at % 2 === 0) {
          await engine.caller.expect(engine.caller.call('cancelTransfer', placeOf(id, response.id)))
        }
        await engine.work(stopping.signal)
        await engine.work()
      }
      for (const times of receiver.accepted.values()) assert.equal(times, 1)

      receiver.judge = () => []
      for (const transferId of transfers) {
        if ((await replayable(id, transferId)).replayable > 0) await replay(id, transferId)
      }
      for (const transferId of transfers) assert.equal((await replayable(id, transferId)).replayable, 0)
      assert.deepEqual(
        [...receiver.accepted].sort(([a], [b]) => a - b),
        Array.from({ length: records }, (_, i) => [i + 1, 1]),
      )
    }),
    { numRuns: 25 },
  ))

test('a replay that is killed sends the same batches again, and nothing twice under two keys', large, async (t) => {
  const records = 1_000
  const fixture = await startProcessFixture(t)
  const endpoint = await startEndpoint(t)
  await addWebhook(fixture, endpoint)
  const lines = Array.from({ length: records }, (_, i) => i + 1)
  await writeFile(join(fixture.folder, 'people.csv'), `id\n${lines.join('\n')}\n`)
  const id = await fixture.connect(localFolder, { files: 'people.csv' }, webhook, { rowsPerRequest: 100 })
  let worker = fixture.spawnWorker()
  endpoint.answer = ({ rows }) => ({ rejected: rows.map((_, index) => ({ index, reason: 'Not now.' })) })
  const first = await fixture.ended(id, (await fixture.start(id)).id)
  assert.equal(first.records.rejected, records)

  const { caller, accountId } = fixture
  const ask = (transferId: string) => caller.call('replayTransfer', { accountId, id, transferId })
  endpoint.messages.length = 0
  const refused = new Set<string>()
  endpoint.answer = async ({ key }, count) => {
    if (count === 3) {
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
      return 'breaks off'
    }
    if (count === 6) return { rejected: [7, 70].map((index) => ({ index, reason: 'Not yet.' })) }
    if (count < 9) return undefined
    refused.add(key)
    return 418
  }
  const second = await fixture.ended(id, (await caller.expect(ask(first.id))).id)
  assert.deepEqual([second.status, second.attempt], ['failed', 2])
  assert.deepEqual(second.records, { read: 700, sent: 700, accepted: 698, rejected: 2 })
  assert.deepEqual(endpoint.messages[3], endpoint.messages[2])

  endpoint.answer = () => undefined
  const third = await fixture.ended(id, (await caller.expect(ask(first.id))).id)
  assert.deepEqual([third.status, third.records.accepted], ['succeeded', 302])
  assert.deepEqual((await ask(second.id)).error, 'nothing_to_replay')
  const sixth = endpoint.messages[5]
  const messages = new Map(endpoint.messages.map((message) => [message.key, message]))
  const accepted = [...messages.values()].flatMap(({ key, rows }) =>
    rows.flatMap((row, index) =>
      refused.has(key) || (key === sixth?.key && [7, 70].includes(index)) ? [] : [Number(row.id)],
    ),
  )
  assert.deepEqual(
    accepted.sort((a, b) => a - b),
    lines,
  )
  await assertInvariants(fixture.service.database.pool)
})
