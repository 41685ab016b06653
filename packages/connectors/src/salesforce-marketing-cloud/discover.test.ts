import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import {
  type MarketingCloudServer,
  marketingCloudRoutes,
  people,
  marketingCloudSecrets as secrets,
  startMarketingCloud,
  subdomain,
} from '../../test/marketing-cloud-server.ts'
import { connectorErrorOf } from '../../test/platform-server.ts'
import { salesforceMarketingCloudDataExtensions as connector } from './salesforce-marketing-cloud-data-extensions.ts'

let server: MarketingCloudServer
beforeEach(async () => {
  server = await startMarketingCloud()
  for (let n = 1; n <= 150; n++) {
    const [key, name] = [`KEY-${n}`, `People ${n}`]
    server.extensions.push({ id: `id-${n}`, key, name, categoryId: 7, columns: people, rows: [] })
  }
})
afterEach(() => server.close())

const settings = { subdomain, operationType: 'Add Data' }
const find = (field: string, asked: Asked = {}) =>
  discover(connector, secrets, field, {
    role: 'destination',
    routes: marketingCloudRoutes(server.url),
    settings,
    ...asked,
  })
const codeOf = async (...asked: Parameters<typeof find>) => (await connectorErrorOf(find(...asked), { secrets })).code

test('data extensions by their keys, with their names, and what Marketing Cloud finds by a text', async () => {
  const first = await find('dataExtensionKey', { size: 120 })
  assert.deepEqual(first.items[0], { value: 'KEY-1', kind: 'table', label: 'People 1' })
  assert.equal(first.items.length, 120)
  assert.equal(first.next, '20.2')
  const second = await find('dataExtensionKey', { size: 120, cursor: '20.2' })
  assert.deepEqual([valuesOf(second)[0], second.items.length, second.next], ['KEY-121', 30, undefined])
  const before = server.received.length
  assert.deepEqual(valuesOf(await find('dataExtensionKey', { search: 'KEY-149' })), ['KEY-149'])
  const asked = server.received.slice(before).map(({ query }) => query.get('$search'))
  assert.deepEqual(asked.filter(Boolean), ['KEY-149'])
})

test('columns of the data extension', async () => {
  const { items } = await find('columns', { settings: { ...settings, dataExtensionKey: 'KEY-7' } })
  assert.deepEqual(items, [
    { value: 'Email', kind: 'column', key: true, required: true },
    { value: 'First Name', kind: 'column', key: false, required: false },
    { value: 'Age', kind: 'column', key: false, required: false },
  ])
  assert.equal(await codeOf('columns'), 'invalid_setting')
  assert.equal(await codeOf('columns', { settings: { ...settings, dataExtensionKey: 'none' } }), 'object_not_found')
})

test('refusals: no rights, a limit, cursors that are none', async () => {
  for (const cursor of ['x', '0.x']) assert.equal(await codeOf('dataExtensionKey', { cursor }), 'invalid_setting')
  server.failure(/customobjects/, { status: 403, json: {} })
  assert.equal(await codeOf('dataExtensionKey'), 'permission_denied')
  server.failure(/customobjects/, { status: 429, headers: { 'retry-after': '60' } })
  assert.equal(await codeOf('dataExtensionKey'), 'rate_limited')
})
