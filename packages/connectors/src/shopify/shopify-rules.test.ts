import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { linesOf } from './bulk-operations.ts'
import { readRows, rulesOf } from './customer-rows.ts'
import { resultOf, setCustomer } from './customer-steps.ts'
import { shopHost } from './shop.ts'
import { bulkQuery, filterOf, sampleQuery } from './stream-query.ts'
import { rowOf } from './stream-rows.ts'
import { streams } from './streams.ts'

const read = (columns: readonly string[], rows: readonly Row[], settings: Values = {}) =>
  readRows(rulesOf(settings), { key: '', firstRow: 1, columns, rows })

describe('the rules of Shopify', () => {
  test('knows the host of a shop, and nothing that only looks like one', () => {
    for (const text of ['acme', ' ACME.myshopify.com/ ', 'https://acme.myshopify.com']) {
      assert.equal(shopHost(text), 'acme.myshopify.com')
    }
    for (const text of [
      '',
      'acme.example',
      'acme.myshopify.com.evil.example',
      'evil.example/acme.myshopify.com',
      'acme.myshopify.com@evil.example',
      'acme.myshopify.com:8443',
      'http://acme.myshopify.com',
      'a.b.myshopify.com',
      '-acme.myshopify.com',
      'acmé.myshopify.com',
      'acme.myshopify.com/admin',
      'acme\n.myshopify.com',
      'myshopify.com',
    ]) {
      assert.equal(shopHost(text), undefined, text)
    }
  })

  test('asks for each field once, with a filter as a text of GraphQL', () => {
    const levels = streams['Inventory levels']
    assert.match(
      bulkQuery(levels),
      /^{ inventoryItems { edges { node { id inventoryLevels { edges { node { id location { id name } quantities\(names: \["available"/,
    )
    assert.match(sampleQuery(levels), /inventoryItems\(first: 5\) .* inventoryLevels\(first: 5\)/)
    const fromMs = Date.parse('2026-01-31T12:00:00.999Z')
    const filter = filterOf(streams.Orders, { fromMs })
    assert.match(bulkQuery(streams.Orders, filter), /^{ orders\(query: "updated_at:>='2026-01-31T12:00:00Z'"\) {/)
    const range = { fromMs, beforeMs: Date.parse('2026-02-01T00:00:00Z') }
    assert.equal(
      filterOf(streams.Orders, range),
      "updated_at:>='2026-01-31T12:00:00Z' AND updated_at:<'2026-02-01T00:00:00Z'",
    )
    // A customer's day can begin 14 hours before the UTC day, or 12 hours after it.
    assert.equal(
      filterOf(streams.Customers, range),
      "updated_at:>='2026-01-30T00:00:00Z' AND updated_at:<'2026-02-03T00:00:00Z'",
    )
    const product = bulkQuery(streams['Product variants'])
    assert.equal(product.match(/priceRangeV2/g)?.length, 1)
  })

  test('reads lines of objects and of those below them, and keeps amounts as they are', () => {
    const item = { id: 'a', price: '0.10', position: 1, product: null, taxable: false }
    const row = rowOf(streams['Product variants'], item)
    assert.deepEqual(row?.slice(0, 3), ['a', null, null])
    assert.deepEqual([row?.[9], row?.[7]], ['0.10', 1])
    assert.equal(rowOf(streams['Product variants'], { ...item, __parentId: 'p' }), undefined)
    assert.equal(rowOf(streams['Collection products'], item), undefined)
    assert.deepEqual(rowOf(streams['Collection products'], { id: 'a', __parentId: 'p' }), ['p', 'a'])
  })

  test('reads lines from any byte on, in pieces of any size', async () => {
    const text = '{"n":"ä"}\n\n{"n":"😀b"}\n{"n":"c"}'
    const bytes = Buffer.from(text)
    for (const size of [1, 2, 3, 7, bytes.length]) {
      for (const at of [0, 4]) {
        const pieces = async function* () {
          for (let from = at; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
        }
        const found: unknown[] = []
        const from = at === 0 ? 0 : 10
        for await (const lines of linesOf(pieces(), at, from, JSON.parse))
          found.push(...lines.map(({ item }) => item.n))
        const all = ['ä', '😀b', 'c']
        assert.deepEqual(found, at === 0 ? all : all.slice(1), `${size} ${at}`)
      }
    }
  })

  test('makes customers of rows, and sends nothing of columns that are not mapped', () => {
    const { customers, rejected } = read(
      ['email', 'tags', 'note'],
      [
        [' A@Example.com ', 'x,, y ,x', ''],
        ['a@example.com', '["z", "x"]', 'n'],
        ['b@example.com', null, null],
      ],
    )
    assert.deepEqual(rejected, [])
    assert.deepEqual(customers, [
      {
        key: 'a@example.com',
        rows: [0, 1],
        input: { email: 'a@example.com', note: 'n' },
        tags: ['x', 'y', 'z'],
      },
      { key: 'b@example.com', rows: [2], input: { email: 'b@example.com' } },
    ])
    const replaced = read(['email', 'tags', 'phone', 'locale'], [['a@example.com', null, null, null]], {
      tagMode: 'Replace',
      emptyCells: 'Clear',
    })
    assert.deepEqual(replaced.customers[0]?.input, { email: 'a@example.com', phone: null, tags: [] })
    const kept = read(['email', 'tags'], [['a@example.com', null]], { tagMode: 'Replace' })
    assert.deepEqual(kept.customers[0]?.input, { email: 'a@example.com' })
    assert.throws(() => rulesOf({ matchBy: 'toString' }), { code: 'invalid_setting' })
  })

  test('reads the result of a line without the words of Shopify', () => {
    const step = setCustomer('email')
    const line = (customer: object | null, userErrors: object[], errors?: object[]) =>
      resultOf(step, { data: { customerSet: { customer, userErrors } }, errors, __lineNumber: 0 })
    assert.deepEqual(line({ id: 'gid://shopify/Customer/1' }, []), { id: 'gid://shopify/Customer/1' })
    const message = 'jane@example.com has already been taken'
    assert.deepEqual(line(null, [{ code: 'TAKEN', field: ['input', 'email'], message }]), {
      reason: 'Shopify did not accept the row (TAKEN): another customer has this value.',
      field: 'email',
    })
    assert.deepEqual(line(null, [{ code: '<b>', field: ['input', 'constructor'], message }]), {
      reason: 'Shopify did not accept the row: check its values.',
    })
    const failed = { message, extensions: { code: 'INTERNAL_SERVER_ERROR' } }
    for (const result of [line(null, []), line({ id: '1' }, []), line(null, [], [failed]), resultOf(step, {})]) {
      assert.equal(result, 'again')
    }
    const denied = { message: 'Access denied: `write_customers` access scope.', extensions: { code: 'ACCESS_DENIED' } }
    assert.throws(() => line(null, [], [denied]), { code: 'permission_denied' })
  })
})
