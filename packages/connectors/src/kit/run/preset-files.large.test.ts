import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Row } from '@penstock/connector'
import { acceptDestination, acceptSource, testContext } from '@penstock/connector/acceptance'
import { hangOf, problemsOf } from '../../../test/object-store-server.ts'
import { startS3TestServer, testServerName } from '../../../test/s3-server.ts'
import { refuse } from '../../../test/s3-signature.ts'
import { batchOf, connectorErrorOf } from '../../../test/tables.ts'
import { adobeAudienceManager } from '../../adobe/adobe-audience-manager.ts'
import { lotameAudiences } from '../../lotame/lotame-audiences.ts'
import { mparticleEvents } from '../../mparticle/mparticle-events.ts'
import { theTradeDeskReds } from '../../the-trade-desk/the-trade-desk-reds.ts'

/** Presets over Amazon S3: files in the layout of a platform become rows, and rows a file. */

const s3 = await startS3TestServer(
  ['segments', 'reds', 'inbound', 'mp-forwarding', 'lotame'],
  [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
)
after(() => s3.close())
const { proxy, secrets } = s3
const both = {
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, secretAccessKey: 'ThisIsTheSecretOfAnother' },
  errors: problemsOf(proxy, { slow: refuse(503, 'SlowDown'), forbidden: refuse(403, 'AccessDenied') }),
  hang: hangOf(proxy),
}
const user = (number: number) => `user-${String(number).padStart(9, '0')}`

const streams = Array.from(
  { length: 60_000 },
  (_, n): Row => [`2026-11-01 0${n % 3}:00:00`, user(n), n % 7 ? `${n}` : null],
)
const tsv = (rows: readonly Row[]) =>
  gzipSync(rows.map((row) => `${row.map((cell) => cell ?? '').join('\t')}\n`).join(''))
const hours = [0, 1, 2].map((hour) => streams.slice(hour * 20_000, (hour + 1) * 20_000))
for (const [hour, rows] of hours.entries()) {
  await s3.put('reds', `impressions/date=2026-11-01/hour=0${hour}/part_0.log.gz`, tsv(rows))
}
await s3.put('reds', 'clicks/date=2026-11-01/hour=00/part_0.log.gz', tsv([['x', 'y', 'z']]))
const columns = ['LogEntryTime', 'ImpressionId', 'Bid']
const impressions = { bucketUri: 's3://reds/impressions', columns: columns.join(', ') }

acceptSource({
  ...both,
  connector: theTradeDeskReds,
  columns,
  rows: streams,
  settings: impressions,
  missing: { ...impressions, bucketUri: 's3://missing-bucket/impressions' },
})

const eventColumns = Object.keys(mparticleEvents.source?.records ?? {})
const batches = Array.from({ length: 8_000 }, (_, n) => ({
  events: [1, 2].map((part) => ({ event_type: 'custom_event', data: { event_name: `${user(n)}-${part}` } })),
  environment: 'production',
}))
for (const part of [0, 1]) {
  const lines = batches.slice(part * 4_000, (part + 1) * 4_000).map((batch) => `${JSON.stringify(batch)}\n`)
  await s3.put(
    'mp-forwarding',
    `shop/2026-01-3${part}/Shop_2026013${part}170911644493_34523.txt`,
    Buffer.from(lines.join('')),
  )
}
const events = { bucketUri: 's3://mp-forwarding/shop' }

acceptSource({
  ...both,
  connector: mparticleEvents,
  columns: eventColumns,
  rows: batches.flatMap(({ events, environment }) =>
    events.map(({ event_type, data }): Row => {
      const cells = { event_type, environment, event_name: data.event_name, event_data: JSON.stringify(data) }
      return eventColumns.map((name) => cells[name as keyof typeof cells] ?? null)
    }),
  ),
  settings: events,
  missing: { bucketUri: 's3://missing-bucket/shop' },
})

describe('a preset as a source', () => {
  const open = (settings = {}, cursor?: { after: string }) =>
    theTradeDeskReds.source?.open?.(
      testContext({ secrets, settings: { ...impressions, ...settings }, ...(cursor && { cursor }) }),
    )
  const countOf = async (reader: Awaited<ReturnType<typeof open>>) => {
    let rows = 0
    for await (const chunk of reader?.read() ?? []) rows += chunk.rows.length
    await reader?.close()
    return rows
  }

  test('reads the files after the last one, or after the one that the connection names', async () => {
    const name = 'impressions/date=2026-11-01/hour=01/part_0.log.gz'
    assert.equal(await countOf(await open({}, { after: name })), 20_000)
    assert.equal(await countOf(await open({ startAfter: `s3://reds/${name}` })), 20_000)
    assert.equal(await countOf(await open({}, { after: 'impressions/z' })), 0)
    assert.equal(await countOf(await open({ bucketUri: 's3://reds/empty/' })), 0)
  })

  test('needs different columns', async () => {
    for (const wrong of ['a,a', 'a,,b', ' ']) {
      const [, code] = await connectorErrorOf(Promise.resolve(open({ columns: wrong })))
      assert.equal(code, 'invalid_setting')
    }
  })
})

