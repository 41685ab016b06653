import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kindOfPlatform, listedConnectors } from '@penstock/connectors'
import { httpApiConnectorId, uploadedFileConnectorId, webhookConnectorId } from '@penstock/wire'
import { matching, routeOf, searched } from '../packages/console/src/screens/catalogue/route.ts'
import { makeReader, replacePart, withSource } from '../packages/console/src/screens/catalogue/sentence.ts'
import { isOneEdit, type KnownConnector } from '../packages/console/src/screens/catalogue/vocabulary.ts'
import { connectorBySlug } from './harness/fixtures.ts'

/** Sentences of the catalogue, over all connectors: what is understood, and the resulting route. */

const known: KnownConnector[] = listedConnectors.map((connector) => ({
  connectorId: connector.id,
  name: connector.name,
  dataType: connector.dataType,
  dataTypeCategory: connector.dataTypeCategory,
  platformId: connector.platformId,
  platformType: connector.platform.type,
  supportedType: connector.supportedType,
  transfer: connector.integrated,
  platform: connector.platform.name,
  kind: kindOfPlatform(connector.platform.slug) ?? null,
  alsoCalled: [...(connector.platform.alsoCalled ?? [])],
}))
const read = makeReader(known)
const routeIn = (text: string, added: Record<string, boolean> = {}) =>
  routeOf(read(text), known, new Map(Object.entries(added)))
/** A route in one line: `Shopify Admin > Google BigQuery Data Store`. */
const line = (text: string, added: Record<string, boolean> = {}): string => {
  const { source, destinations = [], entity } = routeIn(text, added) ?? {}
  const to = destinations.map(({ connector }) => connector.name).join(' + ')
  return [source?.connector.name ?? '?', ...(to ? ['>', to] : []), ...(entity ? [`(${entity.id})`] : [])].join(' ')
}
const sides = (text: string): string[] => {
  const { source, destinations = [] } = routeIn(text) ?? {}
  return [...(source ? [source] : []), ...destinations].map(({ connector }) => connector.connectorId)
}

describe('a sentence of the catalogue', () => {
  for (const [text, expected] of [
    ['shopify orders to bigquery', 'Shopify Admin > Google BigQuery Data Store (orders)'],
    ['Shopify orders → Big Query', 'Shopify Admin > Google BigQuery Data Store (orders)'],
    ['shoppify ordres to bigqery', 'Shopify Admin > Google BigQuery Data Store (orders)'],
    ['purchases to Meta and Google', 'Uploaded file > Meta Conversions + Google Ads Conversions (purchases)'],
    [
      'customers to facebook & tiktok',
      'Uploaded file > Meta Custom Audiences + TikTok Audience Management (customers)',
    ],
    ['csv to postgres', 'Uploaded file > PostgreSQL'],
    ['excel to warehouse', 'Uploaded file > Snowflake Data Store'],
    ['rest api', 'HTTP API'],
    ['custom', 'HTTP API'],
    ['upload a file', 'Uploaded file'],
    ['s3', 'Amazon S3 Source'],
    ['ga4 to snowflake', 'Google Analytics 4 > Snowflake Data Store'],
    ['audience from hubspot to meta', 'HubSpot CRM > Meta Custom Audiences (audience)'],
    ['google ads spend into bq', 'Google Ads Reporting > Google BigQuery Data Store (reports)'],
    ['mariadb to postgres', 'MySQL / MariaDB > PostgreSQL'],
    ['google customer match', 'Uploaded file > Google Ads Customer Match'],
    ['meta capi', 'Uploaded file > Meta Conversions (purchases)'],
    ['Amazon S3 to Amazon S3 Source', 'Amazon S3 Source > Amazon S3 Destination'],
  ] as const) {
    test(`“${text}” becomes ${expected}`, () => assert.equal(line(text), expected))
  }

  test('is read of what the sub-account has: a configured connector comes before the others', () => {
    const [s3, postgresql] = [connectorBySlug('amazon-s3-source').id, connectorBySlug('postgresql').id]
    assert.equal(line('csv to postgres', { [s3]: true }), 'Amazon S3 Source > PostgreSQL')
    assert.equal(line('purchases to Meta', { [postgresql]: true }), 'PostgreSQL > Meta Conversions (purchases)')
    assert.equal(line('purchases to Meta', { [postgresql]: false }), 'Uploaded file > Meta Conversions (purchases)')
  })

  test('says why two connectors cannot be paired', () => {
    assert.deepEqual(routeIn('ga4 to Meta Custom Audiences')?.obstacles, [
      'reporting data cannot go to audience activation',
    ])
  })

  test('gives no route of words that it does not understand, which are searched for instead', () => {
    assert.equal(routeIn('no such thing'), undefined)
    assert.deepEqual(searched('no such thing', known), [])
    assert.deepEqual(
      searched('clickh', known).map(({ name }) => name),
      ['ClickHouse Data Store', 'ClickHouse Source'],
    )
    assert.deepEqual(
      searched('redpan', known).map(({ name }) => name),
      ['Apache Kafka'],
    )
    assert.deepEqual(
      read('shopify foo to bigquery').parts.flatMap((part) => (part.as === 'unknown' ? [part.text] : [])),
      ['foo'],
    )
  })

  test('is changed by changing one of its words, or by a source in front of it', () => {
    const sentence = read('purchases to Meta and Google')
    const [, , meta] = sentence.parts
    assert(meta?.as === 'connector')
    const changed = replacePart(sentence, meta, 'Meta Custom Audiences')
    assert.equal(changed, 'purchases to Meta Custom Audiences and Google')
    assert.match(line(changed), /> Meta Custom Audiences \+ /)
    assert.equal(line(withSource(sentence, 'PostgreSQL')), line('PostgreSQL purchases to Meta and Google'))
    assert.equal(
      line(withSource(read('meta audiences'), 'PostgreSQL')),
      'PostgreSQL > Meta Custom Audiences (audience)',
    )
  })

  test('lists the connectors that its words name', () => {
    const names = matching(read('shopify orders to bigquery'), known).map(({ name }) => name)
    assert.deepEqual(names, ['Google BigQuery Data Store', 'Google BigQuery Source', 'Shopify Admin'])
    assert.equal(matching(read('Meta Custom Audiences'), known).length, 1)
  })
})

