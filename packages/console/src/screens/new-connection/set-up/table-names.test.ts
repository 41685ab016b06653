import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesAtDestination } from './table-names.ts'

const source = (tables: string) => ({ dataSourceType: 'Many Tables', tables })

test('tables and patterns have the names that the templates give', () => {
  const to = (tables: string, destination: Record<string, string>) =>
    namesAtDestination(source(tables), destination).map((one) => `${one.from} → ${one.to}`)
  assert.deepEqual(to('crm.orders, sales.*, *_log', { schema: 'copied', table: '{schema}_{table}' }), [
    'crm.orders → copied.crm_orders',
    'sales.* → copied.sales_*',
    '*_log → copied.*_*_log',
  ])
  assert.deepEqual(to('sales."odd, ""x"".y"', { schema: '{schema}', table: '{table}' }), [
    'sales."odd, ""x"".y" → sales.odd, "x".y',
  ])
  assert.deepEqual(to('sales.$&', { dataset: 'raw', table: 'a_{table}' }), ['sales.$& → raw.a_$&'])
  assert.deepEqual(to('sales.a', { table: '' }), [])
  assert.deepEqual(namesAtDestination({ dataSourceType: 'Table Reference', tables: 'a' }, { table: '{table}' }), [])
})
