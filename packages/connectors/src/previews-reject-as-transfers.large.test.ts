import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Batch,
  type Cell,
  type Connector,
  ConnectorError,
  type Delivery,
  type Fields,
  type RecordField,
  type Records,
  type Rejection,
  type Row,
  type Values,
} from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { isChosen } from '../../../test/harness/chosen-connectors.ts'
import fc from '../../../test/harness/property.ts'
import { assertRows, digest, dirt, guid } from '../test/dirty-rows.ts'
import { type PreviewStore, previewStores } from '../test/preview-stores.ts'
import { makeSshKey } from '../test/ssh-keys.ts'
import { batchOf } from '../test/tables.ts'
import { connectors } from './index.ts'

/**
 * A preview rejects the rows that a delivery rejects, at every destination of the catalogue. Platforms are not here: a delivery of
 * one row either rejects it, for the same reason, or asks for the network. Databases, file stores and webhooks have a server here.
 */

/** Values that a destination requires and that its definition does not contain. */
type Special = {
  /** Settings and secrets. All others are `500`, or the first of their options. */
  readonly values?: Values
  /** Cells that a row needs to be sent. */
  readonly cells?: Readonly<Record<string, Cell>>
}

const now = new Date().toISOString()
const describedOperation = `
operations:
  add:
    path: /people
    batch: { rows: 10 }
    columns: { email: { type: text, required: true }, age: { type: whole number } }
    body: { people: "{{ rows }}" }
    result: { rows: { at: errors, index: entry.index, reason: "{{ entry.message }}" } }
`
const specials: Readonly<Record<string, Special>> = {
  'acoustic-relational-tables': { values: { pod: 'us-1' } },
  activecampaign: { values: { apiUrl: 'https://acme.api-us1.com' } },
  'amazon-ads-data-manager-audiences': { values: { country: 'US' } },
  'amazon-ads-data-manager-dsp-audiences': { values: { country: 'US' } },
  'amazon-ads-dsp-events': {
    values: { country: 'US', dataSetName: 'Shop_Events' },
    cells: { advertiserId: '500', eventType: 'LEAD' },
  },
  'campaign-manager-360-conversions': {
    cells: { floodlightActivityId: '500', floodlightConfigurationId: '500', ordinal: '1', gclid: 'abc' },
  },
  'google-ads-campaign-posting': {
    values: { budgetMax: 500, increaseMax: 500 },
    cells: { level: 'campaign', name: 'Campaign', type: null },
  },
  'linkedin-offline-conversions': { values: { currency: 'EUR' } },
  'meta-app-events': {
    cells: { app_platform: 'ios', application_tracking_enabled: '1', advertiser_tracking_enabled: '1' },
  },
  'meta-campaign-posting': {
    values: { budgetMax: 500, increaseMax: 500 },
    cells: { level: 'campaign', name: 'Campaign', optimization_goal: null, billing_event: null },
  },
  'microsoft-ads-events': { values: { currency: 'EUR' } },
  'microsoft-uet-conversions': { cells: { event_name: 'purchase' } },
  'mparticle-events': { values: { region: 'US1' }, cells: { timestamp_unixtime_ms: now, event_name: 'Lead' } },
  'hubspot-crm': {
    values: { objectType: 'contacts', idProperty: 'Email', properties: 'email', associationColumn: 'Name' },
  },
  'uid2-identity-map': {
    values: { outcomes: 'Outcomes', clientSecret: Buffer.alloc(32).toString('base64') },
    cells: { email: 'a@example.com' },
  },
  'euid-identity-map': {
    values: { outcomes: 'Outcomes', clientSecret: Buffer.alloc(32).toString('base64') },
    cells: { email: 'a@example.com' },
  },
  'liveramp-transcoding': {
    values: { outcomes: 'Outcomes', partnerEncoding: 'T001' },
    cells: { ramp_id: 'XYT001abcdefghijkl' },
  },
  'liveramp-envelope-decryption': { values: { outcomes: 'Outcomes' }, cells: { envelope: 'AbCd' } },
  'liveramp-id-match': {
    values: { authentication: 'password' },
    cells: { AUDIENCEKEY: 'k', EMAIL1: 'a@example.com' },
  },
  'lotame-audiences': {
    values: {
      outputPath: 's3://bucket/acme',
      endpoint: 'https://minio.example.com',
      region: 'eu-central-1',
      roleArn: 'arn:aws:iam::123456789012:role/Lotame',
    },
    cells: { PANO: 'p', audienceSegments: 'a', consent: 'true' },
  },
  'nexxen-audiences': { values: { sshPrivateKey: makeSshKey('ed25519').private } },
  'pinterest-campaign-posting': {
    values: { budgetMax: 500, increaseMax: 500 },
    cells: {
      level: 'campaign',
      name: 'Campaign',
      budget_type: null,
      billable_event: null,
      bid_strategy_type: null,
      placement_group: null,
      pacing_delivery_type: null,
    },
  },
  'pinterest-conversions': { cells: { event_name: 'lead', action_source: 'web' } },
  'reddit-conversions': { cells: { event_name: 'lead', action_source: 'website' } },
  braze: { values: { restEndpoint: 'https://rest.iad-01.braze.com' } },
  'http-api': {
    values: {
      url: 'https://api.example.com',
      servers: 'files=https://files.example.com/v1',
      operation: 'add',
      removal: '',
      definition: describedOperation,
    },
  },
  marketo: { values: { baseUrl: 'https://123-ABC-456.mktorest.com' } },
  mailchimp: { values: { apiKey: `${'0'.repeat(32)}-us1` } },
  'salesforce-crm': { values: { objectName: 'Contact', externalIdField: 'Email' } },
  'salesforce-marketing-cloud-data-extensions': { values: { operationType: 'Add Data' } },
  'snapchat-conversions': { cells: { event_name: 'SIGN_UP', action_source: 'WEB' } },
  // Digests in Base64. People who replace others are buffered until the end.
  'the-trade-desk-crm-audiences': {
    cells: { action: 'add', Email_SHA256: Buffer.from(digest, 'hex').toString('base64') },
  },
  'ecapi-events': { values: { endpoint: 'https://events.example.com/v1', currency: 'EUR' }, cells: { timestamp: now } },
  'yahoo-dsp-conversions': { cells: { actionSource: 'web', eventTs: now } },
}

