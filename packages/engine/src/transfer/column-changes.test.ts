import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Discovered } from '@penstock/connector'
import { limits } from '@penstock/wire'
import { areAdditions, changesOf, sentenceOf, shapeOf, shapeOfNames } from './column-changes.ts'

const column = (value: string, type?: string, rest: Partial<Discovered> = {}): Discovered => ({
  value,
  kind: 'column',
  type,
  ...rest,
})
const both = (source: ReturnType<typeof shapeOf> | null, destination: typeof source = null) => ({ source, destination })
const changes = (was: readonly Discovered[], is: readonly Discovered[]) =>
  changesOf(both(shapeOf(was)), both(shapeOf(is))).map(({ change, column, from, to }) => [change, column, from, to])

describe('changes of columns', () => {
  test('are added, removed, renamed and retyped columns', () => {
    const was = [
      column('id', 'int', { key: true }),
      column('age', 'int'),
      column('name', 'text'),
      column('city', 'text'),
    ]
    const is = [
      column('id', 'bigint', { key: true }),
      column('years', 'int'),
      column('name', 'text', { required: true }),
      column('paid', 'date'),
      column('note', 'text'),
    ]
    assert.deepEqual(changes(was, is), [
      ['renamed', 'age', 'age', 'years'],
      ['removed', 'city', 'text', null],
      ['added', 'paid', null, 'date'],
      ['added', 'note', null, 'text'],
      ['retyped', 'id', 'int, key', 'bigint, key'],
      ['retyped', 'name', 'text', 'text, required'],
    ])
  })

  test('are none of the order, of types that are unknown in one transfer, and of sides that are', () => {
    const was = [column('id', 'int'), column('name', 'text')]
    assert.deepEqual(changes(was, was.toReversed()), [])
    const [typed, named] = [shapeOf(was), shapeOfNames(['id', 'name'])]
    assert.deepEqual(changesOf(both(named), both(typed)), [])
    assert.deepEqual(changesOf(both(typed), both(named)), [])
    assert.deepEqual(changesOf(both(null, typed), both(shapeOf([column('other', 'int')]), null)), [])
    assert.equal(changesOf(both(named), both(shapeOfNames(['id', 'label'])))[0]?.change, 'renamed')
  })

  test('are additions alone if nothing else changed, also beyond the list, and no key', () => {
    const was = shapeOf([column('id', 'int', { key: true }), column('name', 'text')])
    const many = Array.from({ length: limits.columnChangesMax + 5 }, (_, at) => column(`c${at}`, 'text'))
    const are = (...more: Discovered[]) => areAdditions(both(was), both(shapeOf([...more])))
    const [id, name] = [column('id', 'int', { key: true }), column('name', 'text')]
    assert.equal(are(id, name, ...many), true)
    assert.equal(are(id, column('name', 'int'), ...many), false)
    assert.equal(are(id, name, column('tenant', 'int', { key: true })), false)
    assert.equal(are(id, ...many), false)
  })

  test('are bounded, and known of columns beyond the list', () => {
    const many = Array.from({ length: limits.shapeColumnsMax + 5 }, (_, at) => `c${at}`)
    const shape = shapeOfNames(many)
    assert.equal(shape.columns.length, limits.shapeColumnsMax)
    const more = changesOf(both(shape), both(shapeOfNames([...many, 'last'])))
    assert.deepEqual(more, [
      { side: 'source', change: 'retyped', column: '…', from: '1005 columns', to: '1006 columns' },
    ])
    const others = changesOf(both(shape), both(shapeOfNames(many.map((name) => `${name}x`.repeat(300)))))
    assert.equal(others.length, limits.columnChangesMax)
    assert.ok(others.every(({ to }) => (to?.length ?? 0) <= limits.shapeTextLengthMax))
    assert.match(sentenceOf(others), /c0 of the source \(renamed to c0x.*, and 95 more\. Nothing was moved/)
  })
})
