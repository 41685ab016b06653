import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { memoryStore } from '../../../connector/src/files/memory-store.ts'
import { readNew } from '../kit/run/preset-files.ts'
import { eventFiles } from './event-files.ts'
import { mparticleEvents } from './mparticle-events.ts'

const columns = Object.keys(mparticleEvents.source?.records ?? {})
const preset = eventFiles(
  Object.fromEntries(
    columns.slice(0, 11).map((name) => [name, mparticleEvents.source?.records?.[name] ?? assert.fail()]),
  ),
)
const name = (time: string) => `events/2026-01-31/mPTravel_${time}_34523.txt`

async function readAfter(all: Record<string, Buffer | string>, cursor?: Json) {
  const reader = await readNew(preset, testContext(cursor === undefined ? {} : { cursor }), memoryStore(all))
  const rows: unknown[] = []
  let last: Json | undefined
  for await (const chunk of reader.read()) {
    assert.deepEqual(chunk.columns, columns)
    rows.push(
      ...chunk.rows.map((row, at) => {
        const filled = columns.flatMap((column, place) => (row[place] === null ? [] : [[column, row[place]]]))
        return chunk.errors?.get(at) ?? Object.fromEntries(filled)
      }),
    )
    last = chunk.cursor
  }
  await reader.close()
  return { rows, cursor: last }
}

const batch = `{"events":[{"data":{"event_name":"Buy \\"now\\"","custom_event_type":"transaction","event_id":6004677780660780001,"timestamp_unixtime_ms":"1595542763908","custom_attributes":{"value":"1"},"product_action":{"action":"purchase"}},"event_type":"commerce_event"},{"data":{"screen_name":"Home"},"event_type":"screen_view"}],"user_identities":[{"identity_type":"customer_id","identity":"c-1"},{"identity_type":"email","identity":"a@example.com"}],"device_info":{"ios_advertising_id":"I-1"},"environment":"production","mpid":7346244611012968789,"user_attributes":{}}`
const person = {
  mpid: '7346244611012968789',
  customer_id: 'c-1',
  email: 'a@example.com',
  user_identities: '{"customer_id":"c-1","email":"a@example.com"}',
  idfa: 'I-1',
  device_info: '{"ios_advertising_id":"I-1"}',
  environment: 'production',
}

describe('files of events from mParticle', () => {
  test('give a row for each event, with its batch, and keep all digits', async () => {
    const fed = '{"events":[{"data":{},"event_type":"session_start"}],"user_identities":{"customer_id":"c-2"}}'
    const { rows } = await readAfter({
      [name('20260131170911644493')]: `${batch}\n{"events":[]}\n\nnot json\n[1]\n`,
      [`${name('20260131170911644494')}.gz`]: gzipSync(`${fed}\n`),
      'events/mParticle_Bucket_Verification_20260131-170911.txt': '{}',
    })
    assert.deepEqual(rows, [
      {
        event_id: '6004677780660780001',
        timestamp_unixtime_ms: '1595542763908',
        custom_attributes: '{"value":"1"}',
        event_type: 'commerce_event',
        event_name: 'Buy "now"',
        custom_event_type: 'transaction',
        event_data:
          '{"event_name":"Buy \\"now\\"","custom_event_type":"transaction","event_id":6004677780660780001,"timestamp_unixtime_ms":"1595542763908","custom_attributes":{"value":"1"},"product_action":{"action":"purchase"}}',
        ...person,
      },
      { event_type: 'screen_view', event_name: 'Home', event_data: '{"screen_name":"Home"}', ...person },
      'The line is not a JSON object.',
      'The line is not a JSON object.',
      { event_type: 'session_start', customer_id: 'c-2', user_identities: '{"customer_id":"c-2"}' },
    ])
  })

  test('are read once, by the time in their names, and not before they have settled', async () => {
    const line = '{"events":[{"data":{},"event_type":"session_end"}]}\n'
    const now = new Date().toISOString().replaceAll(/\D/g, '').padEnd(20, '0')
    const files = { [name('20260131170911644493')]: line, [name('20260131170911')]: line, [name(now)]: line }
    const { rows, cursor } = await readAfter(files)
    assert.equal(rows.length, 2)
    assert.deepEqual(cursor, { after: '20260131170911644493_34523' })
    assert.deepEqual(await readAfter(files, cursor), { rows: [], cursor: undefined })
    const other = { ...files, 'events/2026-01-30/Another app_20260201000000000000_00001.txt': line }
    assert.equal((await readAfter(other, cursor)).rows.length, 1)
  })
})
