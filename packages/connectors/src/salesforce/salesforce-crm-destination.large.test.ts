import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Json, Row } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { until } from '../../../../test/harness/until.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { assertPreviewed, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { salesforceRoutes, salesforceSecrets as secrets, startSalesforce } from '../../test/salesforce-server.ts'
import { salesforceCrm as connector } from './salesforce-crm.ts'

const server = await startSalesforce()
after(() => server.close())
const routes = salesforceRoutes(server.url)
const columns = ['Customer_Key__c', 'LastName', 'Email']
const settings = { objectName: 'Contact', operation: 'Upsert', externalIdField: 'Customer_Key__c' }
const insert = { objectName: 'Contact', operation: 'Insert' }
const person = (key: string, name: string | null = `Name, "${key}"\nof two lines`): Row => [
  key,
  name,
  `${key}@example.com`,
]
const startedTime = () => new Date().toISOString()

const contextOf = (options: TestContextOptions = {}) =>
  testContext({ secrets, settings, routes, columns, startedTime: startedTime(), ...options })
const openWriter = async (options: TestContextOptions = {}) => {
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)
  return await deliver.open(contextOf(options))
}
const stored = () => server.records.filter(({ IsDeleted }) => IsDeleted === 'false')
const names = () => stored().map(({ LastName }) => LastName)
const bare = (error: { action: string; code: string }) => [error.action, error.code]

/** A request on a connection that was kept is repeated once. */
const cutsUploads = {
  name: 'cuts uploads',
  action: 'retry',
  start: () => [1, 2].map(() => server.failure(/PUT .*batches$/, 'reset')),
  stop: () => server.calm(),
} as const

for (const [way, own, more] of [
  ['Upsert', settings, {}],
  ['Insert', insert, {}],
] as const) {
  acceptDestination({
    connector,
    testServer: `a server that follows the published documentation of Salesforce, ${way}`,
    secrets,
    wrongSecrets: { ...secrets, serviceClientSecret: 'another-secret' },
    settings: own,
    missing: { ...own, objectName: 'Nowhere__c' },
    context: { routes },
    columns,
    rows: Array.from({ length: 12 }, (_, n) => person(`k${n}`)),
    badRows: [
      { row: ['bad1', 'Bad', 'no address'], reason: /\(INVALID_EMAIL_ADDRESS\)/, field: 'Email' },
      { row: ['bad2', null, 'bad2@example.com'], reason: /\(REQUIRED_FIELD_MISSING\)/, field: 'LastName' },
      { row: [null, null, null], reason: /no value/ },
      { row: ['bad3', '#N/A', null], reason: /#N\/A/, field: 'LastName' },
    ],
    readBack: async () => stored().map((one) => columns.map((column) => one[column] ?? null)),
    reset: () => server.reset(),
    deduplicates: true,
    visible: 'at once',
    errors: [
      problemOf(
        server,
        /PUT .*batches$/,
        { status: 503, json: [{ errorCode: 'SERVER_UNAVAILABLE' }] },
        { name: 'is down', action: 'retry' },
      ),
      problemOf(
        server,
        /POST .*ingest$/,
        { status: 403, json: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }] },
        { name: 'has no calls left', action: 'retry', code: 'rate_limited', afterMs: 600_000 },
      ),
      cutsUploads,
      problemOf(
        server,
        /POST .*ingest$/,
        { status: 403, json: [{ errorCode: 'INSUFFICIENT_ACCESS' }] },
        { name: 'denies access', action: 'reconfigure' },
      ),
    ],
    hang: hangOf(server, /GET .*ingest\/750\w+$/),
    ...more,
  })
}

