import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { assertPreviewed, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import type { Stored } from '../../test/shopify-graphql.ts'
import {
  shopifySecrets as secrets,
  shopifyAppSecrets,
  shopifyRoutes,
  startShopify,
  throttled,
} from '../../test/shopify-server.ts'
import { shopifyAdmin as connector } from './shopify-admin.ts'

const server = await startShopify()
after(() => server.close())
const routes = shopifyRoutes(server.url)
const columns = ['email', 'first_name', 'tags', 'email_marketing_state']
const settings = { matchBy: 'Email' }
const person = (n: number | string): Row => [
  `p${n}@example.com`,
  `Zoë "${n}"`,
  'a, b',
  n === 3 ? null : n === 4 ? 'NOT_SUBSCRIBED' : 'SUBSCRIBED',
]

const contextOf = (options: TestContextOptions = {}) => testContext({ secrets, settings, routes, columns, ...options })
const openWriter = async (options: TestContextOptions = {}) => {
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)
  return await deliver.open(contextOf(options))
}
const customers = (): Stored[] => server.objects.customers ?? []
const email = (one: Stored) => one.defaultEmailAddress as Stored | null
const readBack = async (): Promise<Row[]> =>
  customers().map((one) => {
    const { emailAddress, marketingState } = email(one) ?? {}
    const state = marketingState === 'NOT_SUBSCRIBED' ? null : marketingState
    return [String(emailAddress), String(one.firstName), (one.tags as string[]).join(', '), state as string | null]
  })
const bare = (error: { action: string; code: string }) => [error.action, error.code]
const errorOf = (work: Promise<unknown>) => connectorErrorOf(work, contextOf())
const started = () => server.operations.length

