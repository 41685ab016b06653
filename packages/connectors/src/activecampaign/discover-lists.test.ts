import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type ActiveCampaignServer, activecampaignKey, startActiveCampaign } from '../../test/activecampaign-server.ts'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { connectorErrorOf } from '../../test/platform-server.ts'
import { activecampaign } from './activecampaign.ts'

let server: ActiveCampaignServer
beforeEach(async () => {
  server = await startActiveCampaign()
})
afterEach(() => server.close())

const find = (asked: Asked = {}, apiKey = activecampaignKey) =>
  discover(activecampaign, { apiUrl: server.url, apiKey }, 'listId', { role: 'destination', ...asked })

test('lists with their names, of as many pages as it takes', async () => {
  const items = ['1', '2', '3'].map((value) => ({ value, kind: 'object', label: `List ${value}` }))
  assert.deepEqual(await find(), { items })
  assert.deepEqual(await find({ size: 2 }), { items: items.slice(0, 2), next: '0.2' })
  assert.deepEqual(await find({ size: 2, cursor: '0.2' }), { items: items.slice(2) })
  assert.deepEqual(valuesOf(await find({ search: 'list 3' })), ['3'])
})

test('refusals: another key, a limit, cursors that are none, a list without an end', async () => {
  const codeOf = async (...asked: Parameters<typeof find>) =>
    (await connectorErrorOf(find(...asked), { secrets: {} })).code
  assert.equal(await codeOf({}, 'wrong'), 'invalid_credentials')
  server.failure(/lists/, { status: 429, headers: { 'retry-after': '60' } })
  assert.equal(await codeOf(), 'rate_limited')
  for (const cursor of ['x', '0.x', '0.-1']) assert.equal(await codeOf({ cursor }), 'invalid_setting')
  server.failure(/lists/, { json: { lists: [], meta: { total: '1000000' } } })
  assert.deepEqual(await find(), { items: [] })
})
