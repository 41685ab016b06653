import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Connector } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { datasetId, type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import { refusalsMax } from '../platform-api/rows/refusals.ts'
import { metaConversions } from './meta-conversions.ts'
import { metaCustomAudiences } from './meta-custom-audiences.ts'

describe('What Meta refuses as a whole is not searched for bad rows without an end', () => {
  const members = Array.from({ length: 10_000 }, (_, n) => ['add', sha256(`${n}@example.com`)])
  const user = JSON.stringify({ em: [sha256('jane@example.com')] })
  const now = Math.floor(Date.now() / 1000)
  const events = Array.from({ length: 1_000 }, () => ['Lead', now, 'system_generated', user])
  let meta: MetaServer

  beforeEach(async () => {
    meta = await startMeta()
  })
  afterEach(() => meta.close())

  async function refused(
    connector: Connector,
    settings: Record<string, string | boolean>,
    columns: string[],
    rows: (string | number)[][],
  ) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    const context = testContext({
      secrets: metaSecrets,
      settings,
      columns,
      routes: { 'https://graph.facebook.com': meta.url },
    })
    const connectorError = await connectorErrorOf(deliverHalving(await deliver.open(context), columns, rows), context)
    const calls = meta.received.filter(({ path }) => /\/(users|usersreplace|events)$/.test(path)).length
    return { action: connectorError.action, code: connectorError.code, calls }
  }
  const columns = ['action', 'email_sha256']

  test('10,000 members are one request', async () => {
    meta.refusing.reply = problem(100)
    const settings = { advertiserId: '900' }
    assert.deepEqual(await refused(metaCustomAudiences, settings, columns, members), {
      action: 'fail',
      code: 'request_refused',
      calls: 1,
    })
  })

  test('10,000 members that Meta seems to refuse for a row are a bounded number of requests', async () => {
    meta.refusing.reply = problem(100, { message: "(#100) Param payload['data'][0] must be an array" })
    for (const replaceExistingAudience of [false, true]) {
      const before = meta.received.filter(({ path }) => /\/users(replace)?$/.test(path)).length
      const settings = { advertiserId: '900', replaceExistingAudience }
      const { code, calls } = await refused(metaCustomAudiences, settings, columns, members)
      assert.deepEqual([code, calls - before], ['everything_refused', refusalsMax])
    }
  })

  test('events that are refused all alike are a bounded number of requests', async () => {
    meta.refusing.reply = problem(100, { error_subcode: 2804007 })
    const eventColumns = ['event_name', 'event_time', 'action_source', 'user_data']
    const { action, code, calls } = await refused(metaConversions, { datasetId }, eventColumns, events)
    assert.deepEqual([action, code, calls], ['fail', 'everything_refused', refusalsMax])
  })
})
