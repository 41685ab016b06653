import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Connector, ecapiEventTypes, ecapiFieldOf, ecapiSources, type Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectors } from '@penstock/connectors'
import { applyEcapi } from '@penstock/engine'
import { batchOf } from '../packages/connectors/test/platform-server.ts'
import { openJudge } from '../packages/connectors/test/published-requests.ts'
import { planRows } from '../packages/engine/src/map-rows.ts'
import { events as echoes } from './echoes/events.ts'
import { documentedEvents } from './harness/documented-events.ts'

/** Events in the form of the standard ECAPI, for every destination of conversions (docs/ecapi.md). */

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const connectorOf = (slug: string): Connector => connectors.find((one) => one.slug === slug) ?? assert.fail(slug)

/** Destinations of events that are no conversions, and why. */
const others: Readonly<Record<string, string>> = {
  'activecampaign-events': 'starts automations for a contact',
  'google-ads-conversion-adjustments': 'changes conversions that were reported before',
  'mparticle-events': 'collects events of any name for a customer data platform',
  'salesforce-marketing-cloud-journeys': 'starts journeys for a contact',
}
const destinations = connectors.filter(
  ({ dataTypeCategory, destination }) =>
    dataTypeCategory === 'events' && destination?.deliver && Object.keys(destination.records ?? {}).length > 0,
)

/** The columns of every source below: objects are JSON. */
const columns = [
  ...['data_set_id', 'id', 'timestamp', 'event_type', 'custom_event', 'value', 'currency_code', 'source'],
  ...['user_data', 'properties'],
]
type Event = Readonly<Record<string, unknown>>
const cellOf = (value: unknown) =>
  value === undefined ? null : typeof value === 'object' ? JSON.stringify(value) : (value as string | number)

/** Maps events with the template, and values that the standard does not have. */
async function mapped(connector: Connector, events: readonly Event[], more: Readonly<Record<string, string>> = {}) {
  const template = applyEcapi(connector, columns) ?? assert.fail(`${connector.slug} states no columns of ECAPI`)
  const constants = Object.fromEntries(Object.entries(more).map(([field, value]) => [field, { value }]))
  const text = JSON.stringify({ ...template.mapping, ...constants })
  const { mapping, fieldErrors } = await planRows(connector, columns, { settings: { mapping: text }, secrets: {} })
  assert.ok(mapping, JSON.stringify(fieldErrors))
  const { rows, errors } = mapping.map(events.map((event) => columns.map((column) => cellOf(event[column]))))
  return { batch: batchOf(mapping.columns, rows), errors, template }
}

const now = Math.floor(Date.now() / 1000) - 60
const event: Event = {
  data_set_id: 'shop',
  id: '42',
  timestamp: now,
  event_type: 'purchase',
  value: 22.5,
  currency_code: 'USD',
  source: 'website',
  user_data: {
    customer_identifier: sha256('user123'),
    email_address: [sha256('user@example.com')],
    phone_numbers: [sha256('+12125550000')],
    address: [
      {
        first_name: sha256('jane'),
        last_name: sha256('smith'),
        street: sha256('1 main st'),
        city: 'new york',
        state: 'ny',
        country_code: 'us',
        postal_code: sha256('10001'),
      },
    ],
    gender: sha256('female'),
    gpp_string: 'DBABMA~CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
    click_id: 'click-1',
    impression_id: '8a4b1c52-5b2f-4a57-9d25-1d1ad9a1a0f3',
    event_ip_address: '203.0.113.7',
    event_user_agent: 'Mozilla/5.0',
    ifa: '38400000-8cf0-11bd-b23e-10b96e40000d',
  },
  properties: {
    transaction_id: 'A-1',
    page_url: 'https://shop.example.com/thanks',
    referrer: 'https://shop.example.com/cart',
    search_term: 'shoes',
    items: [
      { id: 'sku-1', name: 'Shoe', price: 11.25, quantity: 2, brand: 'Acme', category: 'shoes', discount: 1, ext: {} },
    ],
  },
}

