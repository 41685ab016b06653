import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { discover, valuesOf } from '../../../test/discover.ts'
import { metaSecrets } from '../../../test/meta-server.ts'
import { connectorErrorOf, type PlatformServer, startPlatform } from '../../../test/platform-server.ts'
import { redditRoutes, redditSecrets, startReddit } from '../../../test/reddit-server.ts'
import { metaCustomAudiences } from '../../meta-ads/meta-custom-audiences.ts'
import { redditAudiences } from '../../reddit-ads/reddit-audiences.ts'

const metaRoutes = (url: string) => ({ 'https://graph.facebook.com': url })

describe('a platform that is not to be trusted', () => {
  let reply: (query: URLSearchParams) => unknown
  let server: PlatformServer
  beforeEach(async () => {
    server = await startPlatform(({ query }) => ({ json: reply(query) }))
  })
  afterEach(() => server.close())

  const find = (asked: { search?: string; cursor?: string; size?: number } = {}) =>
    discover(metaCustomAudiences, metaSecrets, 'advertiserId', {
      role: 'destination',
      routes: metaRoutes(server.url),
      ...asked,
    })
  const entry = (account_id: unknown, name: unknown = `Account ${account_id}`) => ({ account_id, name })
  const pageOf = (data: unknown, after?: unknown) => ({
    data,
    paging: { cursors: { after }, ...(after === undefined ? {} : { next: 'https://elsewhere.example/' }) },
  })

  test('pages that lead back to themselves end with an error', async () => {
    reply = () => pageOf([], 'again')
    const error = await connectorErrorOf(find(), { secrets: metaSecrets })
    assert.equal(error.code, 'malformed_response')
    assert.ok(server.received.length <= 2)
  })

  test('a next page that cannot be used is an error, and not the end of the list', async () => {
    for (const after of [null, '', 7, true, {}, 'x'.repeat(4_001)]) {
      reply = () => pageOf([entry('1')], after)
      const error = await connectorErrorOf(find(), { secrets: metaSecrets })
      assert.equal(error.code, 'malformed_response', JSON.stringify(after))
      assert.match(error.message, /^Meta returned a next page that cannot be used/)
    }
    reply = () => ({ data: [entry('1')], paging: { next: null, cursors: { after: 'last' } } })
    assert.deepEqual(valuesOf(await find()), ['1'])
  })

  test('pages without an end are read ten at a time, and each cursor leads on', async () => {
    reply = (query) => {
      const at = Number(query.get('after') ?? 0)
      return pageOf([entry(String(at))], String(at + 1))
    }
    const first = await find({ search: 'no such name' })
    assert.deepEqual(first, { items: [], next: '0.10' })
    assert.equal(server.received.length, 10)
    const second = await find({ search: 'account 1', cursor: '0.10' })
    assert.deepEqual(valuesOf(second), ['10', '11', '12', '13', '14', '15', '16', '17', '18', '19'])
    assert.equal(second.next, '0.20')
    assert.equal(server.received.length, 20)
  })

  test('a page with many thousands of entries is given in pages of the size that was asked for', async () => {
    const data = Array.from({ length: 200_000 }, (_, at) => ({ account_id: at }))
    reply = () => pageOf(data)
    const { items, next } = await find({ size: 3, cursor: '150000' })
    assert.deepEqual(items, [
      { value: '150000', kind: 'account' },
      { value: '150001', kind: 'account' },
      { value: '150002', kind: 'account' },
    ])
    assert.equal(next, '150003')
    assert.deepEqual(await find({ cursor: '199999' }), { items: [{ value: '199999', kind: 'account' }] })
  })

  test('IDs of another form are left out, and names that are none', async () => {
    reply = () =>
      pageOf([
        ...['x', '1/../2', '', ' ', '12\n', null, {}, [1], '1'.repeat(30)].map((id) => entry(id, 'Strange')),
        entry('1', null),
        entry('2', { of: 'x' }),
        entry('3', ''),
        entry('4', ' Acme '),
        entry('4', 'Acme again'),
        null,
        'text',
        7,
      ])
    const kind = 'account'
    assert.deepEqual(await find(), {
      items: [
        // Surrounding spaces are removed.
        { value: '12', kind, label: 'Strange' },
        { value: '1', kind },
        { value: '2', kind },
        { value: '3', kind },
        { value: '4', kind, label: 'Acme again' },
      ],
    })
  })

  test('an answer that is no list lists nothing, and one that is no JSON is an error', async () => {
    for (const json of [{}, { data: 7 }, { data: { 0: entry('1') } }, { paging: [] }]) {
      reply = () => json
      assert.deepEqual(await find(), { items: [] })
    }
    reply = () => [entry('1')]
    assert.equal((await connectorErrorOf(find(), { secrets: metaSecrets })).code, 'malformed_response')
  })
})

test('a cursor of Reddit leads nowhere but to the lists', async () => {
  const reddit = await startReddit()
  const find = (cursor: string) =>
    discover(redditAudiences, redditSecrets, 'advertiserId', {
      role: 'destination',
      routes: redditRoutes(reddit.url),
      cursor,
    })
  for (const at of ['/../ad_accounts/x 0', '?a=1#x 0', ' x', '?a=/.. 0', ' 0 /x', ' 123456']) {
    assert.equal((await connectorErrorOf(find(`0.${at}`), { secrets: redditSecrets })).code, 'invalid_setting', at)
  }
  assert.deepEqual(await find('0. 99'), { items: [{ value: 'a2_d', kind: 'account', label: 'Name of a2_d' }] })
  await reddit.close()
})