describe('the jobs of Salesforce as a destination', () => {
  beforeEach(() => {
    server.reset()
    server.calm()
  })

  test('sends LF, UTF-8 and quotes, and matches results that are in another order', async () => {
    const writer = await openWriter({ columns })
    const batch = batchOf(columns, [person('a', 'Zoë'), ['b', 'B', 'none'], person('c'), ['d', 'D', 'none']])
    const { rejected = [], deliveryState } = await writer.deliver(batch)
    assert.deepEqual(rejected.map(({ index, field }) => [index, field]).sort(), [
      [1, 'Email'],
      [3, 'Email'],
    ])
    assert.deepEqual(names().sort(), ['Name, "c"\nof two lines', 'Zoë'])
    assert.equal(((deliveryState ?? {}) as { jobs: Json[] }).jobs.length, 1)
    assert.ok(!JSON.stringify(rejected).includes('none'), 'a reason quotes a value')
  })

  test('rejects duplicates of an insert by content, whichever of equal rows failed', async () => {
    const writer = await openWriter({ settings: insert })
    const equal: Row = ['a', 'Equal', 'no address']
    const { rejected = [] } = await writer.deliver(batchOf(columns, [equal, person('b'), equal]))
    assert.deepEqual(rejected.map(({ index }) => index).sort(), [0, 2])
  })

  test('makes one record of rows with the same key, whose last values count', async () => {
    const writer = await openWriter()
    const rows: Row[] = [person('a', 'First'), person('b'), ['A', 'Last', null], ['c', null, 'wrong'], ['c', 'C', null]]
    const { rejected = [] } = await writer.deliver(batchOf(columns, rows))
    assert.deepEqual(rejected.map(({ index }) => index).sort(), [3, 4])
    const [a] = stored().filter(({ Email }) => Email === 'a@example.com')
    assert.deepEqual([a?.LastName, stored().length], ['Last', 2])
  })

  test('updates and deletes by ID, and clears fields where it is chosen', async () => {
    await (await openWriter()).deliver(batchOf(columns, [person('a'), person('b')]))
    const [a, b] = stored()
    assert.ok(a?.Id && b?.Id)
    const byId = ['Id', 'Email']
    const update = { objectName: 'Contact', operation: 'Update', emptyCells: 'Clear' }
    const updating = await openWriter({ settings: update, columns: byId })
    const changes = batchOf(
      byId,
      [
        [a.Id, null],
        [b.Id.slice(0, 15), 'new@example.com'],
        ['x', 'y@example.com'],
        [null, 'z'],
      ],
      2,
    )
    const updated = await updating.deliver(changes)
    assertRejected(updated.rejected, [
      [2, 'Id'],
      [3, 'Id'],
    ])
    await assertPreviewed(connector, contextOf({ settings: update }), changes, updated.rejected)
    assert.deepEqual(
      stored().map(({ Email }) => Email),
      [undefined, 'new@example.com'],
    )
    const removing = await openWriter({ settings: { objectName: 'Contact', operation: 'Delete' }, columns: byId })
    const { rejected = [] } = await removing.deliver(
      batchOf(
        byId,
        [
          [a.Id, 'ignored'],
          ['003000000000999AAA', null],
        ],
        3,
      ),
    )
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, /ENTITY_IS_DELETED/.test(reason)]),
      [[1, true]],
    )
    assert.equal(server.jobs.at(-1)?.columns.join(), 'Id')
    assert.deepEqual(names(), ['Name, "b"\nof two lines'])
  })

  test('sends locked rows again, and rejects them in the end', async () => {
    server.processing.locks = 1
    const writer = await openWriter({ settings: insert })
    const batch = batchOf(columns, [person('a'), person('b', 'Locked')])
    assert.deepEqual((await writer.deliver(batch)).rejected, [])
    assert.deepEqual(
      server.jobs.map(({ rows }) => rows.length),
      [2, 1],
    )
    server.processing.locks = 9
    const { rejected = [] } = await writer.deliver(batchOf(columns, [person('c', 'Locked'), person('d')], 2))
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, /UNABLE_TO_LOCK_ROW/.test(reason)]),
      [[0, true]],
    )
  })

  test('finds a running job after a crash, waits for it, and sends nothing twice', async () => {
    const started = startedTime()
    server.processing.asksBeforeDone = 1
    const first = await openWriter({ settings: { ...insert, resultWaitSeconds: 0 }, startedTime: started })
    const batch = batchOf(columns, [person('a'), ['b', 'B', 'none']])
    assert.deepEqual(bare(await connectorErrorOf(first.deliver(batch), contextOf())), ['retry', 'timeout'])
    const next = await openWriter({ settings: insert, startedTime: started, attempt: 2 })
    const { rejected = [] } = await next.deliver(batch)
    assertRejected(rejected, [1])
    assert.deepEqual([server.jobs.length, stored().length], [1, 1])
    // The same rows in the batch behind it are other rows.
    await next.deliver(batchOf(columns, [person('a'), ['b', 'B', 'none']], 2))
    assert.deepEqual([server.jobs.length, stored().length], [2, 2])
  })

  test('does not take confirmed jobs, those of earlier transfers, or other rows for its own', async () => {
    const before = await openWriter({ settings: insert })
    const { state, deliveryState } = await before.deliver(batchOf(columns, [person('a')]))
    assert.ok(state !== undefined && deliveryState !== undefined)
    for (const known of [
      { state },
      { deliveryStates: [deliveryState] },
      { startedTime: new Date(Date.now() + 60_000).toISOString() },
    ]) {
      server.jobs.splice(1)
      await (await openWriter({ settings: insert, ...known })).deliver(batchOf(columns, [person('a')]))
      assert.equal(server.jobs.length, 2, JSON.stringify(known))
    }
    server.jobs.splice(1)
    await (await openWriter({ settings: insert, state })).deliver(batchOf(columns, [person('b')]))
    assert.equal(server.jobs.length, 2)
  })

  test('continues what a job left that failed half-way, and what it stopped itself', async () => {
    server.processing.stops = 1
    const rows = [person('a'), person('b'), person('c')]
    assert.deepEqual((await (await openWriter({ settings: insert })).deliver(batchOf(columns, rows))).rejected, [])
    assert.deepEqual([server.jobs.map((job) => job.rows.length), stored().length], [[3, 2], 3])
    server.reset()
    server.processing.asksBeforeDone = 9
    const stop = new AbortController()
    const started = startedTime()
    const writer = await openWriter({ settings: insert, signal: stop.signal, startedTime: started })
    const work = writer.deliver(batchOf(columns, rows))
    work.catch(() => {})
    await until('the job is waited for', () => server.jobs[0]?.state === 'InProgress')
    stop.abort(new Error('stopped'))
    await assert.rejects(work)
    assert.deepEqual(
      server.jobs.map(({ state }) => state),
      ['Aborted'],
    )
    server.processing.asksBeforeDone = 0
    await (await openWriter({ settings: insert, startedTime: started })).deliver(batchOf(columns, rows))
    assert.deepEqual([server.jobs.length, stored().length], [2, 3])
  })

  test('begins another job if Salesforce refuses an upload that it has already', async () => {
    for (const failure of ['reset after', { status: 400, json: [{ errorCode: 'INVALIDJOBSTATE' }] }] as const) {
      server.failure(/PUT .*batches$/, failure)
      await (await openWriter({ settings: insert })).deliver(batchOf(columns, [person(String(failure))]))
    }
    assert.deepEqual(
      server.jobs.map(({ state }) => state),
      ['Aborted', 'JobComplete', 'Aborted', 'JobComplete'],
    )
    assert.equal(stored().length, 2)
  })

  test('finds out whether a job was closed if the answer is lost', async () => {
    server.failure(/PATCH /, 'reset after')
    const writer = await openWriter({ settings: insert })
    await writer.deliver(batchOf(columns, [person('a')]))
    server.failure(/PATCH /, 'reset')
    await writer.deliver(batchOf(columns, [person('b')], 2))
    assert.deepEqual([server.jobs.length, stored().length], [2, 2])
  })

  test('renews a token that ends between two requests', async () => {
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, [person('a')]))
    server.expireTokens()
    server.failure(/PATCH /, { status: 401, json: [{ errorCode: 'INVALID_SESSION_ID', message: 'x' }] })
    await writer.deliver(batchOf(columns, [person('b')], 2))
    assert.equal(stored().length, 2)
  })

  test('stops if Salesforce reports other rows than were sent, and counts nothing', async () => {
    server.processing.spoils = true
    const writer = await openWriter({ settings: insert })
    const batch = batchOf(columns, [person('a'), ['b', 'B', 'none']])
    // Without content, only the number of failed rows is known.
    const { rejected = [] } = await writer.deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, count }) => [index, count]),
      [[undefined, 1]],
    )
    server.failure(/successfulResults$/, { text: '"sf__Id","LastName"\n', headers: { 'content-type': 'text/csv' } })
    const error = await connectorErrorOf(
      writer.deliver(batchOf(columns, [person('c'), ['d', 'D', 'none']], 2)),
      contextOf(),
    )
    assert.deepEqual(bare(error), ['fail', 'unexpected_response'])
  })
})