/** Settings of destinations that need more than the echoes have. */
const settingsOf: Readonly<Record<string, Values>> = {
  'tiktok-events': { pixelCode: 'C1', appId: '1', offlineEventSetId: '2' },
  'snapchat-conversions': { pixelId: 'p', snapAppId: 'a', appId: 'com.example' },
  'meta-app-events': { datasetId: '1', appPlatform: 'ios', appPackageName: 'com.example' },
}

describe('every destination of conversions takes events of ECAPI', () => {
  test('each states its columns, or is not a destination of conversions', () => {
    assert.ok(destinations.length >= 20)
    for (const { slug, destination } of destinations) {
      assert.equal(Boolean(destination?.ecapi), !Object.hasOwn(others, slug), slug)
    }
    for (const slug of Object.keys(others))
      assert.ok(
        destinations.some((one) => one.slug === slug),
        slug,
      )
  })

  for (const connector of destinations) {
    const { slug, destination } = connector
    if (!destination?.ecapi) continue
    test(`${connector.name}: every type and every place is sent, or the template says that it is not`, async () => {
      const echo = echoes.find((one) => one.slug === slug) ?? assert.fail(`${slug} has no echo`)
      const settings = { ...echo.settings, ...settingsOf[slug] }
      const events = [
        ...ecapiEventTypes.map((event_type) => ({ ...event, event_type, custom_event: 'ours' })),
        ...ecapiSources.map((source) => ({ ...event, source })),
      ]
      const { findings } = applyEcapi(connector, columns) ?? assert.fail()
      const more = Object.fromEntries(
        findings.map(({ field }) => [field, String(echo.row?.[field] ?? assert.fail(field))]),
      )
      const { batch, errors, template } = await mapped(connector, events, more)
      const rejectionsOf = await destination.deliver?.rejectionsOf?.(testContext({ settings, secrets: echo.secrets }))
      const rejected = new Map<number, string>([
        ...(rejectionsOf?.(batch) ?? []).map(({ index = -1, reason }): [number, string] => [index, reason]),
        ...[...errors].map(([index, { reason }]): [number, string] => [index, reason]),
      ])
      const said = template.losses.find(({ column }) => column === 'source')?.message ?? ''
      const lost = [...rejected].filter(([index]) => {
        const source = ecapiSources[index - ecapiEventTypes.length]
        return source === undefined || !/reject/.test(said) || !(said.includes(source) || said.includes('Rows of apps'))
      })
      assert.deepEqual(lost, [])
      assert.equal([...rejected].length > 0, /reject/.test(said))
    })
  }

  test('a field is sent, or the template names it as lost', () => {
    for (const connector of destinations) {
      const names = ['event_type', 'timestamp', 'user_data.age_range', 'user_data.mmt_only', 'user_data.gpp_string']
      const applied = applyEcapi(connector, names)
      if (!applied) continue
      const taken = Object.values(connector.destination?.ecapi?.columns ?? {}).map(ecapiFieldOf)
      for (const name of names.slice(2)) {
        const isLost = applied.losses.some(({ column }) => column === name)
        assert.equal(isLost, !taken.some((field) => field === name), `${connector.slug}: ${name}`)
      }
    }
  })
})

describe('one mapping gives the requests of the documents of platforms', () => {
  for (const {
    slug,
    source,
    event: given,
    more,
    start,
    routes,
    secrets,
    settings,
    requests,
    sent,
  } of documentedEvents) {
    test(`${slug}: ${source}`, async () => {
      const connector = connectorOf(slug)
      const { batch, errors } = await mapped(connector, [{ timestamp: now, ...given }], more)
      assert.deepEqual([...errors], [])
      await using server = { ...(await start()), [Symbol.asyncDispose]: async () => server.close() }
      const context = testContext({ secrets, settings, routes: routes(server.url), columns: batch.columns })
      const writer = await connector.destination?.deliver?.open(context)
      assert.deepEqual((await writer?.deliver(batch))?.rejected, [])
      const posted = server.received.findLast(({ path }) => requests.test(path))
      assert.deepEqual(posted?.json, sent(now))
      if (slug === 'pinterest-conversions' && posted) assert.equal(openJudge('pinterest').refusal(posted), undefined)
    })
  }
})
