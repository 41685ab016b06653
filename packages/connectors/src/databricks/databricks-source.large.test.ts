import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ConnectorError, type Values } from '@penstock/connector'
import { acceptSource } from '@penstock/connector/acceptance'
import { startDatabricksServer, testServerName } from '../../test/databricks-server.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { createPeople, readColumns, readPeople } from '../../test/people-tables.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../test/tables.ts'
import { databricksSource } from './databricks-source.ts'

const databricks = await startDatabricksServer()
after(() => databricks.close())
const { proxy, routes, secrets, run } = databricks
await run(createPeople())

const settings = {
  warehouse: 'wh1',
  catalog: 'main',
  schema: 'crm',
  table: 'people',
  keyColumns: 'id',
  syncMode: 'Full',
}
const refused = (status: number, code: string) => ({
  status,
  body: JSON.stringify({ error_code: code, message: 'No.' }),
})
const ofApi = ({ url }: { url: string }) => url.startsWith('/api/')

acceptSource({
  connector: databricksSource,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, clientSecret: 'quite another secret' },
  settings,
  rows: readPeople(),
  missing: { ...settings, table: 'absent' },
  incremental: { ...settings, syncMode: 'Incremental', markerColumn: 'changed' },
  columns: readColumns,
  errors: problemsOf(
    proxy,
    {
      slow: refused(429, 'RESOURCE_EXHAUSTED'),
      forbidden: refused(403, 'PERMISSION_DENIED'),
    },
    ofApi,
  ),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`reading, against ${testServerName}`, () => {
  const optionsOf = (own: Values = {}) => ({ routes, secrets, settings: { ...settings, ...own } })
  const query = { dataSourceType: 'SQL Query', keyColumns: '' }

  test('resumes in the result while it is kept, and by a new statement afterwards', async () => {
    const sqlQuery = `select case when i < 7000 then 'same' else i::varchar end as v from range(9000) as t(i) -- all\n;`
    const options = optionsOf({ ...query, sqlQuery })
    const chunks = await readAll(databricksSource, options)
    assert.equal(rowsOf(chunks).filter(([v]) => v === 'same').length, 7000)
    const rest = rowsOf(chunks.slice(1))
    const isRead = (text: string) => text.includes('order by')
    databricks.executed.length = 0
    assert.deepEqual(rowsOf(await readAll(databricksSource, options, chunks[0]?.checkpoint)), rest)
    assert.equal(databricks.executed.filter(isRead).length, 0)
    databricks.forgetResults()
    assert.deepEqual(rowsOf(await readAll(databricksSource, options, chunks[0]?.checkpoint)), rest)
    assert.equal(databricks.executed.filter(isRead).length, 1)
  })

  test('declares types, and refuses columns by which nothing can be ordered', async () => {
    const [chunk] = await readAll(databricksSource, optionsOf())
    assert.deepEqual(
      chunk?.types?.map((type) => type?.kind),
      ['bigint', undefined, 'boolean', 'double', 'decimal', 'date', 'timestamp'],
    )
    const invalid = ['reconfigure', 'invalid_setting']
    assert.deepEqual(await connectorErrorOf(readAll(databricksSource, optionsOf({ keyColumns: 'score' }))), invalid)
  })

  test('downloads from addresses with https only', async () => {
    for (const address of ['http://results.storage.example.com/x', 'file:///etc/passwd', 'nothing']) {
      const body = JSON.stringify({ external_links: [{ external_link: address }] })
      proxy.failure = { what: { status: 200, body }, of: ({ url }) => url.includes('/chunks/') }
      const error = connectorErrorOf(readAll(databricksSource, optionsOf())).finally(() => {
        proxy.failure = undefined
      })
      assert.deepEqual(await error, ['retry', 'malformed_response'])
    }
  })

  test('repeats what the storage refuses, and shows nothing of the address', async () => {
    proxy.failure = { what: { status: 403, body: 'AccessDenied' }, of: ({ url }) => url.includes('signature') }
    const [result] = await Promise.allSettled([readAll(databricksSource, optionsOf())])
    proxy.failure = undefined
    assert.ok(result?.status === 'rejected' && result.reason instanceof ConnectorError)
    assert.deepEqual([result.reason.action, result.reason.code], ['retry', 'platform_unavailable'])
    assert.doesNotMatch(result.reason.message, /signature|s1/)
  })

  test('cancels a statement that takes too long', async () => {
    databricks.polls = 1000
    const error = await connectorErrorOf(readAll(databricksSource, optionsOf({ statementTimeoutSeconds: 1 })))
    databricks.polls = 0
    assert.equal(error[1], 'statement_timeout')
    assert.equal(databricks.cancelled.length, 1)
  })

  test('lists warehouses, tables and columns', async () => {
    const find = (field: string, own: Values = {}) =>
      discover(databricksSource, secrets, field, { role: 'source', routes, settings: { ...settings, ...own } })
    assert.deepEqual(valuesOf(await find('warehouse')), ['wh1'])
    assert.deepEqual(valuesOf(await find('table')), ['people'])
    assert.equal(valuesOf(await find('markerColumn')).length, 7)
    assert.deepEqual(valuesOf(await find('columns', { ...query, sqlQuery: 'select 1 as one' })), ['one'])
  })
})
