import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Connector } from '@penstock/connector'
import { connectors, listedConnectors } from '@penstock/connectors'
import { contentOf } from './harness/content.ts'
import { callerOf, connectorBySlug, destination, source } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

/** Which connectors can be paired (invariant 2): what is listed, and what can be created. */

const service = await startTests()
const caller = callerOf(service, await service.addOrganization())
const accountId = (await caller.addAccount()).id

const fieldsOf = ({ details }: { details: { field: string }[] }) => details.map(({ field }) => field).sort()
const unknownId = '0123456789abcdef'
const reporting = connectorBySlug('google-ads-reporting')
const audiences = connectorBySlug('meta-custom-audiences')
const crm = connectorBySlug('salesforce-crm')
const conversions = connectorBySlug('meta-conversions')
const identity = connectorBySlug('liveramp-id-match')

describe('supported connectors', () => {
  /** Compatible categories. Sources are the rows (`docs/api-decisions.md`, section 3). */
  const feeds: Record<string, readonly string[]> = {
    'audience activation': ['audience activation', 'data store'],
    'identity management': ['identity management', 'audience activation', 'data store'],
    reporting: ['reporting', 'data store'],
    'data store': [
      'audience activation',
      'identity management',
      'reporting',
      'data store',
      'campaign management',
      'events',
    ],
    'campaign management': ['campaign management', 'data store'],
    events: ['events', 'data store'],
  }
  const canBe = (connector: Connector, role: string) => connector.supportedType.split(', ').includes(role)
  const fits = (src: Connector, dest: Connector) =>
    canBe(src, 'Source') && canBe(dest, 'Destination') && feeds[src.dataTypeCategory]?.includes(dest.dataTypeCategory)
  const supported = async (query: Record<string, string | boolean>, inAccount = accountId) =>
    (await caller.expect(caller.call('listSupportedConnectors', { accountId: inAccount, query }))).map(
      ({ name }) => name,
    )
  const byName = (found: readonly Connector[]) =>
    found.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en'))

  test('of each source are the destinations that fit, of each destination the sources, by name', async () => {
    for (const connector of connectors) {
      const dests = await supported({ srcConnectorId: connector.id })
      assert.deepEqual(
        dests,
        byName(listedConnectors.filter((other) => fits(connector, other))),
        `from ${connector.slug}`,
      )
      const srcs = await supported({ destConnectorId: connector.id })
      assert.deepEqual(srcs, byName(listedConnectors.filter((other) => fits(other, connector))), `to ${connector.slug}`)
    }
  })

  test('are kept to those that are added, or are not', async () => {
    const { id } = await caller.addAccount()
    await caller.addConnectors(id, crm, destination)
    const all = await supported({ srcConnectorId: crm.id }, id)
    const added = await supported({ srcConnectorId: crm.id, added: true }, id)
    const others = await supported({ srcConnectorId: crm.id, added: false }, id)
    assert.deepEqual(added, ['Salesforce CRM', 'Snowflake Data Store'])
    assert.deepEqual([...added, ...others].sort(), all.toSorted())
  })

  test('need exactly one connector that the catalogue has', async () => {
    const ask = (query: Record<string, string>) => caller.call('listSupportedConnectors', { accountId, query })
    const both = ['query.destConnectorId', 'query.srcConnectorId']
    for (const query of [{}, { srcConnectorId: source.id, destConnectorId: destination.id }]) {
      const reply = await ask(query)
      assert.deepEqual([reply.status, reply.error, fieldsOf(reply)], [400, 'invalid_request', both])
    }
    for (const query of [{ srcConnectorId: unknownId }, { destConnectorId: unknownId }]) {
      const reply = await ask(query)
      assert.deepEqual([reply.status, reply.error], [404, 'not_found'])
    }
  })
})

describe('a pair', () => {
  const both = [reporting, audiences, crm, conversions, identity, source, destination]
  before(() => caller.addConnectors(accountId, ...both))
  const pair = (src: Connector, dest: Connector) =>
    caller.call('createConnection', {
      accountId,
      body: { name: 'Pair', srcConnectorId: src.id, destConnectorId: dest.id },
    })

  for (const [src, dest] of [
    [source, destination],
    [source, audiences],
    [source, conversions],
    [source, identity],
    [crm, audiences],
    [crm, crm],
    [crm, destination],
    [reporting, destination],
  ] as const) {
    test(`of ${src.slug} and ${dest.slug} is made`, async () => {
      const { status, response } = await pair(src, dest)
      assert.equal(status, 201)
      assert.deepEqual([response.src.connectorId, response.dest.connectorId], [src.id, dest.id])
      assert.deepEqual([response.src.connectorName, response.dest.connectorName], [src.name, dest.name])
    })
  }

  for (const [src, dest, reasons] of [
    [source, source, [/Amazon S3 Source cannot be a destination/]],
    [destination, destination, [/Snowflake Data Store cannot be a source/]],
    [reporting, audiences, [/reporting data cannot go to audience activation/]],
    [crm, conversions, [/audience activation data cannot go to events/]],
    [crm, identity, [/audience activation data cannot go to identity management/]],
    [destination, source, [/Snowflake Data Store cannot be a source/, /Amazon S3 Source cannot be a destination/]],
    [
      conversions,
      reporting,
      [
        /Meta Conversions cannot be a source/,
        /Google Ads Reporting cannot be a destination/,
        /events data cannot go to reporting/,
      ],
    ],
  ] as const) {
    test(`of ${src.slug} and ${dest.slug} is refused with every reason`, async () => {
      const content = await contentOf(service)
      const { status, error, details } = await pair(src, dest)
      assert.deepEqual([status, error, details.length], [422, 'connectors_incompatible', reasons.length])
      for (const [i, reason] of reasons.entries()) assert.match(details[i]?.message ?? '', reason)
      assert.equal(await contentOf(service), content)
    })
  }
})
