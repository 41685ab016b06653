import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Discovered } from '@penstock/connector'
import { startBigQueryServer, testServerName } from '../../test/bigquery-server.ts'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { connectorErrorOf } from '../../test/platform-server.ts'
import { googleBigquerySource } from './google-bigquery-source.ts'

const bigQuery = await startBigQueryServer()
after(() => bigQuery.close())
const { jsonKey, deletedKey, routes, run } = bigQuery
await run(`create table crm.customers as select 1 as id, 'Ann' as name`)
await run('create table crm.orders as select 1 as id')
await run('create view crm.recent as select * from crm.orders')

const settings = { projectId: 'example-project', dataset: 'crm', table: 'customers' }
const find = (field: string, asked: Asked = {}, key = jsonKey) =>
  discover(googleBigquerySource, { jsonKey: key }, field, { routes, settings, ...asked })

test(`datasets with their names, against ${testServerName}`, async () => {
  const named: Discovered = { value: 'crm', kind: 'schema', label: 'Customers' }
  assert.deepEqual(await find('dataset', { size: 1 }), { items: [named], next: '1' })
  assert.deepEqual(valuesOf(await find('dataset')), ['crm', 'logs', 'web'])
  assert.deepEqual(await find('dataset', { search: 'CUST' }), { items: [named] })
})

test('tables and views, of as many pages as it takes', async () => {
  const { items } = await find('table')
  assert.deepEqual(items, [
    { value: 'customers', kind: 'table' },
    { value: 'orders', kind: 'table' },
    { value: 'recent', kind: 'view' },
  ])
  const { next } = await find('table', { size: 2 })
  assert.equal(next, '0.2')
  assert.deepEqual(valuesOf(await find('table', { size: 2, cursor: '0.2' })), ['recent'])
  const elsewhere = { ...settings, dataset: 'example-project.crm' }
  assert.deepEqual(valuesOf(await find('table', { settings: elsewhere, search: 'ORD' })), ['orders'])
})

test('columns with their types, of the query, or of the table if there is none', async () => {
  assert.deepEqual((await find('columns')).items, [
    { value: 'id', kind: 'column', type: 'INTEGER' },
    { value: 'name', kind: 'column', type: 'STRING' },
  ])
  const sqlQuery = 'select name as n from crm.customers'
  assert.deepEqual((await find('columns', { settings: { ...settings, sqlQuery } })).items, [
    { value: 'n', kind: 'column', type: 'STRING' },
  ])
})

test('refusals: another setting first, no such dataset or table, other credentials, a cursor that is none', async () => {
  const codeOf = async (...asked: Parameters<typeof find>) =>
    (await connectorErrorOf(find(...asked), { secrets: {} })).code
  const { projectId } = settings
  assert.equal(await codeOf('dataset', { settings: {} }), 'invalid_setting')
  assert.equal(await codeOf('table', { settings: { projectId } }), 'invalid_setting')
  assert.equal(await codeOf('table', { settings: { dataset: 'crm' } }), 'invalid_setting')
  assert.equal(await codeOf('columns', { settings: { projectId, dataset: 'crm' } }), 'invalid_setting')
  assert.equal(await codeOf('table', { settings: { ...settings, dataset: 'none' } }), 'table_not_found')
  assert.equal(await codeOf('columns', { settings: { ...settings, table: 'none' } }), 'table_not_found')
  assert.equal(await codeOf('table', { cursor: '-1' }), 'invalid_setting')
  assert.equal(await codeOf('dataset', {}, deletedKey), 'invalid_credentials')
})
