import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { s3Objects } from '../packages/connectors/src/amazon-s3/s3-objects.ts'
import { redshiftSource, s3Destination, spawnHandoverWorker, startRedshift } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startMoving } from './harness/moving.ts'
import { queuedAgain } from './harness/standings.ts'
import { bounded } from './harness/until.ts'

/** Rows that Redshift writes to Amazon S3 itself: counts, files, the reasons for a worker, and crashes. */

const { redshift, bucket, s3Secrets, redshiftSecrets } = await startRedshift()
after(() => redshift.close())
const { s3 } = redshift
const moving = await startMoving(redshift.routes, [redshiftSource, redshiftSecrets], [s3Destination, s3Secrets])
const { fixture, service, work, move, routeIn } = moving

await redshift.query(
  `create table public.people as
    select i as id, 'Zoë ' || i || ', "' || chr(36) || '"' as name, i % 2 = 0 as ok, i * 1.25 as paid, date '2026-01-31' as day
      from generate_series(1, 2500) as i`,
)

const reading = {
  dataSourceType: 'SQL Query',
  sqlQuery: `select * from people where name <> 'O''Brien'`,
  keyColumns: 'id',
}
const connect = (path: string, own: Record<string, string | boolean> = {}, writing = {}) =>
  fixture.connect(redshiftSource, { ...reading, exportFiles: true, ...own }, s3Destination, {
    outputPath: `s3://${bucket}/${path}`,
    fileFormat: 'CSV',
    ...writing,
  })

/** All objects right in the folders of transfers below a path. */
async function objectsBelow(path: string): Promise<string[]> {
  const { folders = [] } = await s3Objects(s3.client, bucket).page(path)
  return (await Promise.all(folders.map((folder) => s3.names(bucket, folder)))).flat()
}
const unloads = () => redshift.executed.filter((text) => text.startsWith('unload'))

describe('rows that Redshift unloads', () => {
  beforeEach(() => {
    redshift.beforeStatement = undefined
    redshift.executed.length = 0
  })

  test('are in a folder of the transfer, and counted by its manifest', async () => {
    const id = await connect('daily/people.csv', {}, { gzip: true })
    const transfer = await move(id)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 2500, sent: 2500, accepted: 2500, rejected: 0 })
    assert.match(await routeIn(id, transfer.id), /^Amazon Redshift Source writes the files itself\./)
    const names = await objectsBelow('daily/')
    assert.match(names.join(' '), /^daily\/people-\S+\/0000_part_00.csv.gz \S+\/0001_part_00.csv.gz \S+\/manifest$/)
    const lines: string[] = []
    for (const name of names.slice(0, 2)) {
      const [header, ...rows] = gunzipSync(await s3.read(bucket, name))
        .toString()
        .trimEnd()
        .split('\n')
      assert.equal(header, 'id,name,ok,paid,day')
      lines.push(...rows)
    }
    assert.ok(!redshift.executed.some((text) => text.includes(String(s3Secrets.secretAccessKey))))
    await move(await connect('worker/people.csv', { exportFiles: false }))
    const [byWorker = ''] = await s3.names(bucket, 'worker/')
    const [, ...expected] = (await s3.read(bucket, byWorker)).toString().trimEnd().split('\r\n')
    assert.deepEqual(lines.sort(), expected.sort())
    await assertInvariants(service.database.pool)
  })

  test('pass a worker where something needs one, and fail where the bucket refuses Redshift', async () => {
    const reasonOf = async (own: Record<string, string | boolean>, writing = {}) => {
      const id = await connect('some/', own, writing)
      const transfer = await move(id)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      return /Rows pass a worker, because (.*)\./.exec(await routeIn(id, transfer.id))?.[1]
    }
    assert.deepEqual(
      [
        await reasonOf({ exportFiles: false }),
        await reasonOf({}, { mapping: '{"number":"id"}' }),
        await reasonOf({ sqlQuery: 'select id, 0.5::float as share from people' }),
        await reasonOf({ sqlQuery: `select id, 'a' || '$$' as name from people` }),
        await reasonOf({}, { encryption: 'SSE-KMS' }),
        await reasonOf({ syncMode: 'Incremental', markerColumn: 'id' }),
      ],
      [
        'the connection does not have Amazon Redshift Source write files',
        'the mapping changes or renames columns',
        'Redshift does not write all digits of share, which has the type double',
        'the query has two dollar signs in a row',
        'the files are encrypted with a key that the connection names',
        'the connection reads only rows that are new',
      ],
    )
    await moving.configure([
      redshiftSource,
      { ...redshiftSecrets, unloadRoleArn: 'arn:aws:iam::123456789012:role/Other' },
    ])
    const refused = await move(await connect('refused/'))
    await moving.configure([redshiftSource, redshiftSecrets])
    assert.equal(refused.error?.code, 'permission_denied')
    assert.match(refused.error?.message ?? '', /Redshift may not write to the bucket/)
    assert.equal(refused.records.read, 0)
  })

  test('are written once where a worker is killed at any statement', async () => {
    const id = await connect('killed/', {}, { fileFormat: 'NDJSON' })
    const { id: transferId } = await fixture.start(id)
    const given = moving.worker
    for (const [at, isRun] of [
      ['set query_group', true],
      ['unload', false],
      ['unload', true],
    ] as const) {
      const child = spawnHandoverWorker(given)
      // The statement runs anyway and only the response is lost, or it ends with the connection after its first file.
      const reached = new Promise<void>((resolve) => {
        redshift.beforeStatement = async (statement) => {
          if (!statement.startsWith(at) || child.killed) return
          child.kill('SIGKILL')
          const [, folder = ''] = new RegExp(`'s3://${bucket}/([^']+)'`).exec(statement) ?? []
          if (!isRun) await s3.put(bucket, `${folder}0009_part_00.ndjson`, '{"id":0}\n')
          resolve()
          if (!isRun) throw new Error('the statement ends with the connection')
        }
      })
      await bounded(`the worker sends ${at}`, reached, 60_000)
      await bounded('it is gone', child.ended, 60_000)
      redshift.beforeStatement = undefined
      await service.database.pool.query(queuedAgain(`id = $1 and status = 'running'`), [transferId])
    }
    await work()
    const transfer = await fixture.get(id, transferId)
    assert.deepEqual([transfer.status, transfer.attempt, transfer.records.accepted], ['succeeded', 4, 2500])
    assert.equal(unloads().length, 2)
    const names = await objectsBelow('killed/')
    assert.equal(names.filter((name) => name.endsWith('.ndjson')).length, 2)
    const rows = await Promise.all(
      names
        .filter((name) => name.endsWith('.ndjson'))
        .map(async (name) => (await s3.read(bucket, name)).toString().trimEnd().split('\n')),
    )
    const ids = new Set(rows.flat().map((line) => JSON.parse(line).id))
    assert.deepEqual([rows.flat().length, ids.size], [2500, 2500])
    await assertInvariants(service.database.pool)
  })
})
