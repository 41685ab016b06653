import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Chunk, Json } from '@penstock/connector'
import { type Blackout, type ConnectionRule, weekdays } from '@penstock/wire'
import { createCatalogue } from '../packages/server/src/connectors/catalogue.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { startDue } from '../packages/server/src/transfers/supervisor/due-schedules.ts'
import { type Engine, numbersIn, people, startEngine, taken } from './harness/engine.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Rules of a connection judge its transfers, and stop them before a batch or a replacement that breaks them. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(() => fixture.close())

const of = (id: string) => ({ accountId: fixture.accountId, id })
const set = (id: string, rules: ConnectionRule[]) =>
  fixture.caller.call('setConnectionRules', { ...of(id), body: { rules } })
async function move(id: string, body: object = {}) {
  const { status, error, records, rules } = await fixture.ended(id, (await fixture.start(id, body)).id)
  const outcomes = rules.map(({ check, outcome }) => `${check} ${outcome}`)
  return { status, code: error?.code, message: error?.message ?? '', records, outcomes, rules }
}
const write = (name: string, lines: readonly string[]) => writeFile(join(fixture.folder, name), `${lines.join('\n')}\n`)

describe('rules of a connection', () => {
  test('are set as a whole, refuse what means nothing, and are part of its history', async () => {
    const { caller } = fixture
    const id = await fixture.connect(localFolder, { files: 'none.csv' }, localFolder, { subfolder: 'none' })
    assert.deepEqual((await caller.call('getConnectionRules', of(id))).response, {
      connectionId: id,
      rules: [],
      blackout: null,
    })
    const rules: ConnectionRule[] = [
      { check: 'rejected', action: 'stop', percent: 2 },
      { check: 'values', action: 'warn', column: 'country', values: ['DE', 'AT'] },
    ]
    assert.deepEqual((await set(id, rules)).response, { connectionId: id, rules, blackout: null })
    const refused: [ConnectionRule, string][] = [
      [{ check: 'rejected', action: 'stop' }, 'body.rules.0'],
      [{ check: 'empty', action: 'stop', column: 'a' }, 'body.rules.0.percent'],
      [{ check: 'rows', action: 'stop', min: 2, max: 1 }, 'body.rules.0.max'],
      [{ check: 'unique', action: 'stop', column: 'a', hours: 3 }, 'body.rules.0.hours'],
    ]
    for (const [rule, field] of refused) {
      const { status, response } = await set(id, [rule])
      const { details } = response as unknown as { details: { field: string }[] }
      assert.deepEqual([status, details.map((one) => one.field)], [400, [field]])
    }
    await set(id, [])
    const events = await caller.expect(caller.call('listConnectionEvents', of(id)))
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'rules').map(({ from, to }) => [from, to]),
      [
        ['stop rejected, warn values country', null],
        [null, 'stop rejected, warn values country'],
      ],
    )
  })

  test('stop a transfer before the batch that breaks them, and say what was delivered', async () => {
    const { target } = fixture
    await target.query('create table orders (id text, country text)')
    const countries = Array.from({ length: 3_000 }, (_, i) => `${i + 1},${i === 2_500 ? 'XX' : 'DE'}`)
    await write('orders.csv', ['id,country', ...countries])
    const id = await fixture.connect(localFolder, { files: 'orders.csv' }, postgresql, {
      table: 'orders',
      writeMode: 'Insert',
    })
    await set(id, [
      { check: 'values', action: 'stop', column: 'country', values: ['DE'] },
      { check: 'unique', action: 'warn', column: 'id' },
    ])
    const stopped = await move(id)
    assert.deepEqual([stopped.status, stopped.code], ['failed', 'rule_broken'], stopped.message)
    assert.match(stopped.message, /country has a value that is not accepted in 1 of .* The first one is record 2,501\./)
    assert.match(stopped.message, /Nothing was delivered\.|records had been delivered before/)
    const { rows } = await target.query(`select count(*)::int as there from orders where country = 'XX'`)
    assert.deepEqual(rows, [{ there: 0 }])
    const { status } = await fixture.caller.expect(fixture.caller.call('getConnection', of(id)))
    assert.equal(status, 'active')
    await set(id, [
      { check: 'values', action: 'warn', column: 'country', values: ['DE'], percent: 0.01 },
      { check: 'unique', action: 'stop', column: 'id' },
      { check: 'rows', action: 'stop', min: 1, max: 3_000 },
      { check: 'range', action: 'record', column: 'id', min: 1, max: 2_999 },
      { check: 'volume', action: 'stop', min: 50 },
      { check: 'empty', action: 'stop', column: 'id', percent: 0 },
      { check: 'freshness', action: 'record', column: 'id', hours: 1 },
    ])
    const warned = await move(id)
    assert.equal(warned.status, 'succeeded', warned.message)
    assert.deepEqual(warned.outcomes, [
      'values broken',
      'unique kept',
      'rows kept',
      'range broken',
      'volume not_checked',
      'empty kept',
      'freshness broken',
    ])
  })

  test('judge records that a destination rejects, and do not stop a test', async () => {
    const { target } = fixture
    await target.query('create table ages (id text, age int)')
    await write('ages.csv', ['id,age', '1,30', '2,x', '3,y', '4,40'])
    const id = await fixture.connect(localFolder, { files: 'ages.csv' }, postgresql, {
      table: 'ages',
      writeMode: 'Insert',
    })
    await set(id, [
      { check: 'rejected', action: 'stop', percent: 25 },
      { check: 'rows', action: 'stop', min: 10 },
    ])
    const preview = await fixture.caller.expect(fixture.caller.call('previewConnection', { ...of(id), body: {} }))
    assert.deepEqual(
      preview.findings.filter(({ code }) => code === 'rule_broken').map(({ message }) => message),
      ['A rule would stop a transfer: 2 of 4 records rejected (50 %), at most 25 %.'],
    )
    const tried = await move(id, { test: { rows: 3 } })
    assert.deepEqual([tried.code, tried.outcomes], [undefined, ['rejected broken', 'rows not_checked']], tried.message)
    const stopped = await move(id)
    assert.deepEqual([stopped.status, stopped.code], ['failed', 'rule_broken'])
    assert.deepEqual(stopped.outcomes, ['rejected broken', 'rows broken'])
    assert.match(
      stopped.message,
      /2 of 4 records rejected \(50 %\), at most 25 %\..* 2 records had been delivered before/,
    )
  })
})

