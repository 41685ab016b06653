import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
  type Row,
  type Values,
} from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import ssh2 from 'ssh2'
import fc from '../../../test/harness/property.ts'
import { connectors } from './index.ts'

/**
 * A preview rejects the rows that a transfer rejects before it asks the platform, for the same reasons. There is no platform here: a
 * delivery of one row either rejects it, or asks for the network.
 */

/** Values that a destination requires and that its definition does not contain. */
type Special = {
  /** Settings and secrets; all others are `500`, or the first of their options. */
  readonly values?: Values
  /** Cells that a row needs to be sent. */
  readonly cells?: Readonly<Record<string, Cell>>
}

const now = new Date().toISOString()
const specials: Readonly<Record<string, Special>> = {
  activecampaign: { values: { apiUrl: 'https://acme.api-us1.com' } },
  'amazon-ads-dsp-events': {
    values: { country: 'US', dataSetName: 'Shop_Events' },
    cells: { advertiserId: '500', eventType: 'LEAD' },
  },
  'campaign-manager-360-conversions': {
    cells: { floodlightActivityId: '500', floodlightConfigurationId: '500', ordinal: '1', gclid: 'abc' },
  },
  'linkedin-offline-conversions': { values: { currency: 'EUR' } },
  'meta-app-events': {
    cells: { app_platform: 'ios', application_tracking_enabled: '1', advertiser_tracking_enabled: '1' },
  },
  'microsoft-ads-events': { values: { currency: 'EUR' } },
  'mparticle-events': { values: { region: 'US1' }, cells: { timestamp_unixtime_ms: now, event_name: 'Lead' } },
  'nexxen-audiences': { values: { sshPrivateKey: ssh2.utils.generateKeyPairSync('ed25519', {}).private } },
  'pinterest-conversions': { cells: { event_name: 'lead', action_source: 'web' } },
  'reddit-conversions': { cells: { event_name: 'lead', action_source: 'website' } },
  'salesforce-marketing-cloud-data-extensions': { values: { operationType: 'Add Data' } },
  'snapchat-conversions': { cells: { event_name: 'SIGN_UP', action_source: 'WEB' } },
}

/** A destination that asks the platform before it reads a row; its own test compares both. */
const asksFirst = 'amazon-dsp-conversions'

const valuesOf = (fields: Fields, own: Values): Values =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, { type, options, min, default: usual }]) => {
      if (own[key] !== undefined) return [[key, own[key]]]
      if (type === 'Boolean') return []
      return [[key, usual ?? options?.[0] ?? (type === 'Number' ? (min ?? 1) : '500')]]
    }),
  )

const digest = createHash('sha256').update('jane@example.com').digest('hex')
const guid = '00000000-0000-4000-8000-000000000001'
const times = [0, -3, -400, 2].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
const seconds = times.map((time) => String(Math.floor(Date.parse(time) / 1000)))

/** Cells that a column may not expect. */
const dirt = fc.oneof(
  fc.constantFrom<Cell>(
    null,
    '',
    ' ',
    '1.001,50',
    '12,5',
    '-1',
    '1e3',
    '0',
    '12025550100',
    'jane@example.com',
    'nobody',
  ),
  fc.constantFrom<Cell>(...times, ...seconds, '2026-11-22 10:00', '20.11.2026', '2026-02-30T10:00:00Z'),
  fc.constantFrom<Cell>('{', '[1]', '{"a":1}', '[{"id":1}]', 'x'.repeat(5_000), 'a\u0000b', 'a\tb', '\ud800'),
  fc.constantFrom<Cell>(0, -7.25, 1e21, 1_234_567_890, true, false, digest, digest.toUpperCase(), digest.slice(1)),
  fc.constantFrom<Cell>(guid, '500', 'US', 'EUR', '192.0.2.7', '2001:db8::1', 'https://example.com/?a=b', '12.50'),
  fc.string({ unit: 'binary' }),
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
  const {
    deliver,
    records = { Email: {} as RecordField, Name: {} as RecordField },
    fields,
  } = connector.destination ?? {}
  assert.ok(deliver?.rejectionsOf && fields)
  const { values = {}, cells = {} } = specials[connector.slug] ?? {}
  const [settings, secrets] = [valuesOf(fields, values), valuesOf(connector.secrets, values)]
  const columns = Object.keys(records)
  let asked = false
  const ask = (): never => {
    asked = true
    throw new ConnectorError('address_not_allowed', 'There is no network.')
  }
  const egress = { request: async () => ask(), resolve: async () => ask(), close: async () => {} }
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
  await fc.assert(
    fc.asyncProperty(fc.array(rowOf(records, cells), { minLength: 1, maxLength: 20 }), async (rows) => {
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
    }),
    { numRuns: 100 },
  )
}

describe('a preview rejects the rows that a transfer does not send', () => {
  for (const connector of connectors) {
    if (!connector.destination?.deliver?.rejectionsOf || connector.slug === asksFirst) continue
    test(connector.slug, async () => {
      const counts = { rejected: 0, sent: 0 }
      await compare(connector, counts)
      assert.ok(counts.rejected > 0 && counts.sent > 0, JSON.stringify(counts))
    })
  }
})