/** Destinations that this test cannot compare, and why. */
const uncompared: Readonly<Record<string, string>> = {
  'adobe-audience-manager':
    'It asks for the network when a part of the file is large enough. One function reads the rows of both.',
  'amazon-ads-dsp-audiences':
    'It rejects rows that remove people from an audience that the connection does not know, without asking. One function reads the rows of both.',
  'amazon-dsp-conversions': 'It asks the platform before it reads a row. Its own test compares both.',
}

const valuesOf = (fields: Fields, own: Values): Values =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, { type, options, min, default: usual }]) => {
      if (own[key] !== undefined) return [[key, own[key]]]
      if (type === 'Boolean') return []
      return [[key, usual ?? options?.[0] ?? (type === 'Number' ? (min ?? 1) : '500')]]
    }),
  )

/** Cells that a column expects, as far as its definition describes them. */
function clean(key: string, { values, hashed, required, oneOf }: RecordField): fc.Arbitrary<Cell> {
  if (hashed) return fc.constantFrom<Cell>(digest, null)
  if (values) return fc.constantFrom<Cell>(...values, ...(required ? [] : [null]))
  const filled = /time|date/i.test(key) ? now : guid
  if (required) return fc.constant(filled)
  return oneOf === undefined ? fc.constant(null) : fc.constantFrom(null, null, null, null, filled)
}

const rowOf = (records: Records, cells: Readonly<Record<string, Cell>>): fc.Arbitrary<Row> => {
  const columns = Object.entries(records)
  const change = fc.constantFrom(...columns.keys()).chain((at) => {
    const [key = '', field] = columns[at] ?? []
    return fc.tuple(fc.constant(at), field ? fc.oneof(dirt, clean(key, field)) : dirt)
  })
  return fc
    .tuple(
      fc.tuple(...columns.map(([key, field]) => (key in cells ? fc.constant(cells[key] ?? null) : clean(key, field)))),
      fc.array(change, { maxLength: 3 }),
    )
    .map(([good, changes]) => {
      const row = [...good]
      for (const [at, cell] of changes) row[at] = cell
      return row
    })
}

async function compare(connector: Connector, counts: { rejected: number; sent: number }): Promise<void> {
  const { deliver, fields } = connector.destination ?? {}
  assert.ok(deliver?.rejectionsOf && fields)
  const { values = {}, cells = {} } = specials[connector.slug] ?? {}
  const [settings, secrets] = [valuesOf(fields, values), valuesOf(connector.secrets, values)]
  const records = await recordsOf(connector, { settings, secrets })
  const columns = Object.keys(records)
  let asked = false
  const ask = (): never => {
    asked = true
    throw new ConnectorError('address_not_allowed', 'There is no network.')
  }
  const egress = { request: async () => ask(), connect: async () => ask() }
  const find = await deliver.rejectionsOf({ settings, secrets })
  const writer = await deliver.open(testContext({ settings, secrets, columns, egress }))
  assert.equal(asked, false, 'opening asks')
  const send = async (batch: Batch): Promise<Delivery | undefined> => {
    asked = false
    try {
      return await writer.deliver(batch)
    } catch (error) {
      if (!asked) throw error
      return undefined
    }
  }
  const batchOf = (rows: readonly Row[]): Batch => ({ key: '0'.repeat(32), columns, rows, firstRow: 1 })
  await assertRows(rowOf(records, cells), async (rows) => {
    const rejected = find(batchOf(rows))
    const unsent = new Set(rejected.map(({ index }) => index))
    for (const [at, row] of rows.entries()) {
      const delivery = await send(batchOf([row]))
      const previewed = rejected.filter(({ index }) => index === at).map((one) => ({ ...one, index: 0 }))
      if (previewed.length > 0) {
        assert.equal(asked, false, 'a row is sent that a preview rejects')
        assert.deepEqual(delivery?.rejected, previewed)
        counts.rejected++
      } else {
        assert.ok(asked, `a row is rejected that a preview shows: ${JSON.stringify(delivery?.rejected)}`)
        counts.sent++
      }
    }
    const bad = rows.filter((_, at) => unsent.has(at))
    if (bad.length === 0) return
    assert.deepEqual((await send(batchOf(bad)))?.rejected, find(batchOf(bad)))
    assert.equal(asked, false)
  })
}

