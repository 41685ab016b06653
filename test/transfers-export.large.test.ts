import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { bigQuerySource, bucket, gcsDestination, spawnHandoverWorker, startGoogleStores } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startMoving } from './harness/moving.ts'
import { queuedAgain } from './harness/standings.ts'
import { bounded } from './harness/until.ts'

/** Rows that BigQuery writes to Cloud Storage itself: counts, names, the reasons for a worker, and a crash. */

const stores = await startGoogleStores()
after(() => stores.close())
const { bigQuery, gcs } = stores
const moving = await startMoving(
  stores.routes,
  [bigQuerySource, { jsonKey: bigQuery.jsonKey }],
  [gcsDestination, { jsonKey: bigQuery.jsonKey }],
)
const { fixture, service, work, move, routeIn } = moving

await bigQuery.run(
  `create table crm.people as select i as id, 'Zoë ' || i as name from range(1, 2501) as numbers(i) order by i`,
)

const reading = {
  projectId: 'example-project',
  dataset: 'crm',
  table: 'people',
  sqlQuery: 'select id, name from crm.people order by id',
  exportFiles: true,
}
const connect = (path: string, own: Record<string, string | boolean> = {}, writing = {}) =>
  fixture.connect(bigQuerySource, { ...reading, ...own }, gcsDestination, {
    outputPath: `gs://${bucket}/${path}`,
    fileFormat: 'CSV',
    ...writing,
  })

const objects = () => gcs.buckets.get(bucket) ?? new Map<string, { bytes: Buffer }>()
const linesOf = (name: string): string[] =>
  String(objects().get(name)?.bytes ?? '')
    .split('\n')
    .slice(0, -1)

describe('rows that BigQuery exports', () => {
  beforeEach(() => {
    objects().clear()
    Object.assign(bigQuery, { before: undefined, resultBytes: 1000 })
    bigQuery.executed.length = 0
    bigQuery.given.length = 0
  })

  test('are in the object that the settings name, and counted by the result', async () => {
    const id = await connect('people.csv')
    const transfer = await move(id)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 2500, sent: 2500, accepted: 2500, rejected: 0 })
    assert.deepEqual([...objects().keys()], ['people.csv'])
    const lines = linesOf('people.csv')
    assert.deepEqual([lines.length, lines[0], lines.at(-1)], [2501, 'id,name', '2500,Zoë 2500'])
    assert.match(await routeIn(id, transfer.id), /^Google BigQuery Source writes the files itself\./)
    // The number of rows was requested, but no rows.
    assert.deepEqual(bigQuery.given, [0])
    const byWorker = await move(await connect('worker.csv', { exportFiles: false }))
    assert.equal(byWorker.records.accepted, 2500)
    // A worker reads them in another order.
    assert.deepEqual(
      linesOf('worker.csv')
        .map((line) => line.replace('\r', ''))
        .sort(),
      lines.sort(),
    )
    await assertInvariants(service.database.pool)
  })

  test('are in several objects if they are more than one can hold, and packed if the settings say so', async () => {
    bigQuery.resultBytes = 5_000_000_000
    const { records } = await move(await connect('daily/people.csv', {}, { gzipOutput: true }))
    assert.equal(records.accepted, 2500)
    const names = [...objects().keys()]
    assert.deepEqual(names, ['daily/people-000000000000.csv.gz', 'daily/people-000000000001.csv.gz'])
    const lines = names.flatMap((name) =>
      gunzipSync(objects().get(name)?.bytes ?? '')
        .toString()
        .split('\n'),
    )
    assert.equal(lines.filter((line) => /^\d/.test(line)).length, 2500)
  })

  test('pass a worker where something needs one, and fail where the bucket refuses BigQuery', async () => {
    const reasonOf = async (own: Record<string, string | boolean>, writing: object, body = {}) => {
      const id = await connect('some.csv', own, writing)
      const transfer = await move(id, body)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      return routeIn(id, transfer.id)
    }
    const because = (why: string) => `Rows pass a worker, because ${why}.`
    assert.equal(
      await reasonOf({ exportFiles: false }, {}),
      because('the connection does not have Google BigQuery Source write files'),
    )
    assert.equal(await reasonOf({}, { mapping: '{"number":"id"}' }), because('the mapping changes or renames columns'))
    assert.equal(await reasonOf({}, {}, { test: { rows: 5 } }), because('a test sends a few records'))
    bigQuery.storage = undefined
    const refused = await move(await connect('refused.csv'))
    bigQuery.storage = gcs
    assert.equal(refused.error?.code, 'permission_denied')
    assert.match(refused.error?.message ?? '', /BigQuery cannot write to the bucket/)
    assert.equal(refused.records.read, 0)
  })

  test('are written once where a worker is killed while BigQuery works', async () => {
    const id = await connect('killed.csv')
    const { id: transferId } = await fixture.start(id)
    const given = moving.worker
    let written = 0
    bigQuery.storage = {
      put: (...object) => {
        written++
        gcs.put(...object)
      },
    }
    for (const at of ['query', 'extract']) {
      const child = spawnHandoverWorker(given)
      const reached = new Promise<void>((resolve) => {
        bigQuery.before = (configuration) => {
          if (!(at in configuration) || child.killed) return
          child.kill('SIGKILL')
          resolve()
        }
      })
      await bounded(`the worker starts the ${at} job`, reached, 60_000)
      await bounded('it is gone', child.ended, 60_000)
      bigQuery.before = undefined
      await service.database.pool.query(queuedAgain(`id = $1 and status = 'running'`), [transferId])
    }
    await work()
    bigQuery.storage = gcs
    const transfer = await fixture.get(id, transferId)
    assert.deepEqual([transfer.status, transfer.attempt, transfer.records.accepted], ['succeeded', 3, 2500])
    assert.deepEqual([written, bigQuery.executed.length, linesOf('killed.csv').length], [1, 1, 2501])
    await assertInvariants(service.database.pool)
  })
})
