import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { because, dataManagerFacts } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { destinationScene, type FailureCase } from '../../test/test-destination.ts'
import { googleAdsConversions as connector } from './google-ads-conversions.ts'

const settings = { customerId: '123-456-7890', conversionActionId: '1234', resultWaitSeconds: 0 }
const ingest = /events:ingest/
const columns = ['event_time', 'transaction_id', 'email']
const row = (n: number): Cell[] => ['2026-11-20T10:00:00Z', `order-${n}`, sha256(`${n}@example.com`)]

describe('Google Ads Conversions: what becomes of requests', () => {
  const scene = destinationScene({ ...dataManagerFacts, connector, settings, columns, posts: ingest })
  const { contextOf, openWriter } = scene
  /** A writer that has delivered the rows. */
  async function writerAfter(rows: Cell[][]) {
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, rows))
    return writer
  }

  test('reads back what became of requests: rejects, duplicates, and what is still open', async () => {
    const writer = await writerAfter(Array.from({ length: 10 }, (_, n) => row(n)))
    await writer.deliver(batchOf(columns, [row(20), row(21)], 2))
    await writer.deliver(batchOf(columns, [row(30)], 3))
    scene.server.statuses.set('request-1', {
      requestStatus: 'PARTIAL_SUCCESS',
      errorCounts: [
        { recordCount: '2', reason: 'PROCESSING_ERROR_REASON_TOO_RECENT_CLICK' },
        { recordCount: '5', reason: 'PROCESSING_ERROR_REASON_DUPLICATE_TRANSACTION_ID' },
        { recordCount: '-3', reason: 'PROCESSING_ERROR_REASON_INVALID_EVENT' },
      ],
    })
    scene.server.statuses.set('request-2', {
      requestStatus: 'FAILED',
      errorCounts: [{ recordCount: '2', reason: 'PROCESSING_ERROR_REASON_DUPLICATE_GCLID' }],
    })
    scene.server.statuses.set('request-3', { requestStatus: 'PROCESSING' })
    const flushed = await writer.flush?.()
    assert.deepEqual(
      flushed?.rejected?.map(({ count, reason }) => [count, reason]),
      [
        [
          2,
          'Google took these events in and then did not use them: the click is too recent; send them again after six hours (PROCESSING_ERROR_REASON_TOO_RECENT_CLICK). It is not known which rows they are.',
        ],
      ],
    )
    assert.deepEqual(flushed?.deliveryState, { requests: ['request-1', 'request-2', 'request-3'] })
  })

  test('names the rows of the last batch that Google names, once each', async () => {
    const writer = await writerAfter([row(1), row(2)])
    const rows = [...row(3).map((cell, at) => (at === 2 ? null : cell))]
    await writer.deliver(batchOf(columns, [rows, row(4), row(5), row(6), row(7)], 2))
    for (const [requestId, indices] of [
      ['request-1', [1]],
      ['request-2', [0, '3', 3, 99, -1, 'x']],
    ] as const) {
      scene.server.statuses.set(requestId, {
        requestStatus: 'PARTIAL_SUCCESS',
        errorCounts: [
          {
            recordCount: String(indices.length === 1 ? 1 : 7),
            reason: 'PROCESSING_ERROR_REASON_CLICK_NOT_FOUND',
            recordIndices: indices,
          },
        ],
      })
    }
    const { rejected = [] } = (await writer.flush?.()) ?? {}
    assert.deepEqual(
      rejected.map(({ index, count }) => [index, count]),
      [
        [undefined, 1],
        [1, undefined],
        [4, undefined],
        [undefined, 2],
      ],
    )
    assert.match(rejected[1]?.reason ?? '', /this event in and then did not use it: no click was found/)
  })

  test('names no row by the place that it had in an attempt which was halved', async () => {
    const names = [...columns, 'conversion_action_id']
    const writer = await openWriter({ columns: names })
    const rows: Cell[][] = [1, 2, 3].map((n) => [...row(n), '1234'])
    const second: Cell[] = [...row(4), '5678']
    // The events of one conversion action are accepted, and then the events of the other are refused.
    scene.server.failure(ingest, { json: { requestId: 'stale' } })
    scene.server.failure(ingest, because('TOO_MANY_EVENTS', 'events'))
    const halved = await connectorErrorOf(writer.deliver(batchOf(names, [...rows, second])), contextOf())
    assert.equal(halved.action, 'split')
    await writer.deliver(batchOf(names, rows.slice(0, 2), 2))
    await writer.deliver(batchOf(names, [rows[2] ?? [], second], 3))
    const errorCounts = [{ recordCount: '1', reason: 'PROCESSING_ERROR_REASON_INVALID_EVENT', recordIndices: [0] }]
    scene.server.statuses.set('request-3', { requestStatus: 'FAILED', errorCounts })
    assertRejected((await writer.flush?.())?.rejected, [1])
    const asked = scene.server.received.flatMap(({ query }) => query.get('requestId') ?? [])
    assert.deepEqual(asked, ['request-1', 'request-2', 'request-3'])
  })

  test('fails, and rejects no row, where a request failed as a whole because of the account', async () => {
    const writer = await writerAfter([row(1), row(2)])
    const reason = 'PROCESSING_ERROR_REASON_DESTINATION_ACCOUNT_ENHANCED_CONVERSIONS_TERMS_NOT_SIGNED'
    scene.server.statuses.set('request-1', { requestStatus: 'FAILED', errorCounts: [{ recordCount: '2', reason }] })
    const error = await connectorErrorOf(writer.flush?.(), contextOf())
    assert.deepEqual([error.code, error.action], ['terms_not_accepted', 'reconfigure'])
  })

  test('maps each refusal of events to a code', async () => {
    const first = 'events.events[0]'
    const cases: FailureCase[] = [
      [{ json: [] }, 'retry', 'malformed_response'],
      [{ json: {} }, 'retry', 'malformed_response'],
      [{ json: { requestId: { id: 1 } } }, 'retry', 'malformed_response'],
      [because('INVALID_CONVERSION_ACTION_ID', first), 'reconfigure', 'object_not_found'],
      [because('INVALID_CONVERSION_ACTION_TYPE', first), 'reconfigure', 'invalid_setting'],
      [
        because('DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS', first),
        'reconfigure',
        'terms_not_accepted',
      ],
      [
        because('DESTINATION_ACCOUNT_DATA_POLICY_PROHIBITS_ENHANCED_CONVERSIONS', first),
        'reconfigure',
        'account_restricted',
      ],
      [because('TOO_MANY_EVENTS', 'events'), 'split', 'invalid_batch'],
      [because('INVALID_EVENT', 'events'), 'split', 'invalid_batch'],
      [because('REASON_OF_NEXT_YEAR', first), 'fail', 'request_refused'],
    ]
    await scene.fails(cases, [row(1)])
  })
})
