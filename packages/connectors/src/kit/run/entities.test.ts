import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chunk } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { exampleConnector } from '../../../test/skeletons/entities/example-connector.ts'
import { type Exchange, startRecorded } from '../../../test/test-report-source.ts'

const account: Exchange = { path: '/accounts/100', answer: { json: { currency: 'EUR', zone: 'Asia/Tokyo' } } }
/** A page of campaigns. The first one leads to the other. */
const list = (items: object[], next?: string): Exchange => ({
  path: '/accounts/100/campaigns',
  ...(next === undefined && { query: { cursor: '1' } }),
  answer: { json: { items, ...(next !== undefined && { next }) } },
})

test('what a list does not have any more vanishes of its account alone, unless the list was interrupted', async (t) => {
  const server = await startRecorded(
    () => undefined,
    () => [
      list([{ campaign: 1, name: 'Spring', budget: 1_500_000 }], '1'),
      list([{ campaign: 2, name: 'Autumn' }]),
      account,
    ],
  )
  t.after(() => server.close())
  const read = async (settings: Record<string, string>, after?: Chunk['checkpoint'], cursor?: Chunk['cursor']) => {
    const context = testContext({
      secrets: { accessToken: 'good' },
      settings,
      routes: { 'https://api.example.com': server.url },
      ...(cursor !== undefined && { cursor }),
    })
    const reader = await exampleConnector.source?.open?.(context)
    const chunks: Chunk[] = []
    for await (const chunk of reader?.read(after) ?? []) chunks.push(chunk)
    return chunks
  }
  const whole = await read({ accountIds: '100' })
  const window = { scope: { account_id: ['100'] }, key: ['account_id', 'campaign_id'] }
  assert.deepEqual(
    whole.map((chunk) => chunk.window),
    [
      { ...window, begins: true, ends: false },
      { ...window, begins: false, ends: true },
    ],
  )
  const [first, last] = whole
  const rest = await read({ accountIds: '100' }, first?.checkpoint)
  assert.deepEqual(
    rest.map((chunk) => chunk.window),
    [{ ...window, begins: false, ends: false }],
  )
  const kept = await read({ accountIds: '100', vanishedRows: 'Keep' })
  assert.equal(kept[0]?.window, undefined)
  const next = await read({ accountIds: '100' }, undefined, last?.cursor)
  assert.deepEqual(
    next.flatMap((chunk) => chunk.rows),
    [
      ['100', 'EUR', 'Asia/Tokyo', '1', 'Spring', '1.5'],
      ['100', 'EUR', 'Asia/Tokyo', '2', 'Autumn', null],
    ],
    'the next transfer reads all of it again',
  )
})