/** The columns of a destination: of its definition, of its operation if it has operations, otherwise any two. */
async function recordsOf({ destination }: Connector, given: { settings: Values; secrets: Values }): Promise<Records> {
  const { records, discover, deliver } = destination ?? {}
  if (records) return records
  if (!deliver?.try || !discover?.columns) return { Email: {} as RecordField, Name: {} as RecordField }
  const asked = { ...testContext(given), search: '', cursor: undefined, size: 100, withSamples: false }
  const { items } = await discover.columns(asked)
  return Object.fromEntries(
    items.map(({ value, required }) => [value, { ...(required && { required }) } as RecordField]),
  )
}

/** A preview and a delivery of the same rows to a server of the destination that runs here. */
async function compareStore(connector: Connector, store: PreviewStore, counts: { rejected: number; sent: number }) {
  const columns = Object.keys(store.columns)
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)
  const ids = fc.integer({ min: 1, max: 30 })
  const cells = fc.array(fc.tuple(fc.nat(columns.length - 1), dirt), { maxLength: 2 })
  const row = fc.tuple(ids, cells).map(([id, changes]) => {
    const cellsOfRow = { ...store.columns, id: String(id), code: `c${id}` }
    const row: Cell[] = columns.map((column) => cellsOfRow[column as keyof typeof cellsOfRow] ?? null)
    for (const [at, cell] of changes) row[at] = cell
    return row
  })
  let number = 0
  for (const settings of store.settings) {
    await assertRows(
      row,
      async (rows) => {
        await store.reset()
        const options = { ...store.context, settings, columns }
        const batch = { ...batchOf(columns, rows, ++number), columns }
        const find = await deliver.rejectionsOf?.({ settings, secrets: store.context.secrets ?? {} })
        const tried = await deliver.tryRows?.({ ...testContext(options), rows })
        assert.deepEqual(tried?.untried ?? [], [])
        const previewed = [...(find?.(batch) ?? []), ...(tried?.rejected ?? [])]
        const writer = await deliver.open(
          testContext({ ...options, transferId: number.toString(16).padStart(16, '0') }),
        )
        try {
          const delivered = await writer.deliver(batch)
          const flushed = await writer.flush?.()
          await writer.finish?.()
          const rejected = [...(delivered.rejected ?? []), ...(flushed?.rejected ?? [])]
          assert.deepEqual(indexesOf(previewed), indexesOf(rejected), JSON.stringify(rejected))
          counts.rejected += rejected.length
          counts.sent += rows.length - rejected.length
        } finally {
          await writer.close?.()
        }
      },
      store.settings.length,
    )
  }
}

const indexesOf = (rejected: readonly Rejection[]): number[] =>
  rejected.map(({ index }) => index ?? -1).sort((a, b) => a - b)

describe('a preview shows the rows that a delivery accepts, and no others', () => {
  for (const connector of connectors.filter(isChosen)) {
    const { slug, destination } = connector
    if (!destination?.deliver) continue
    const counts = { rejected: 0, sent: 0 }
    const start = previewStores[slug]
    if (slug in uncompared) test(slug, { skip: uncompared[slug] }, () => {})
    else if (start) {
      test(slug, async (t) => {
        const store = await start()
        if (!store) return t.skip('Its server is not installed.')
        try {
          await compareStore(connector, store, counts)
        } finally {
          await store.close()
        }
        assert.ok(counts.sent > 0 && counts.rejected > 0 === store.rejects, JSON.stringify(counts))
      })
    } else {
      test(slug, async () => {
        assert.ok(destination.deliver?.rejectionsOf, `no server in preview-stores.ts, and no reason in uncompared`)
        await compare(connector, counts)
        assert.ok(counts.rejected > 0 && counts.sent > 0, JSON.stringify(counts))
      })
    }
  }
})
