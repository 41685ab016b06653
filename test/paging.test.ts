import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connectors } from '@penstock/connectors'
import { type Operation, type OperationId, operations } from '@penstock/wire'
import { type Caller, callerOf, destination, source } from './harness/fixtures.ts'
import { type Reply, startTestService, type TestService } from './harness/service.ts'

/** Every list that has pages: so many entries that the default page does not hold them, many of them made at once. */

const count = 55
let service: TestService
let caller: Caller
let token: string
let accountId: string
before(async () => {
  service = await startTestService()
  const organization = await service.addOrganization()
  token = organization.token
  caller = callerOf(service, organization)
  const { id } = await caller.addAccount()
  accountId = id
  // The ends of the connections are among them.
  const added = new Set([source, destination, ...connectors])
  await caller.addConnectors(id, ...[...added].slice(0, count))
  await Promise.all(Array.from({ length: count }, () => caller.createConnection(id)))
  await Promise.all(Array.from({ length: count - 1 }, () => caller.addAccount()))
  for (const table of ['accounts', 'connections']) {
    // A few moments for all of them, in no order of their identifiers.
    const moment = `to_timestamp(1700000000 + ('x' || right(id, 2))::bit(8)::integer % 11)`
    await service.database.pool.query(`update ${table} set created_time = ${moment}`)
  }
})
after(() => service.close())

const entriesOf = ({ response }: Reply<unknown>) => response as Record<string, unknown>[]
type PagedList = {
  operation: OperationId
  path: string
  id: 'id' | 'connectorId'
  /** Asked without accountId. */
  everywhere?: true
  /** Tells what orders the list, newest first; the catalogue is by name. */
  madeSql?: string
}
const lists: Record<string, PagedList> = {
  accounts: {
    operation: 'listAccounts',
    path: '/accounts',
    id: 'id',
    madeSql: 'select id, created_time from accounts',
  },
  'the catalogue': { operation: 'listConnectors', path: '/connectors', id: 'connectorId' },
  'added connectors': {
    operation: 'listAddedConnectors',
    path: '/connectors/added',
    id: 'connectorId',
    madeSql: 'select connector_id as id, created_time from added_connectors',
  },
  'connections of a sub-account': {
    operation: 'listConnections',
    path: '/connections',
    id: 'id',
    madeSql: 'select id, created_time from connections',
  },
  'connections of all sub-accounts': {
    operation: 'listConnections',
    path: '/connections',
    id: 'id',
    everywhere: true,
    madeSql: 'select id, created_time from connections',
  },
}

test('every operation that answers pages is among them', () => {
  const paged = Object.entries(operations).filter(([, operation]: [string, Operation]) => operation.list === 'paged')
  assert.deepEqual(new Set(Object.values(lists).map(({ operation }) => operation)), new Set(paged.map(([id]) => id)))
})