describe('every connector', () => {
  test('is understood by its name, and by it alone', () => {
    for (const { name, connectorId } of known) {
      const { parts } = read(name)
      assert.deepEqual(
        parts.map((part) => (part.as === 'connector' ? part.named : part.as)),
        [[connectorId]],
        name,
      )
    }
  })

  test('is understood by its name with one letter that is missing, wrong or swapped', () => {
    for (const { name, connectorId } of known) {
      for (const place of name.matchAll(/[a-z]/gi)) {
        const at = place.index
        const rest = name.slice(at + 1)
        for (const misspelt of [name.slice(0, at) + rest, `${name.slice(0, at)}q${rest}`]) {
          assert(sides(misspelt).includes(connectorId), `${misspelt} is ${line(misspelt)}`)
        }
      }
    }
  })

  test('is among the meanings of the name of its platform, and of each other name', () => {
    for (const { connectorId, platform, alsoCalled, name } of known) {
      for (const word of [platform, ...alsoCalled]) {
        const ids = read(word).parts.flatMap((part) => (part.as === 'connector' ? part.ids : []))
        assert(ids.includes(connectorId) || read(word).parts[0]?.as === 'entity', `${word} does not mean ${name}`)
      }
    }
  })

  test('has a platform with a kind, since no one calls a database a cloud storage provider', () => {
    assert.deepEqual(
      known.filter(({ kind }) => kind === null),
      [],
    )
    const kinds = (slug: string) => known.find(({ connectorId }) => connectorId === connectorBySlug(slug).id)?.kind
    assert.deepEqual(['postgresql', 'snowflake-source', 'amazon-s3-source', 'http-api'].map(kinds), [
      'database',
      'warehouse',
      'file store',
      'api',
    ])
  })
})

test('the identifiers that the console knows are those of the connectors', () => {
  assert.deepEqual(
    [httpApiConnectorId, webhookConnectorId, uploadedFileConnectorId],
    ['http-api', 'webhook', 'file-upload'].map((slug) => connectorBySlug(slug).id),
  )
})

test('two words are one edit apart', () => {
  for (const other of ['bigqery', 'bigquerry', 'bigquary', 'bgiquery', 'bigquer', 'xbigquery']) {
    assert(isOneEdit('bigquery', other) && isOneEdit(other, 'bigquery'), other)
  }
  for (const other of ['bigquery', 'bigqry', 'gibquery', 'bigqueries', 'query']) {
    assert(!isOneEdit('bigquery', other), other)
  }
})