const members = Array.from({ length: 600 }, (_, n): Row => [user(n), `${n + 1},${n + 2}`, n % 2 ? '7' : null])
const inbound = { outputPath: 's3://inbound/acme', dataSourceId: '478' }
const folder = 'acme/date=2026-01-31/'

acceptDestination({
  ...both,
  connector: adobeAudienceManager,
  columns: ['userId', 'traits', 'removedTraits'],
  rows: members,
  settings: inbound,
  missing: { ...inbound, outputPath: 's3://missing-bucket/acme' },
  badRows: [{ row: ['a b', '1', null], reason: /white space/, field: 'userId' }],
  async readBack() {
    const names = await s3.names('inbound', folder)
    assert.deepEqual(
      names.filter((name) => name !== `${folder}ftp_dpm_478_1769860800.sync.gz`),
      [],
    )
    if (!names[0]) return []
    const lines = gunzipSync(await s3.read('inbound', names[0]))
      .toString()
      .split('\n')
      .slice(0, -1)
    return lines.map((line): Row => {
      const [id = '', traits = ''] = line.split('\t')
      const of = (prefix: string) =>
        traits
          .split(',')
          .filter((trait) => trait.startsWith(`${prefix}=`))
          .map((trait) => trait.slice(prefix.length + 1))
          .join(',') || null
      return [id, of('d_sid'), of('d_unsid')]
    })
  },
  reset: () => s3.empty('inbound', folder),
  deduplicates: true,
  visible: 'when finished',
})

const seen = Array.from({ length: 600 }, (_, n): Row => [user(n), `a ${n},b`, 'true'])
const day = 'acme/feed/20260131/'

acceptDestination({
  ...both,
  connector: lotameAudiences,
  columns: ['PANO', 'audienceSegments', 'consent'],
  rows: seen,
  settings: { outputPath: 's3://lotame/acme/feed' },
  missing: { outputPath: 's3://missing-bucket/acme/feed' },
  badRows: [{ row: ['a', 'b', null], reason: /no consent/, field: 'consent' }],
  async readBack() {
    const names = await s3.names('lotame', day)
    if (!names.includes(`${day}segmentmembership.json.gz`)) return []
    const file = await s3.read('lotame', `${day}segmentmembership.json.gz`)
    if (names.length > 1) {
      const files = ['20260131.done', 'segmentmembership.json.gz', 'segmentmembership.json.gz.md5']
      assert.deepEqual(
        names.toSorted(),
        files.map((name) => day + name),
      )
      assert.equal((await s3.read('lotame', `${day}20260131.done`)).length, 0)
      const checksum = (await s3.read('lotame', `${day}segmentmembership.json.gz.md5`)).toString()
      assert.equal(checksum, `${createHash('md5').update(file).digest('hex')}  segmentmembership.json.gz\n`)
    }
    return gunzipSync(file)
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((line): Row => {
        const { userid, idtype, segments, consent } = JSON.parse(line)
        assert.deepEqual([idtype, consent], ['PANO', true])
        return [userid, segments.map(({ name }: { name: string }) => name).join(','), 'true']
      })
  },
  reset: () => s3.empty('lotame', day),
  deduplicates: true,
  visible: 'when finished',
})

test('a set of files of the same day by another transfer is left alone', async () => {
  await s3.empty('lotame', day)
  await s3.put('lotame', `${day}20260131.done`, Buffer.from('of another program'))
  const columns = ['PANO', 'audienceSegments', 'consent']
  const context = testContext({ secrets, columns, settings: { outputPath: 's3://lotame/acme/feed' } })
  const writer = await lotameAudiences.destination?.deliver?.open(context)
  assert.ok(writer)
  const [, code] = await connectorErrorOf(writer.deliver(batchOf(columns, seen.slice(0, 2))))
  assert.equal(code, 'request_refused')
  assert.deepEqual(await s3.names('lotame', day), [`${day}20260131.done`])
})

await s3.put('segments', 'S3_1234_45454_iter_1486140844000.sync.gz', gzipSync('u1 1,2 3\nu2 4\n'))

test('segments that Adobe delivers are read from the top of a bucket', async () => {
  const settings = { bucketUri: 's3://segments' }
  const reader = await adobeAudienceManager.source?.open?.(testContext({ secrets, settings }))
  const rows: Row[] = []
  for await (const chunk of reader?.read() ?? []) rows.push(...chunk.rows)
  assert.deepEqual(rows, [
    ['u1', '1,2', '3'],
    ['u2', '4', null],
  ])
})
