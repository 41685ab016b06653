import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { type MetaServer, metaSecrets, startMeta } from '../../test/meta-server.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { metaCustomAudiences } from './meta-custom-audiences.ts'

describe('Meta Custom Audiences with values, against a server that keeps to what is known of Meta', () => {
  let meta: MetaServer

  beforeEach(async () => {
    meta = await startMeta()
  })
  afterEach(() => meta.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets: metaSecrets,
      settings: { advertiserId: '900' },
      routes: { 'https://graph.facebook.com': meta.url },
      columns: [],
      ...options,
    })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = metaCustomAudiences.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('sends places, gender, first letters, page-scoped IDs and values, and makes an audience by value', async () => {
    const all =
      'segment_name action gender_sha256 city_sha256 state_sha256 finitial_sha256 page_scoped_id lookalike_value'
    const names = all.split(' ')
    const jane = [sha256('f'), sha256('berlin'), sha256('be'), sha256('j'), '7890']
    const rows = [
      ['Loyal', 'add', ...jane, '44.5'],
      ['Loyal', 'add', '', '', '', '', '7891', null],
      ['Loyal', 'add', ...jane, '-1'],
      ['Loyal', 'add', ...jane, 'much'],
      ['Loyal', 'add', '', '', '', '', '', '3'],
      ['Loyal', 'remove', ...jane.with(4, '7892'), '1'],
    ]
    const context = { columns: names, settings: { advertiserId: '900', pageId: '55' } }
    const writer = await openWriter(context)
    const { rejected = [] } = await writer.deliver(batchOf(names, rows))
    assertRejected(rejected, [
      [2, 'lookalike_value'],
      [3, 'lookalike_value'],
      [4, 'email_sha256'],
    ])
    const sent = meta.received.filter(({ path }) => path.endsWith('/users')).map(({ method, json }) => [method, json])
    const schema = ['GEN', 'CT', 'ST', 'FI', 'PAGEUID', 'LOOKALIKE_VALUE']
    const payloadOf = (...data: unknown[]) => ({ payload: { schema, data, page_ids: ['55'] } })
    assert.deepEqual(sent, [
      ['POST', payloadOf([...jane, 44.5], ['', '', '', '', '7891', ''])],
      ['DELETE', payloadOf([...jane.with(4, '7892'), ''])],
    ])
    assert.equal(meta.audiences[0]?.byValue, true)
    const later = await openWriter(context)
    await later.deliver(batchOf(names, [['Loyal', 'remove', ...jane, null]], 2))
    const replacing = await openWriter({
      columns: names,
      settings: { ...context.settings, replaceExistingAudience: true },
    })
    await replacing.deliver(batchOf(names, rows.slice(0, 1), 3))
    await replacing.finish?.()
    assert.equal(meta.audiences[0]?.members.size, 1)
    const { code } = await connectorErrorOf(openWriter({ columns: names }), contextOf())
    assert.equal(code, 'invalid_setting')
  })

  test('limits the use of the data of people row by row', async () => {
    const names = ['segment_name', 'action', 'email_sha256', 'data_processing_options']
    const [jane, john, joan] = [sha256('jane'), sha256('john'), sha256('joan')]
    const rows = [
      ['Limited', 'add', jane, 'LDU'],
      ['Limited', 'add', john, 'no'],
      ['Limited', 'add', joan, null],
      ['Limited', 'add', sha256('x'), 'perhaps'],
      ['Limited', 'remove', sha256('jim'), 'true'],
    ]
    const { rejected = [] } = await (await openWriter({ columns: names })).deliver(batchOf(names, rows))
    assertRejected(rejected, [[3, 'data_processing_options']])
    const schema = ['EMAIL', 'DATA_PROCESSING_OPTIONS']
    const sent = meta.received.filter(({ path }) => path.endsWith('/users')).map(({ text }) => JSON.parse(text))
    assert.deepEqual(
      sent.map(({ payload }) => payload),
      [
        {
          schema,
          data: [
            [jane, ['LDU']],
            [john, []],
            [joan, []],
          ],
        },
        { schema, data: [[sha256('jim'), []]] },
      ],
    )
    assert.equal(meta.audiences[0]?.members.size, 3)
  })
})
