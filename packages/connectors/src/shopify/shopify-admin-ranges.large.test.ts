import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Chunk, Json } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf } from '../../test/platform-server.ts'
import { shopifySecrets as secrets, shopifyRoutes, startShopify } from '../../test/shopify-server.ts'
import { shopifyAdmin as connector } from './shopify-admin.ts'

const server = await startShopify()
after(() => server.close())
const routes = shopifyRoutes(server.url)
const settings = { stream: 'Product variants' }
const changed = '2026-01-31T12:00:00Z'
/** The last one before a day, three of the day, and the first one behind it. */
const times = ['2026-01-30T23:59:59Z', '2026-01-31T00:00:00Z', changed, '2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z']

const contextOf = (options: TestContextOptions = {}) => testContext({ secrets, settings, routes, ...options })
async function read(options: TestContextOptions = {}, from?: Json): Promise<Chunk[]> {
  const reader = await connector.source?.open?.(contextOf(options))
  assert.ok(reader)
  const chunks: Chunk[] = []
  for await (const chunk of reader.read(from)) chunks.push(chunk)
  await reader.close()
  return chunks
}
const rowsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows)
const updated = (chunks: readonly Chunk[]) => rowsOf(chunks).map((row) => row.at(-1))

function fill(count: number): void {
  server.reset()
  server.objects.productVariants = Array.from({ length: count }, (_, n) => ({
    id: `gid://shopify/ProductVariant/${n}`,
    updatedAt: changed,
  }))
}

describe('a range of the objects of a shop', () => {
  beforeEach(() => fill(5))

  test('is read from its first time on and before its second one, and gives no cursor', async () => {
    for (const [at, updatedAt] of times.entries())
      Object.assign(server.objects.productVariants?.[at] ?? {}, { updatedAt })
    const days = { from: '2026-01-31', to: '2026-01-31' }
    const cursor = { stream: 'Product variants', shop: 'penstock-test.myshopify.com', since: Date.now() }
    for (const syncMode of ['Incremental', 'Full']) {
      const chunks = await read({ settings: { ...settings, syncMode }, range: days, cursor })
      assert.deepEqual(updated(chunks), times.slice(1, 4))
      assert.ok(chunks.every((chunk) => chunk.cursor === undefined && chunk.cursorAfter === undefined))
    }
    const inTimes = async (from: string, to: string) => updated(await read({ range: { from, to } }))
    assert.deepEqual(await inTimes('2026-01-31T00:00:00Z', changed), times.slice(1, 2))
    assert.deepEqual(await inTimes(changed, '2026-02-01T00:00:01Z'), times.slice(2))
    const empty = await read({ range: { from: '2099-01-01', to: '2099-12-31' } })
    assert.deepEqual([rowsOf(empty), empty.at(-1)?.settles, empty.at(-1)?.cursor], [[], true, undefined])
    // Line items have the time of their order.
    server.objects.orders = times.map((updatedAt, n) => ({
      id: `gid://shopify/Order/${n}`,
      updatedAt,
      lineItems: [{ id: `gid://shopify/LineItem/${n}`, quantity: 1 }],
    }))
    const lines = await read({ settings: { stream: 'Order line items' }, range: days })
    assert.deepEqual(
      rowsOf(lines).map(([order]) => order),
      [1, 2, 3].map((n) => `gid://shopify/Order/${n}`),
    )
    server.objects.events = times.map((createdAt, n) => ({
      __typename: 'BasicEvent',
      id: `gid://shopify/BasicEvent/${n}`,
      createdAt,
      subjectType: 'PRODUCT',
      subjectId: `gid://shopify/Product/${n}`,
    }))
    const deletions = await read({ settings: { stream: 'Deletions' }, range: days })
    assert.deepEqual(deletions[0]?.columns, ['id', 'subject_type', 'subject_id', 'deleted_at'])
    assert.deepEqual(
      rowsOf(deletions).map(([, ...row]) => row),
      [1, 2, 3].map((n) => ['PRODUCT', `gid://shopify/Product/${n}`, times[n]]),
    )
    assert.equal(rowsOf(await read({ settings: { stream: 'Deletions' } })).length, 5)
    for (const stream of ['Inventory levels', 'Collection products', 'Discount codes']) {
      assert.equal(
        (await connectorErrorOf(read({ settings: { stream }, range: days }), contextOf())).code,
        'invalid_setting',
      )
      assert.match(connector.source?.backfill?.whyNot?.({ stream }) ?? '', /another stream/)
    }
    for (const own of [settings, {}]) assert.equal(connector.source?.backfill?.whyNot?.(own), undefined)
  })

  test('has its customers, whatever the day is in the shop', async () => {
    for (const timezone of ['Pacific/Kiritimati', 'Europe/Berlin', 'Pacific/Pago_Pago']) {
      server.reset()
      server.processing.timezone = timezone
      server.objects.customers = times.map((updatedAt, n) => ({ id: `gid://shopify/Customer/${n}`, updatedAt }))
      const inRange = async (from: string, to: string) =>
        updated(await read({ settings: { stream: 'Customers' }, range: { from, to } }))
      assert.deepEqual(await inRange('2026-01-31', '2026-01-31'), times.slice(1, 4), timezone)
      assert.deepEqual(await inRange('2026-01-31T00:00:00Z', '2026-01-31T23:59:59Z'), times.slice(1, 3), timezone)
      assert.deepEqual(await inRange('2026-01-30T23:59:59Z', '2026-02-01T00:00:01Z'), times, timezone)
    }
  })

  test('resumes in the result of its operation', async () => {
    fill(6000)
    for (const variant of server.objects.productVariants?.slice(0, 100) ?? [])
      variant.updatedAt = '2026-03-01T00:00:00Z'
    const january = { range: { from: '2026-01-01', to: '2026-01-31' } }
    const chunks = await read(january)
    assert.equal(rowsOf(chunks).length, 5900)
    for (const [at, { checkpoint }] of chunks.entries()) {
      assert.deepEqual(
        rowsOf(await read(january, JSON.parse(JSON.stringify(checkpoint)))),
        rowsOf(chunks.slice(at + 1)),
      )
    }
    assert.equal(server.operations.length, 1)
  })
})