describe('rules in every attempt', () => {
  let engine: Engine
  before(async () => {
    engine = await startEngine()
  })
  after(() => engine.close())
  const rule = (id: string, rules: ConnectionRule[]) =>
    engine.caller.expect(engine.caller.call('setConnectionRules', { accountId: engine.accountId, id, body: { rules } }))

  test('judge the whole of a transfer that another worker continues, with the rules of its start', async () => {
    const { sides } = engine
    const opened: (number | undefined)[] = []
    sides.source = function* (_, after) {
      opened.push(after as number | undefined)
      yield* chunksOf(
        [...Array(29).keys()].map((i) => [i + 1, i === 28 ? 'p1' : `p${i + 1}`]),
        after,
      )
    }
    const stopping = new AbortController()
    sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          if (numbersIn(batch).includes(11)) stopping.abort()
          return taken(batch)
        },
      }),
    }
    const id = await engine.connectSides()
    await rule(id, [
      { check: 'unique', action: 'stop', column: 'name' },
      { check: 'empty', action: 'record', column: 'name', percent: 0 },
    ])
    const { id: transferId } = await engine.start(id)
    await engine.work(stopping.signal)
    const standing = await engine.get(id, transferId)
    assert.equal(standing.status, 'queued')
    assert(standing.records.read > 0)
    await rule(id, [])
    await engine.work()
    const ended = await engine.get(id, transferId)
    assert.deepEqual([ended.attempt, ended.status, ended.error?.code], [2, 'failed', 'rule_broken'])
    assert.match(ended.error?.message ?? '', /The first one is record 29\. 20 records had been delivered before/)
    assert.equal(opened.at(-2), undefined, 'what was confirmed was read again to be compared')
  })

  test('stop a replacement before anything is replaced, also a confirmed one', async () => {
    const { sides } = engine
    const calls: string[] = []
    sides.destination = {
      replaces: () => true,
      open: () => {
        calls.push('open')
        return {
          deliver: async (batch) => taken(batch),
          finish: async () => void calls.push('finish'),
        }
      },
    }
    sides.source = people(25)
    const id = await engine.connectSides()
    await rule(id, [{ check: 'rows', action: 'stop', min: 20 }])
    assert.equal((await engine.move(id)).status, 'succeeded')
    assert.deepEqual(calls, ['open', 'finish'])
    sides.source = people(15)
    const stopped = await engine.move(id, { confirm: true })
    assert.deepEqual([stopped.status, stopped.error?.code], ['failed', 'rule_broken'])
    assert.match(stopped.error?.message ?? '', /15 records read, at least 20\. Nothing was delivered\.$/)
    assert.deepEqual(calls, ['open', 'finish'], 'the destination was not opened')
  })

  test('a blackout refuses transfers that a call starts, and scheduled ones wait for its end', async () => {
    const { caller, accountId } = engine
    delete engine.sides.destination
    engine.sides.source = people(3)
    const id = await engine.connectSides()
    const at = { accountId, id }
    const days = [...weekdays]
    const setBlackout = (blackout: Blackout | null) =>
      caller.call('setConnectionRules', { ...at, body: { rules: [], blackout } })
    const window = { days, from: '00:00', to: '00:00' }
    assert.equal((await setBlackout({ timezone: 'Mars/Olympus', windows: [window] })).status, 400)
    await caller.expect(setBlackout({ timezone: 'UTC', windows: [window] }))
    const refused = await caller.call('startTransfer', { ...at, body: {} })
    assert.deepEqual([refused.status, refused.error], [409, 'transfer_blacked_out'])
    await caller.expect(caller.call('setSchedule', { ...at, body: { cron: '* * * * *' } }))
    const makeDue = () => engine.sql(`update schedules set next_time = now() where connection_id = $1`, id)
    const start = () => startDue({ database: engine.service.database, catalogue: createCatalogue('') }, quiet)
    const transfers = async () => (await caller.expect(caller.call('listTransfers', { ...at }))).length
    await makeDue()
    await start()
    const { nextTime, lastTime } = await caller.expect(caller.call('getSchedule', at))
    assert(Number(nextTime) > Date.now() / 1000 + 86_400 && lastTime === null)
    assert.equal(await transfers(), 0)
    await caller.expect(setBlackout(null))
    await makeDue()
    await start()
    assert.equal(await transfers(), 1)
  })

  test('stop while rejects come in, compare with the usual volume, and send an event', async () => {
    const { sides, caller, accountId } = engine
    await caller.expect(
      caller.call('createWebhook', {
        body: { url: 'https://example.com/rules', eventTypes: ['transfer.rules_broken'] },
      }),
    )
    sides.source = people(100)
    delete sides.destination
    const id = await engine.connectSides()
    for (let i = 0; i < 3; i++) assert.equal((await engine.move(id)).status, 'succeeded')
    await rule(id, [
      { check: 'volume', action: 'warn', min: 50 },
      { check: 'rejected', action: 'stop', count: 15 },
    ])
    sides.source = people(40)
    const few = await engine.move(id)
    assert.deepEqual(
      [few.status, few.rules.map(({ message }) => message)],
      [
        'succeeded',
        ['40 records read, 40 % of the usual 100, at least 50 %.', '0 of 40 records rejected (0 %), at most 15.'],
      ],
    )
    sides.source = people(100)
    sides.destination = {
      open: () => ({
        deliver: async (batch) => ({
          bytes: 1,
          rejected: batch.rows.slice(1).map((_, i) => ({ index: i + 1, reason: 'refused' })),
        }),
      }),
    }
    const stopped = await engine.move(id)
    assert.deepEqual([stopped.status, stopped.error?.code, stopped.records.read], ['failed', 'rule_broken', 20])
    const sent = await engine.sql<{ payload: string }>(
      `select payload from events where type = 'transfer.rules_broken' order by id`,
    )
    const found = sent.map(({ payload }) => JSON.parse(payload)).map(({ data }) => [data.status, data.rules.length])
    assert.deepEqual(found.sort(), [
      ['failed', 1],
      ['succeeded', 1],
    ])
    await caller.expect(caller.call('getConnectionRules', { accountId, id }))
  })
})

const quiet = createLogger('error', { write: () => {} })

/** Chunks of seven rows with a number and a name. */
function* chunksOf(rows: (string | number)[][], after: Json | undefined): Generator<Chunk> {
  for (let done = Number(after ?? 0); done < rows.length; ) {
    const some = rows.slice(done, done + 7)
    done += some.length
    yield { columns: ['number', 'name'], rows: some, checkpoint: done, bytes: 10 * some.length }
  }
}
