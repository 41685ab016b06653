import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { distinctNames, placesOf } from './places.ts'

const side = (name: string, table?: string) => ({ name, values: table === undefined ? {} : { table } })

test('sides with different names are called by these names', () =>
  deepEqual(placesOf(side('Shop', 'orders'), side('Warehouse', 'orders')), {
    source: 'Shop',
    destination: 'Warehouse',
  }))

test('sides with one name are called by their tables if the tables differ', () =>
  deepEqual(placesOf(side('PostgreSQL', 'orders'), side('PostgreSQL', 'orders_copy')), {
    source: 'orders',
    destination: 'orders_copy',
  }))

test('sides that nothing tells apart are the source and the destination', () => {
  for (const table of ['orders', '', undefined]) {
    const sides = [side('PostgreSQL', table), side('PostgreSQL', table)] as const
    deepEqual(placesOf(...sides), { source: 'the source', destination: 'the destination' })
    equal(distinctNames(...sides), undefined)
  }
})