/** The addresses of a Link header, by relation: offset alone, once it is sure that all else is as it was asked. */
function offsetsOf(reply: Reply<unknown>, path: string, asked: Record<string, string>): Record<string, number> {
  const links = [...(reply.headers.link ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(
    ([, address = '', rel = '']) => {
      const url = new URL(address)
      const { offset, ...rest } = Object.fromEntries(url.searchParams)
      assert.equal(url.origin + url.pathname, `http://penstock.test/es/v2${path}`)
      assert.deepEqual(rest, asked)
      return [rel, Number(offset)]
    },
  )
  assert.equal(links.length, reply.headers.link?.split(', ').length)
  return Object.fromEntries(links)
}

for (const [name, { operation, path, id, everywhere, madeSql }] of Object.entries(lists)) {
  const where = () => (everywhere ? {} : { accountId })
  const list = (query: Record<string, string | number> = {}) => caller.call(operation, { ...where(), query } as never)
  const idsOf = (reply: Reply<unknown>) => entriesOf(reply).map((entry) => String(entry[id]))
  const total = madeSql ? count : connectors.length

  describe(name, () => {
    test('come page by page, each once, in the order of the whole list', async () => {
      const whole = idsOf(await list({ size: 500 }))
      assert.equal(whole.length, total)
      assert.equal(new Set(whole).size, total)
      for (const size of [1, 7, 20]) {
        const walked: string[] = []
        let address: string | undefined = `/es/v2${path}?${new URLSearchParams({ ...where(), size: String(size) })}`
        while (address) {
          const reply: Reply = await service.send({
            method: 'GET',
            path: address,
            headers: { authorization: `Bearer ${token}` },
          })
          assert.equal(reply.headers['x-total-count'], String(total))
          walked.push(...idsOf(reply))
          address = /<http:\/\/penstock\.test([^>]+)>; rel="next"/.exec(reply.headers.link ?? '')?.[1]
        }
        assert.deepEqual(walked, whole)
      }
    })

    if (madeSql) {
      test('come newest first, those made at once by id', async () => {
        const { rows } = await service.database.pool.query<{ id: string; created_time: Date }>(madeSql)
        const made = new Map(rows.map((row) => [row.id, row.created_time.getTime()]))
        const whole = idsOf(await list({ size: 500 })).map((key) => ({ key, ms: made.get(key) ?? 0 }))
        const sorted = whole.toSorted((a, b) => b.ms - a.ms || (a.key < b.key ? 1 : -1))
        assert(new Set(whole.map(({ ms }) => ms)).size < count, 'none was made at once with another')
        assert.deepEqual(whole, sorted)
      })
    } else {
      test('come by name', async () => {
        const names = entriesOf(await list({ size: 500 })).map((entry) => String(entry.name))
        assert.deepEqual(
          names,
          names.toSorted((a, b) => a.localeCompare(b, 'en')),
        )
      })
    }

    test('come 50 at a time from the first on, unless asked otherwise', async () => {
      const [plain, asked] = [await list(), await list({ size: 50, offset: 0 })]
      assert.equal(idsOf(plain).length, 50)
      assert.deepEqual(idsOf(plain), idsOf(asked))
      assert.equal(plain.headers['x-total-count'], String(total))
    })

    test('link to the first, previous, next and last page', async () => {
      const last = madeSql ? 40 : Math.ceil(total / 20) * 20 - 20
      for (const [offset, expected] of [
        [0, { first: 0, next: 20, last }],
        [20, { first: 0, prev: 0, next: 40, last }],
        [5, { first: 0, prev: 0, next: 25, last }],
        [last, { first: 0, prev: last - 20, last }],
        [1_000, { first: 0, prev: last, last }],
        [2_147_483_647, { first: 0, prev: last, last }],
      ] as const) {
        const reply = await list({ size: 20, offset, other: 'x' })
        assert.deepEqual(offsetsOf(reply, path, { size: '20', other: 'x', ...where() }), expected, String(offset))
        if (offset > total) assert.deepEqual(reply.response, [])
        assert.equal(reply.headers['x-total-count'], String(total))
      }
    })

    test('keep the filter in the links, and count what it keeps', async () => {
      const reply = await list({ q: 'nobody & nothing', size: 10 })
      assert.deepEqual(reply.response, [])
      assert.equal(reply.headers['x-total-count'], '0')
      const asked = { q: 'nobody & nothing', size: '10', ...where() }
      assert.deepEqual(offsetsOf(reply, path, asked), { first: 0, last: 0 })
    })

    test('refuse a size or an offset that is out of bounds or no integer', async () => {
      const wrong: string[] = []
      for (const [parameter, values] of Object.entries({
        size: ['0', '501', '-1', '1.5', 'ten', '', ' ', 'NaN', '1e400', '1e2', '0x10', 'null', '99999999999999999999'],
        offset: ['-1', '2147483648', '0.5', 'x', '', 'Infinity', '1e400'],
      })) {
        for (const value of values) {
          const { status, error, details } = await list({ [parameter]: value })
          const refused = status === 400 && error === 'invalid_request' && details[0]?.field === `query.${parameter}`
          if (!refused) wrong.push(`${parameter}=${value}: ${status} ${error}`)
        }
      }
      assert.deepEqual(wrong, [])
      const both = await list({ size: '0', offset: '-1' })
      assert.deepEqual(both.details.map(({ field }) => field).sort(), ['query.offset', 'query.size'])
      const query = new URLSearchParams(where())
      for (const twice of ['size', 'offset']) {
        const headers = { authorization: `Bearer ${token}` }
        const reply = await service.send({
          method: 'GET',
          path: `/es/v2${path}?${query}&${twice}=1&${twice}=2`,
          headers,
        })
        assert.deepEqual([reply.status, reply.error], [400, 'invalid_request'], twice)
      }
    })
  })
}
