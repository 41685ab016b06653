import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { metaSecrets, startMeta } from '../../test/meta-server.ts'
import { batchOf } from '../../test/platform-server.ts'
import { metaCustomAudiences } from './meta-custom-audiences.ts'

const columns = ['segment_name', 'action', 'email_sha256', 'extern_id', 'extern_ids']
const add = (n: number, one: string | null, list: string | null): Cell[] => ['Loyal', 'add', sha256(`${n}`), one, list]

test('a person is sent once for each of several external IDs, and no more people in a request than Meta takes', async () => {
  const meta = await startMeta()
  const { deliver } = metaCustomAudiences.destination ?? {}
  assert.ok(deliver)
  const settings = { advertiserId: '900', audienceSource: 'CRM' }
  const routes = { 'https://graph.facebook.com': meta.url }
  const writer = await deliver.open(testContext({ secrets: metaSecrets, settings, routes, columns }))
  const rows = [add(1, 'a', '["b","a"]'), add(2, null, 'c; d'), add(3, null, null), add(4, 'e', null)]
  assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
  const payloads = () =>
    meta.received
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/users'))
      .map(({ json }) => (json as { payload: { schema: string[]; data: string[][] } }).payload)
  assert.deepEqual(payloads()[0], {
    schema: ['EMAIL', 'EXTERN_ID'],
    data: [
      [sha256('1'), 'a'],
      [sha256('1'), 'b'],
      [sha256('2'), 'c'],
      [sha256('2'), 'd'],
      [sha256('3'), ''],
      [sha256('4'), 'e'],
    ],
  })
  const many = Array.from({ length: 6000 }, (_, n) => add(n, null, `x${n},y${n}`))
  await writer.deliver(batchOf(columns, many, 2))
  assert.deepEqual(
    payloads()
      .slice(1)
      .map(({ data }) => data.length),
    [10_000, 2_000],
  )
  await meta.close()
})
