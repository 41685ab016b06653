import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cellOf, columnAt, parseAnswer, pathText, recordsAt, shown, valueAt } from './answer-json.ts'
import { columnsIn, isOdd, kindOf } from './columns.ts'
import { hasRecords, listIn, pagesByValue, pagesIn } from './proposals.ts'

const answer = parseAnswer(
  JSON.stringify({
    data: {
      orders: [
        {
          id: 1,
          total: '48.00',
          at: '2026-11-22T09:14:03Z',
          day: '2026-11-22',
          buyer: { country: 'FR' },
          lines: [1],
          paid: true,
        },
        { id: 'x', total: null, buyer: { country: null } },
      ],
    },
    meta: { next: '/v2/orders?cursor=a', total: 1184 },
  }),
)
const keys = ['data', 'orders']

describe('an answer', () => {
  test('keeps digits, and shows values', () => {
    assert.equal(shown(valueAt(parseAnswer('{"a":[12345678901234567890]}'), ['a', '0'])), '12345678901234567890')
    assert.equal(shown('a"b'), '"a\\"b"')
    assert.equal(parseAnswer('<p>'), undefined)
  })

  test('has the list with the most objects as its records', () => {
    assert.deepEqual(listIn(answer), { keys, items: 2 })
    assert.equal(listIn([{ id: 1 }]), undefined)
    assert.equal(recordsAt(answer, keys).length, 2)
    assert.equal(hasRecords(answer, 'data.orders'), true)
    assert.equal(hasRecords(answer, 'data.items'), false)
    assert.equal(hasRecords(answer, undefined), false)
    assert.deepEqual(pathText(['a', 'b.c']), ['a', 'b.c'])
  })

  test('has columns with types', () => {
    const found = columnsIn(recordsAt(answer, keys))
    assert.deepEqual(
      found.map(({ path, kind, missing }) => [path, kind, missing]),
      [
        ['id', 'number', 0],
        ['total', 'text', 1],
        ['at', 'time', 1],
        ['day', 'day', 1],
        ['buyer.country', 'text', 1],
        ['lines', 'json', 1],
        ['paid', 'boolean', 1],
      ],
    )
    assert.equal(isOdd('x', 'number'), true)
    assert.equal(isOdd(null, 'number'), false)
    assert.equal(kindOf('2026-11-22 10:00'), 'time')
    assert.equal(cellOf('a', 'value'), 'a')
  })

  test('gives the column of a value in a record', () => {
    assert.equal(columnAt(answer, ['data', 'orders', '0', 'buyer', 'country'], keys), 'buyer.country')
    assert.equal(columnAt(answer, ['data', 'orders', '0', 'lines'], keys), 'lines')
    assert.equal(columnAt(answer, ['data', 'orders', '0', 'lines', '0'], keys), undefined)
    assert.equal(columnAt(answer, ['meta', 'next'], keys), undefined)
    assert.equal(columnAt(answer, ['data', 'orders', '0'], keys), undefined)
  })

  test('suggests how pages follow each other', () => {
    assert.deepEqual(pagesIn(answer, [], keys), { by: 'url', at: 'meta.next' })
    assert.deepEqual(pagesIn([], [{ name: 'link', value: '</a?page=2>; rel="next"' }], []), { by: 'link' })
    const cursor = parseAnswer('{"items":[{"next":"/a"}],"next_page_token":"abc"}')
    assert.deepEqual(pagesIn(cursor, [], ['items']), { by: 'cursor', parameter: 'page_token', at: 'next_page_token' })
    assert.deepEqual(pagesIn([], [], [], { page: '1' }), { by: 'page', parameter: 'page' })
    assert.equal(pagesIn([{ id: 1 }], [], []), undefined)
    assert.deepEqual(pagesByValue('https://a.example/?p=2', ['links', 'next']), { by: 'url', at: 'links.next' })
  })
})
