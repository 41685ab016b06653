import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Transfer } from '@penstock/wire'
import { hubspotRoutes, hubspotSecrets, startHubSpot } from '../packages/connectors/test/hubspot-server.ts'
import type { PlatformServer } from '../packages/connectors/test/platform-server.ts'
import { salesforceRoutes, salesforceSecrets, startSalesforce } from '../packages/connectors/test/salesforce-server.ts'
import { shopifyRoutes, shopifySecrets, startShopify } from '../packages/connectors/test/shopify-server.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { spawnHandoverWorker, workWith } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { queuedAgain } from './harness/standings.ts'
import { postgresql, startFixture } from './harness/transfers.ts'
import { bounded, until } from './harness/until.ts'

/** Backfills of CRMs and shops, by the times of the last changes (docs/decisions/state-and-ranges.md). */

const [salesforce, hubspot, shopify] = await Promise.all([startSalesforce(), startHubSpot(), startShopify()])
after(() => Promise.all([salesforce, hubspot, shopify].map((server) => server.close())))
const routes = { ...salesforceRoutes(salesforce.url), ...hubspotRoutes(hubspot.url), ...shopifyRoutes(shopify.url) }
const fixture = await startFixture()
after(() => fixture.close())
const { caller, accountId, service, target } = fixture
const { masterKey } = service.config
assert(masterKey)

const [salesforceCrm, hubspotCrm, shopifyAdmin] = ['salesforce-crm', 'hubspot-crm', 'shopify-admin'].map(
  connectorBySlug,
) as [Source, Source, Source]
type Source = ReturnType<typeof connectorBySlug>
await caller.addConnectors(accountId, salesforceCrm, hubspotCrm, shopifyAdmin)
for (const [{ id }, secretConfig] of [
  [salesforceCrm, salesforceSecrets],
  [hubspotCrm, hubspotSecrets],
  [shopifyAdmin, shopifySecrets],
] as const) {
  await caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig } }))
}

const days = 60
/** A record for each hour of January and February. */
const times = Array.from({ length: days * 24 }, (_, hour) => Date.UTC(2026, 0, 1, hour))
const secondsOf = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

type Settings = Record<string, string | number>
type Platform = {
  readonly source: Source
  readonly server: PlatformServer
  readonly settings: Settings
  /** A column of the source that identifies a record. */
  readonly key: string
  /** Settings of which a range cannot be read. */
  readonly without?: Settings
  /** The request that is never answered, so that the worker is killed there: the second one of them with `pages`. */
  readonly middle: RegExp
  readonly pages?: boolean
  /** Queries that the platform ran, each of which is found again after a crash. */
  readonly queries?: readonly unknown[]
  fill(): void
}
const platforms: readonly Platform[] = [
  {
    source: salesforceCrm,
    server: salesforce,
    settings: { objectName: 'Contact', fields: 'Id, LastName', syncMode: 'Incremental' },
    key: 'Id',
    middle: /GET .*results$/,
    queries: salesforce.queries,
    fill: () => {
      salesforce.results.pageRows = 100
      for (const [n, ms] of times.entries()) {
        const SystemModstamp = new Date(ms).toISOString()
        salesforce.records.push({ Id: idOf(n), LastName: secondsOf(ms), IsDeleted: 'false', SystemModstamp })
      }
    },
  },
  {
    source: hubspotCrm,
    server: hubspot,
    settings: { objectType: 'contacts', properties: 'email', syncMode: 'Incremental' },
    key: 'hs_object_id',
    middle: /POST .*search$/,
    pages: true,
    fill: () => {
      for (const [n, ms] of times.entries()) hubspot.add('contacts', { email: `${n}@example.com` }, ms)
    },
  },
  {
    source: shopifyAdmin,
    server: shopify,
    settings: { stream: 'Product variants', syncMode: 'Incremental' },
    key: 'id',
    without: { stream: 'Inventory levels' },
    middle: /GET .bulk/,
    queries: shopify.operations,
    fill: () => {
      shopify.objects.productVariants = times.map((ms, n) => ({
        id: `gid://shopify/ProductVariant/${n}`,
        updatedAt: secondsOf(ms),
      }))
    },
  },
]
const idOf = (n: number) => `003${String(n).padStart(12, '0')}AAA`

