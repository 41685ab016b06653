import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { offsetOf, readText, textErrorIn, withEntries, withToggled, withValue } from './definition-text.ts'

const text = `# Orders of the shop
streams:
  # Every order
  orders:
    path: /orders # version 2
    query: { limit: "50", state: open }
    columns: [ id, total ]
    pages: { by: page, parameter: page }
`

describe('the text of a definition', () => {
  test('keeps comments and quotation marks when a form changes it', () => {
    const changed = withValue(text, ['streams', 'orders', 'path'], '/v2/orders')
    assert.equal(changed, text.replace('/orders #', '/v2/orders #'))
    assert.equal(
      withEntries(
        text,
        ['streams', 'orders', 'query'],
        [
          ['size', '50'],
          ['state', 'open'],
        ],
      ),
      text.replace('limit:', 'size:'),
    )
    assert.equal(withToggled(text, ['streams', 'orders', 'columns'], 'id'), text.replace('[ id, total ]', '[ total ]'))
  })

  test('gets and loses values, and objects that are empty', () => {
    const records = withValue(text, ['streams', 'orders', 'records'], 'data.items')
    assert.match(records, /\n {4}records: data\.items\n/)
    const none = withValue(
      withValue(text, ['streams', 'orders', 'pages', 'by'], undefined),
      ['streams', 'orders', 'pages', 'parameter'],
      undefined,
    )
    assert.doesNotMatch(none, /pages/)
    assert.doesNotMatch(withEntries(text, ['streams', 'orders', 'query'], []), /query/)
    assert.doesNotMatch(
      ['id', 'total'].reduce((now, one) => withToggled(now, ['streams', 'orders', 'columns'], one), text),
      /columns/,
    )
  })

  test('begins with nothing, and stays JSON if it is', () => {
    assert.equal(withValue('', ['streams', 'a', 'path'], '/a'), 'streams:\n  a:\n    path: /a\n')
    const json = '{ "streams": { "a": { "path": "/a" } } }'
    assert.deepEqual(JSON.parse(withValue(json, ['streams', 'a', 'records'], 'data')), {
      streams: { a: { path: '/a', records: 'data' } },
    })
    assert.match(
      withValue('streams:\n  a:\n    path: /a\n    pages:\n', ['streams', 'a', 'pages', 'by'], 'link'),
      /pages:\n {6}by: link/,
    )
  })

  test('says where it is wrong', () => {
    assert.deepEqual(readText('streams:\n  a: [\n').textError?.line, 3)
    assert.deepEqual(readText(text).value, {
      streams: {
        orders: {
          path: '/orders',
          query: { limit: '50', state: 'open' },
          columns: ['id', 'total'],
          pages: { by: 'page', parameter: 'page' },
        },
      },
    })
    assert.deepEqual(textErrorIn('is wrong at line 3, column 10: pth is not known here.'), {
      line: 3,
      column: 10,
      message: 'pth is not known here.',
    })
    assert.equal(text.slice(offsetOf(text, { line: 5, column: 11 })).slice(0, 7), '/orders')
  })
})
