import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Row } from '@penstock/connector'
import { acceptDestination, acceptSource, testContext } from '@penstock/connector/acceptance'
import { hangOf, problemsOf } from '../../../test/object-store-server.ts'
import { startS3TestServer, testServerName } from '../../../test/s3-server.ts'
import { refuse } from '../../../test/s3-signature.ts'
import { connectorErrorOf } from '../../../test/tables.ts'
import { adobeAudienceManager } from '../../adobe/adobe-audience-manager.ts'
import { mparticleEvents } from '../../mparticle/mparticle-events.ts'
import { theTradeDeskReds } from '../../the-trade-desk/the-trade-desk-reds.ts'

/** Presets over Amazon S3: files in the layout of a platform become rows, and rows a file. */

const s3 = await startS3TestServer(
  ['segments', 'reds', 'inbound', 'mp-forwarding'],
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