const work = () => workWith(service.database, masterKey, routes, (line) => void service.logLines.push(line))
async function move(id: string, body: object = {}): Promise<Transfer> {
  const { id: transferId } = await fixture.start(id, body)
  await work()
  const transfer = await fixture.get(id, transferId)
  assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
  return transfer
}
const hasCheckpoint = async (transferId: string): Promise<boolean> =>
  (
    await service.database.pool.query(
      'select from transfer_parts where transfer_id = $1 and checkpoint_sealed is not null',
      [transferId],
    )
  ).rowCount === 1
const hasCursor = async (id: string) =>
  (await caller.expect(caller.call('getConnectionState', { accountId, id }))).cursor

for (const { source, server, settings, key, without, middle, pages, queries, fill } of platforms) {
  describe(`a range of ${source.slug}`, () => {
    const table = source.slug.replaceAll('-', '_')
    const connect = () =>
      fixture.connect(source, settings, postgresql, {
        table,
        writeMode: 'Upsert',
        keyColumns: key,
        mapping: JSON.stringify({ [key]: key }),
      })
    const count = async () => (await target.query(`select count(*)::int as rows from ${table}`)).rows[0].rows

    test('is read beside the cursor, also after a worker was killed in the middle', async () => {
      fill()
      await target.query(`create table ${table} ("${key}" text primary key)`)
      const id = await connect()
      const range = { from: '2026-01-10', to: '2026-02-08' }
      const { id: transferId } = await fixture.start(id, { backfill: range })
      const child = spawnHandoverWorker({
        databaseUrl: service.databaseUrl,
        masterKey: masterKey.key.export().toString('base64'),
        routes,
      })
      const asked = () => server.received.some(({ method, path }) => middle.test(`${method} ${path}`))
      if (pages) await until('the first page was read', async () => asked() || undefined, 60_000)
      server.failure(middle, 'hang')
      await bounded('the worker reads on', server.hanging(), 60_000)
      if (queries) await until('the query can be found again', () => hasCheckpoint(transferId), 60_000)
      child.kill('SIGKILL')
      await bounded('it is gone', child.ended, 60_000)
      await service.database.pool.query(queuedAgain(`id = $1 and status = 'running'`), [transferId])
      await work()
      const transfer = await fixture.get(id, transferId)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      assert.deepEqual([transfer.attempt, transfer.records.accepted, await count()], [2, 30 * 24, 30 * 24])
      if (queries) assert.equal(queries.length, 1)
      assert.equal(await hasCursor(id), false)
      // The next transfer reads everything, as if there had been no backfill, and a later backfill does not change its cursor.
      assert.equal((await move(id)).records.accepted, times.length)
      const hour = { from: '2026-01-10T00:00:00Z', to: '2026-01-10T01:00:00Z' }
      assert.equal((await move(id, { backfill: hour })).records.accepted, 1)
      assert.equal((await move(id, { backfill: { from: '2025-01-01', to: '2025-12-31' } })).records.read, 0)
      assert.equal((await move(id)).records.read, 0)
      await assertInvariants(service.database.pool)
    })

    if (!without) return
    test('is refused with settings that have none', async () => {
      const id = await connect()
      const body = { backfill: { from: '2026-01-10', to: '2026-01-11' }, srcConnectionConfig: without }
      const { status, error, details } = await caller.call('startTransfer', { accountId, id, body })
      const cannot = [422, 'backfill_not_supported', 'srcConnectionConfig']
      assert.deepEqual([status, error, details?.[0]?.field], cannot)
    })
  })
}