acceptDestination({
  connector,
  testServer: 'a server that follows the published reference of Shopify',
  secrets,
  wrongSecrets: { ...secrets, accessToken: 'shpat_another' },
  settings,
  missing: { matchBy: 'Name' },
  context: { routes },
  columns,
  rows: Array.from({ length: 12 }, (_, n) => person(n)),
  badRows: [
    { row: ['no address', 'A', null, null], reason: /no e-mail address/, field: 'email' },
    { row: [null, 'A', null, null], reason: /no value by which/, field: 'email' },
    { row: ['x@nowhere', 'A', null, null], reason: /\(INVALID\)/, field: 'email' },
    { row: ['long@example.com', 'A'.repeat(256), null, null], reason: /\(TOO_LONG\)/, field: 'first_name' },
    {
      row: ['state@example.com', 'A', null, 'REDACTED'],
      reason: /Shopify sets other states/,
      field: 'email_marketing_state',
    },
    { row: ['tags@example.com', 'A', 'x'.repeat(256), null], reason: /tags/, field: 'tags' },
  ],
  readBack,
  asKept: (row) => row.map((cell) => (cell === 'NOT_SUBSCRIBED' ? null : cell)),
  reset: () => server.reset(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(server, /graphql/, throttled(0, 1_000), {
      name: 'is throttled',
      action: 'retry',
      code: 'rate_limited',
      afterMs: 20_000,
    }),
    problemOf(
      server,
      /graphql/,
      { status: 429, headers: { 'retry-after': '70' }, json: {} },
      { name: 'limits requests', action: 'retry', code: 'rate_limited', afterMs: 70_000 },
    ),
    problemOf(server, /POST .$/, { status: 500, text: '' }, { name: 'stores no file', action: 'retry' }),
    problemOf(server, /GET .bulk/, { status: 503, text: '' }, { name: 'hands out no result', action: 'retry' }),
    problemOf(
      server,
      /graphql/,
      { status: 401, json: { errors: 'x' } },
      { name: 'ends the token', action: 'reauthenticate' },
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
    {
      name: 'stops an operation halfway',
      action: 'retry',
      code: 'platform_error',
      start: () => Object.assign(server.processing, { end: 'FAILED', errorCode: 'INTERNAL_SERVER_ERROR' }),
      stop: () => Object.assign(server.processing, { end: 'COMPLETED', errorCode: null }),
    },
  ],
  hang: hangOf(server, /GET .bulk/),
})

describe('the customers of a shop as a destination', () => {
  beforeEach(() => {
    server.calm()
    server.reset()
  })

  const deliver = async (rows: readonly Row[], options: TestContextOptions = {}, number = 1) => {
    const writer = await openWriter(options)
    return await writer.deliver(batchOf(options.columns ?? columns, rows, number))
  }

  test('changes only what is mapped and filled, and keeps tags and consent', async () => {
    await deliver([person(1)])
    const [customer] = customers()
    assert.ok(customer)
    customer.note = 'Old friend'
    await deliver([['P1@example.com', null, 'c']], { columns: ['email', 'first_name', 'tags'] }, 2)
    assert.deepEqual(
      [customer.firstName, customer.note, customer.tags, email(customer)?.marketingState],
      ['Zoë "1"', 'Old friend', ['a', 'b', 'c'], 'SUBSCRIBED'],
    )
    const replacing = { matchBy: 'Email', tagMode: 'Replace', emptyCells: 'Clear' }
    await deliver(
      [['p1@example.com', null, '["d"]']],
      { columns: ['email', 'first_name', 'tags'], settings: replacing },
      3,
    )
    assert.deepEqual([customer.firstName, customer.note, customer.tags], [null, 'Old friend', ['d']])
    const sent = server.uploaded.map((line) => JSON.parse(line))
    assert.deepEqual(sent[0], {
      identifier: { email: 'p1@example.com' },
      input: { email: 'p1@example.com', firstName: 'Zoë "1"' },
    })
    assert.equal(customers().length, 1)
  })

  test('finds customers by phone number and by ID, and creates none by ID', async () => {
    const byPhone = {
      settings: { matchBy: 'Phone' },
      columns: ['phone', 'last_name', 'sms_marketing_state', 'sms_marketing_updated_at'],
    }
    await deliver([['+49 30 1234567', 'Ada', 'subscribed', '2026-01-31T12:00:00+01:00']], byPhone)
    const [customer] = customers()
    assert.deepEqual(customer?.defaultPhoneNumber, {
      phoneNumber: '+49301234567',
      smsMarketingConsent: { state: 'SUBSCRIBED', optInLevel: undefined, updatedAt: '2026-01-31T11:00:00.000Z' },
    })
    const byId = { settings: { matchBy: 'Customer ID' }, columns: ['customer_id', 'tax_exempt', 'email'] }
    const id = String(customer?.id).split('/').pop() ?? ''
    const { rejected } = await deliver(
      [
        [id, 'yes', 'ada@example.com'],
        ['7', true, null],
        ['gid://shopify/Order/1', null, null],
        [id, 'maybe', null],
      ],
      byId,
      2,
    )
    assertRejected(rejected, [
      [2, 'customer_id'],
      [3, 'tax_exempt'],
      [1, 'customer_id'],
    ])
    assert.deepEqual(
      [customer?.taxExempt, customer && email(customer)?.emailAddress, customers().length],
      [true, 'ada@example.com', 1],
    )
    const unmapped = await errorOf(openWriter({ columns: ['email'], settings: { matchBy: 'Phone' } }))
    assert.equal(unmapped.code, 'columns_do_not_fit')
  })

  test('makes one customer of rows with the same key, and rejects all of them if it is refused', async () => {
    const rows: Row[] = [
      person('a'),
      ['PA@example.com', 'Last', 'c', null],
      ['b@nowhere', 'B', null, null],
      ['B@nowhere', 'C', null, null],
    ]
    const { rejected = [] } = await deliver(rows)
    assert.deepEqual(rejected.map(({ index }) => index).sort(), [2, 3])
    assert.deepEqual(await readBack(), [['pa@example.com', 'Last', 'a, b, c', 'SUBSCRIBED']])
    assert.ok(!JSON.stringify(rejected).includes('nowhere'), 'a reason quotes a value')
  })

  test('says that a customer is stored whose consent is refused', async () => {
    const own = ['email', 'sms_marketing_state']
    const { rejected = [] } = await deliver([['a@example.com', 'SUBSCRIBED']], { columns: own })
    assert.deepEqual([rejected[0]?.index, customers().length], [0, 1])
    assert.match(rejected[0]?.reason ?? '', /stored the customer, but did not accept the consent to text messages/)
  })

  test('sends lines without a result again, and rejects lines that never get one', async () => {
    server.processing.lose = 2
    const { rejected = [] } = await deliver([1, 2, 3].map(person), { columns: ['email', 'first_name'] })
    assert.equal(rejected.length, 2)
    assert.match(rejected[0]?.reason ?? '', /internal error or no result/)
    assert.equal(started(), 3)
    server.reset()
    server.processing.fail = ['INTERNAL_SERVER_ERROR', 'TIMEOUT']
    const again = await deliver([1, 2, 3].map(person), { columns: ['email', 'first_name'] })
    assert.deepEqual([again.rejected, customers().length, started()], [[], 3, 2])
    server.reset()
    server.processing.lose = 3
    assert.deepEqual(bare(await errorOf(deliver([1, 2, 3].map(person), { columns: ['email'] }))), [
      'retry',
      'platform_error',
    ])
  })

  test('finds an operation again after a crash, whatever its state, and starts none twice', async () => {
    const rows = [1, 2, 3].map(person)
    const own = { columns: ['email', 'first_name'] }
    await deliver(rows, own)
    assert.equal(started(), 1)
    // The process was killed before the result was confirmed.
    const { bytes } = await deliver(rows, own)
    assert.deepEqual([started(), bytes], [1, 0])
    // It was killed while the operation ran.
    server.reset()
    server.processing.looksBeforeDone = 1_000
    const stop = new AbortController()
    const writer = await openWriter({
      ...own,
      settings: { matchBy: 'Email', resultWaitSeconds: 0 },
      signal: stop.signal,
    })
    assert.deepEqual(bare(await errorOf(writer.deliver(batchOf(own.columns, rows)))), ['retry', 'timeout'])
    server.processing.looksBeforeDone = 0
    assert.deepEqual((await writer.deliver(batchOf(own.columns, rows))).rejected, [])
    assert.equal(started(), 1)
    // Other rows, or another batch, are another operation.
    await deliver(rows.slice(1), own)
    await deliver(rows, own, 2)
    assert.equal(started(), 3)
    // Rows of an operation that was cancelled are sent again.
    for (const operation of server.operations) operation.status = 'CANCELED'
    await deliver(rows, own)
    assert.equal(started(), 4)
  })

  test('finds the operation whose start was not confirmed', async () => {
    const writer = await openWriter({ columns: ['email'] })
    await writer.deliver(batchOf(['email'], [['a@example.com']]))
    server.answers.push({ field: 'bulkOperationRunMutation', reply: { status: 502, text: 'a gateway' } })
    assert.deepEqual(bare(await errorOf(writer.deliver(batchOf(['email'], [['b@example.com']], 2)))), [
      'retry',
      'platform_error',
    ])
    await writer.deliver(batchOf(['email'], [['b@example.com']], 2))
    assert.deepEqual([started(), customers().length], [2, 2])
  })

  test('halves a batch that is too large for the storage', async () => {
    for (const reply of [
      { status: 413, text: '' },
      { status: 400, text: '<Error><Code>EntityTooLarge</Code></Error>' },
    ]) {
      server.failure(/POST .$/, reply)
      assert.deepEqual(bare(await errorOf(deliver([person(1)]))), ['split', 'batch_too_large'])
    }
  })

  test('cancels its operation if it is stopped', async () => {
    server.processing.looksBeforeDone = 1_000
    const stop = new AbortController()
    const writer = await openWriter({ signal: stop.signal, columns: ['email'] })
    const work = writer.deliver(batchOf(['email'], [['a@example.com']]))
    while (server.operations[0]?.status !== 'RUNNING') await new Promise(setImmediate)
    stop.abort()
    await assert.rejects(work)
    assert.equal(server.operations[0]?.status, 'CANCELED')
  })

  test('says which access scope is missing, before and while it delivers', async () => {
    const { inspect } = connector.destination?.deliver ?? {}
    assert.deepEqual(await inspect?.(contextOf()), [])
    server.scopes.delete('write_customers')
    const [finding] = (await inspect?.(contextOf())) ?? []
    assert.equal(finding?.code, 'permission_denied')
    const denied = await errorOf(deliver([person(1)]))
    assert.deepEqual([denied.code, /write_customers/.test(denied.message)], ['permission_denied', true])
    assert.equal(started(), 1)
  })

  test('sends rows where Shopify says alone, and never the token to the storage', async () => {
    for (const target of [
      { url: 'http://shopify-staged-uploads.storage.googleapis.com/', parameters: [{ name: 'key', value: 'k' }] },
      { url: 'https://shopify-staged-uploads.storage.googleapis.com/', parameters: [] },
      { url: null, parameters: [{ name: 'key', value: 7 }] },
    ]) {
      const json = { data: { stagedUploadsCreate: { stagedTargets: [target], userErrors: [] } } }
      server.answers.push({ field: 'stagedUploadsCreate', reply: { json } })
      assert.equal((await errorOf(deliver([person(1)]))).code, 'malformed_response')
    }
    await deliver([person(1)], { secrets: shopifyAppSecrets })
    const leaks = server.received.filter(
      ({ path, headers }) => !path.startsWith('/admin/') && headers['x-shopify-access-token'],
    )
    assert.deepEqual([leaks, customers().length], [[], 1])
  })

  test('a preview rejects the rows that a delivery rejects', async () => {
    const batch = batchOf(columns, [
      person(1),
      [null, null, null, null],
      ['x', null, null, null],
      ['a@b.example', null, null, 'INVALID'],
    ])
    const { rejected } = await (await openWriter()).deliver(batch)
    await assertPreviewed(connector, contextOf(), batch, rejected)
  })
})
