import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Chunk, Json, Row, Values } from '@penstock/connector'
import { acceptSource, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { discover } from '../../test/discover.ts'
import { connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import type { Stored } from '../../test/shopify-graphql.ts'
import {
  shopifySecrets as secrets,
  shopifyAppSecrets,
  shopifyRoutes,
  startShopify,
  throttled,
} from '../../test/shopify-server.ts'
import { shopifyAdmin as connector } from './shopify-admin.ts'
import { streamNames } from './streams.ts'

const server = await startShopify()
after(() => server.close())
const routes = shopifyRoutes(server.url)

const variantId = (n: number) => `gid://shopify/ProductVariant/${n}`
const changed = '2026-01-31T12:00:00Z'
/** Amounts have digits that a floating-point number would lose. */
const variant = (n: number): Stored => ({
  id: variantId(n),
  title: `Größe, "${n}"\nb`,
  price: `${n}.10`,
  position: n,
  taxable: n % 2 === 0,
  createdAt: changed,
  updatedAt: changed,
  selectedOptions: [{ name: 'Size', value: String(n) }],
  product: { id: 'gid://shopify/Product/1', priceRangeV2: { minVariantPrice: { amount: '1.0', currencyCode: 'EUR' } } },
  inventoryItem: { id: `gid://shopify/InventoryItem/${n}` },
})
const settings = { stream: 'Product variants' }
const columns =
  `id product_id inventory_item_id title display_name sku barcode position currency price compare_at_price available_for_sale inventory_quantity inventory_policy taxable selected_options created_at updated_at`.split(
    ' ',
  )
const rowOf = (n: number): Row => [
  variantId(n),
  'gid://shopify/Product/1',
  `gid://shopify/InventoryItem/${n}`,
  `Größe, "${n}"\nb`,
  null,
  null,
  null,
  n,
  'EUR',
  `${n}.10`,
  null,
  null,
  null,
  null,
  n % 2 === 0,
  `[{"name":"Size","value":"${n}"}]`,
  changed,
  changed,
]

const contextOf = (options: TestContextOptions = {}) => testContext({ secrets, settings, routes, ...options })
type Options = TestContextOptions & { sample?: { noAnswerMs: number } }
async function openReader(options: Options = {}) {
  const { open } = connector.source ?? {}
  assert.ok(open)
  return await open({ ...contextOf(options), ...(options.sample && { sample: options.sample }) })
}
async function read(options: Options = {}, from?: Json): Promise<Chunk[]> {
  const reader = await openReader(options)
  const chunks: Chunk[] = []
  for await (const chunk of reader.read(from)) chunks.push(chunk)
  await reader.close()
  return chunks
}
const rowsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows)
const readStream = async (stream: string, more: Options = {}) => rowsOf(await read({ settings: { stream }, ...more }))
const errorOf = (work: Promise<unknown>) => connectorErrorOf(work, contextOf())
const cell = (chunks: readonly Chunk[], row: number, column: string) =>
  rowsOf(chunks)[row]?.[chunks[0]?.columns.indexOf(column) ?? -1]

function fill(count: number): void {
  server.reset()
  server.objects.productVariants = Array.from({ length: count }, (_, n) => variant(n + 1))
}

fill(6000)
acceptSource({
  connector,
  testServer: 'a server that follows the published reference of Shopify',
  secrets,
  wrongSecrets: { ...secrets, accessToken: 'shpat_another' },
  settings,
  missing: { stream: 'Gift cards' },
  context: { routes },
  columns,
  rows: Array.from({ length: 6000 }, (_, n) => rowOf(n + 1)),
  errors: [
    problemOf(server, /graphql/, throttled(10), {
      name: 'is throttled',
      action: 'retry',
      code: 'rate_limited',
      afterMs: 2_000,
    }),
    problemOf(
      server,
      /graphql/,
      { status: 429, headers: { 'retry-after': '70' }, json: {} },
      { name: 'limits requests', action: 'retry', code: 'rate_limited', afterMs: 70_000 },
    ),
    problemOf(
      server,
      /graphql/,
      { status: 429, json: {} },
      { name: 'limits requests for an unknown time', action: 'retry' },
    ),
    problemOf(
      server,
      /GET .bulk/,
      { status: 500, text: '' },
      { name: 'does not hand out the result', action: 'retry' },
    ),
    problemOf(
      server,
      /graphql/,
      { status: 402, json: { errors: 'x' } },
      { name: 'froze the shop', action: 'reconfigure' },
    ),
    {
      name: 'runs five other operations',
      action: 'retry',
      code: 'rate_limited',
      afterMs: 60_000,
      start: () => {
        server.processing.limit = 0
      },
      stop: () => {
        server.processing.limit = 5
      },
    },
  ],
  hang: hangOf(server, /GET .bulk/),
})

describe('a shop as a source', () => {
  beforeEach(() => {
    server.calm()
    fill(5)
  })

  test('finds an operation again after a crash, before and after it is done, and starts none twice', async () => {
    server.processing.looksBeforeDone = 2
    const reader = await openReader()
    const first = await reader.read()[Symbol.asyncIterator]().next()
    const chunk = first.value as Chunk
    assert.deepEqual([chunk.settles, chunk.rows, server.operations.length], [true, [], 1])
    assert.equal(rowsOf(await read({}, chunk.checkpoint)).length, 5)
    assert.equal(rowsOf(await read({}, chunk.checkpoint)).length, 5)
    assert.equal(server.operations.length, 1)
    // Shopify does not know it any more, and nothing was read of it.
    server.operations.length = 0
    assert.equal(rowsOf(await read({}, chunk.checkpoint)).length, 5)
  })

  test('finds the operation whose start was not confirmed', async () => {
    server.failure(/graphql/, 'reset after')
    assert.equal(rowsOf(await read()).length, 5)
    assert.equal(server.operations.length, 1)
    server.operations.length = 0
    server.failure(/graphql/, { status: 503, text: 'a gateway' })
    assert.equal((await errorOf(read())).code, 'platform_error')
    assert.equal(server.operations.length, 0)
  })

  test('resumes behind a byte, with and without parts, and refuses a result that is gone', async () => {
    fill(6000)
    const chunks = await read()
    assert.equal(chunks.filter(({ rows }) => rows.length > 0).length > 2, true)
    for (const ranges of [true, false]) {
      server.results.ranges = ranges
      for (const [at, { checkpoint }] of chunks.entries()) {
        assert.deepEqual(rowsOf(await read({}, checkpoint)), rowsOf(chunks.slice(at + 1)), `${ranges} ${at}`)
      }
    }
    assert.equal(server.operations.length, 1)
    server.results.gone = true
    assert.equal((await errorOf(read({}, chunks[1]?.checkpoint))).code, 'source_changed')
    server.operations.length = 0
    assert.equal((await errorOf(read({}, chunks[1]?.checkpoint))).code, 'source_changed')
  })

  test('reads what changed since the operation of the transfer before, with an overlap', async () => {
    const incremental = { ...settings, syncMode: 'Incremental', overlapMinutes: 30 }
    const chunks = await read({ settings: incremental })
    const cursor = chunks.at(-1)?.cursor
    assert.ok(cursor)
    assert.equal(chunks.filter((chunk) => chunk.cursor !== undefined).length, 1)
    const next = await read({ settings: incremental, cursor })
    const [first, second] = server.operations
    const [, since = ''] = /updated_at:>='([^']+)'/.exec(second?.query ?? '') ?? []
    assert.equal(Date.parse(since), Date.parse(first?.createdAt ?? '') - 30 * 60_000)
    assert.deepEqual([rowsOf(next), next.at(-1)?.settles, typeof next.at(-1)?.cursor], [[], true, 'object'])
    const [variant] = server.objects.productVariants ?? []
    assert.ok(variant)
    variant.updatedAt = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
    assert.equal(rowsOf(await read({ settings: incremental, cursor })).length, 1)
    // Of another stream, or another shop, it says nothing.
    for (const other of [{ ...(cursor as object), stream: 'Products' }, { ...(cursor as object), shop: 'x' }, 'x']) {
      assert.equal(rowsOf(await read({ settings: incremental, cursor: other })).length, 5)
    }
    const error = await errorOf(read({ settings: { stream: 'Inventory levels', syncMode: 'Incremental' } }))
    assert.equal(error.code, 'invalid_setting')
  })

  test('leaves out customers that only changed on the same day', async () => {
    const at = (time: string): Stored => ({
      id: 'gid://shopify/Customer/1',
      tags: ['a'],
      updatedAt: time,
      numberOfOrders: '9007199254740993',
    })
    server.objects.customers = [
      '2026-01-30T23:00:00Z',
      '2026-01-31T11:49:00Z',
      '2026-01-31T11:50:00Z',
      '2026-02-01T00:00:00Z',
    ].map(at)
    const cursor = {
      stream: 'Customers',
      shop: 'penstock-test.myshopify.com',
      since: Date.parse('2026-01-31T12:00:00Z'),
    }
    const chunks = await read({ settings: { stream: 'Customers', syncMode: 'Incremental' }, cursor })
    assert.match(server.operations[0]?.query ?? '', /updated_at:>='2026-01-30T00:00:00Z'/)
    assert.equal(rowsOf(chunks).length, 2)
    assert.deepEqual([cell(chunks, 0, 'tags'), cell(chunks, 0, 'number_of_orders')], ['["a"]', '9007199254740993'])
  })

  test('reads objects below others, which do not follow them, with the ID of the object above', async () => {
    const order = (n: number): Stored => ({
      id: `gid://shopify/Order/${n}`,
      updatedAt: changed,
      lineItems: [1, 2].map((line) => ({
        id: `gid://shopify/LineItem/${n}${line}`,
        quantity: line,
        originalUnitPriceSet: { shopMoney: { amount: '12345678901234567.89', currencyCode: 'JPY' } },
      })),
    })
    server.objects.orders = [order(1), order(2)]
    const chunks = await read({ settings: { stream: 'Order line items' } })
    assert.deepEqual(
      rowsOf(chunks).map(([orderId, id]) => [orderId, id]),
      ['11', '12', '21', '22'].map((id) => [`gid://shopify/Order/${id[0]}`, `gid://shopify/LineItem/${id}`]),
    )
    assert.deepEqual(
      [cell(chunks, 3, 'unit_price'), cell(chunks, 3, 'currency'), cell(chunks, 3, 'quantity')],
      ['12345678901234567.89', 'JPY', 2],
    )
    const sampled = await readStream('Order line items', { sample: { noAnswerMs: 1_000 } })
    assert.deepEqual(sampled, rowsOf(chunks))
    assert.equal((await readStream('Orders')).length, 2)
    server.objects.inventoryItems = [
      {
        id: 'gid://shopify/InventoryItem/1',
        inventoryLevels: [{ id: 'gid://shopify/InventoryLevel/1', quantities: [{ name: 'on_hand', quantity: 7 }] }],
      },
    ]
    const levels = await read({ settings: { stream: 'Inventory levels' } })
    assert.deepEqual(
      [cell(levels, 0, 'inventory_item_id'), cell(levels, 0, 'on_hand'), cell(levels, 0, 'available')],
      ['gid://shopify/InventoryItem/1', 7, null],
    )
  })

  test('reads every stream, also an empty one, and a preview asks for a few rows without an operation', async () => {
    server.reset()
    for (const stream of streamNames) {
      const chunks = await read({ settings: { stream } })
      assert.deepEqual([rowsOf(chunks), chunks.at(-1)?.settles], [[], true], stream)
      assert.equal(chunks[0]?.columns.length, chunks[0]?.types?.length)
      assert.equal(new Set(chunks[0]?.columns).size, chunks[0]?.columns.length, stream)
    }
    fill(50)
    const rows = await readStream('Product variants', { sample: { noAnswerMs: 1_000 } })
    assert.deepEqual([rows.length, server.operations.length], [10, 0])
    assert.deepEqual(rows[0], rowOf(1))
  })

  test('reads discounts of all types, and their codes with the IDs of these', async () => {
    const discount = (id: string, __typename: string, ...codes: string[]): Stored => {
      const totalSales = { amount: '10.50', currencyCode: 'EUR' }
      const own = { title: `Sale ${id}`, status: 'ACTIVE', asyncUsageCount: 7, totalSales, updatedAt: changed }
      const all = codes.map((code) => ({ id: `gid://shopify/DiscountRedeemCode/${code}`, code, asyncUsageCount: 3 }))
      return { id: `gid://shopify/DiscountCodeNode/${id}`, codeDiscount: { __typename, ...own, codes: all } }
    }
    server.objects.codeDiscountNodes = [
      discount('1', 'DiscountCodeBasic', 'A', 'B'),
      discount('2', 'DiscountCodeApp', 'C'),
    ]
    assert.deepEqual(
      (await readStream('Discounts')).map((row) => row.slice(1, 9)),
      ['1', '2'].map((id) => [`Sale ${id}`, 'ACTIVE', null, 7, null, null, '10.50', 'EUR']),
    )
    const codes = [
      ['gid://shopify/DiscountCodeNode/1', 'gid://shopify/DiscountRedeemCode/A', 'A', 3],
      ['gid://shopify/DiscountCodeNode/1', 'gid://shopify/DiscountRedeemCode/B', 'B', 3],
      ['gid://shopify/DiscountCodeNode/2', 'gid://shopify/DiscountRedeemCode/C', 'C', 3],
    ]
    assert.deepEqual(await readStream('Discount codes'), codes)
    assert.deepEqual(await readStream('Discount codes', { sample: { noAnswerMs: 1_000 } }), codes)
  })

  test('starts a failed operation again, and says which access scope is missing', async () => {
    server.processing.end = 'CANCELED'
    assert.equal(rowsOf(await read()).length, 5)
    assert.equal(server.operations.length, 2)
    Object.assign(server.processing, { end: 'FAILED', errorCode: 'ACCESS_DENIED' })
    const denied = await errorOf(read())
    assert.equal(denied.code, 'permission_denied')
    assert.match(denied.message, /read_products/)
    server.scopes.delete('read_products')
    const refused = await errorOf(read())
    assert.deepEqual([refused.code, /read_products/.test(refused.message)], ['permission_denied', true])
  })

  test('does not believe strange answers, and sends the token to the shop alone', async () => {
    const broken = [
      { json: {} },
      { json: { data: null } },
      { json: { data: { bulkOperationRunQuery: { bulkOperation: null, userErrors: [] } } } },
      { text: '<html>' },
    ]
    for (const reply of broken) {
      server.answers.push({ field: 'bulkOperationRunQuery', reply })
      assert.equal((await errorOf(read())).code, 'malformed_response', JSON.stringify(reply))
    }
    for (const url of [
      'http://storage.googleapis.com/bulk/1.jsonl',
      'file:///etc/passwd',
      'https://a:b@storage.googleapis.com/x',
      'x',
    ]) {
      server.results.url = () => url
      assert.equal((await errorOf(read())).code, 'malformed_response', url)
    }
    server.results.url = () => 'https://127.0.0.1/bulk/1.jsonl'
    assert.equal((await errorOf(read({ networkPolicy: 'public' }))).code, 'address_not_allowed')
    server.results.url = (path) => `https://storage.googleapis.com${path}`
    for (const text of ['{"id":"a"}\n{"id":', '[]\n', 'x', '\xff']) {
      server.failure(/GET .bulk/, { text })
      assert.equal((await errorOf(read())).code, 'malformed_response', text)
    }
    server.answers.push({
      field: 'bulkOperationRunQuery',
      reply: { json: { errors: [{ message: 'jane@example.com', extensions: { code: 'undefinedField' } }] } },
    })
    const { code, message } = await errorOf(read())
    assert.equal(code, 'request_refused')
    assert.doesNotMatch(message, /jane/)
    const leaks = server.received.filter(
      ({ path, headers }) => !path.startsWith('/admin/') && headers['x-shopify-access-token'],
    )
    assert.deepEqual(leaks, [])
  })

  test('signs in with client credentials, and renews a token that has ended', async () => {
    assert.equal(rowsOf(await read({ secrets: shopifyAppSecrets })).length, 5)
    const reader = await openReader({ secrets: shopifyAppSecrets })
    const chunks = reader.read()[Symbol.asyncIterator]()
    await chunks.next()
    server.expireTokens()
    assert.equal((await chunks.next()).value?.rows.length, 5)
    await reader.close()
    const wrong = { ...shopifyAppSecrets, clientSecret: 'shpss_wrong' }
    assert.equal((await errorOf(read({ secrets: wrong }))).action, 'reauthenticate')
    const nowhere = { ...secrets, shop: 'evil.example' }
    assert.equal((await errorOf(read({ secrets: nowhere }))).code, 'invalid_setting')
    const { shop: _, ...without } = secrets
    assert.equal((await errorOf(read({ secrets: without }))).code, 'invalid_setting')
  })

  test('discovers columns with types, and values for those who may read records', async () => {
    const find = async (own: Values, withSamples: boolean) =>
      (await discover(connector, secrets, 'columns', { settings: own, routes, withSamples })).items
    const [id, product] = await find(settings, true)
    assert.deepEqual([id?.value, id?.key, id?.samples?.[0], product?.value], ['id', true, variantId(1), 'product_id'])
    const plain = await find({ stream: 'Orders' }, false)
    assert.equal(plain.find(({ value }) => value === 'total_price')?.type, 'decimal')
    assert.ok(plain.every(({ samples }) => samples === undefined))
    assert.equal(server.operations.length, 0)
  })
})
