import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listedConnectors } from '@penstock/connectors'
import { type Operation, type OperationId, operations } from '@penstock/wire'
import { createLink } from './harness/connect-links.ts'
import {
  addAccountWithConnection,
  addEndedTransfer,
  addParts,
  addTables,
  type Inbox,
  makeInbox,
} from './harness/connections.ts'
import { anyFile, type Caller, callerOf, destination, source } from './harness/fixtures.ts'
import { type Reply, startTestService, type TestService } from './harness/service.ts'
import { addPerson } from './harness/users.ts'

/** Every list that has pages, with more entries than the default page holds, many of them created at the same time. */

const count = 55
let inbox: Inbox
let service: TestService
/** Where lists are requested: an organization, an account in it, and the resource that a path names. */
type Place = { caller: Caller; token: string; accountId: string; id?: string; transferId?: string }
let place: Place
/** In another organization, so that these are in no other list. */
let placeOfTransfers: Place
/** Headers of a person who is signed in, for the lists that only people can request. */
let headersOfPerson: Record<string, string>
let placeOfWebhook: Place
/** In another organization, with many configured destinations. */
let placeOfDestinations: Place
before(async () => {
  inbox = await makeInbox()
  service = await startTestService(inbox.env)
  const organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  const { id } = await caller.addAccount()
  place = { caller, token: organization.token, accountId: id }
  // The sides of the connections are among them.
  const added = new Set([source, destination, ...listedConnectors])
  await caller.addConnectors(id, ...[...added].slice(0, count))
  await Promise.all(Array.from({ length: count }, () => caller.createConnection(id)))
  await Promise.all(Array.from({ length: count - 1 }, () => caller.addAccount()))
  await service.database.pool.query(`update connections set tags = array[id], tag_keys = array[id]`)
  await service.database.pool.query(
    'insert into audience_checks (connection_id, next_time) select id, now() from connections',
  )
  await service.database.pool.query(
    `insert into schedules (connection_id, cron, timezone, enabled) select id, '0 6 * * *', 'UTC', false from connections`,
  )
  // The client of the organization is one of them.
  for (let n = 2; n <= count; n++) await caller.expect(caller.call('createClient', { body: { name: `Key ${n}` } }))
  for (let n = 1; n <= count; n++) {
    const body = { email: `person-${String(n).padStart(3, '0')}@example.com`, role: 'viewer' } as const
    await caller.expect(caller.call('inviteUser', { body }))
  }
  for (let n = 1; n <= count; n++) await createLink(caller, id)
  for (let n = 1; n <= count; n++) await caller.expect(caller.call('createUpload', { accountId: id, body: anyFile }))
  // The rule that every organization begins with is one of them.
  for (let n = 2; n <= count; n++) {
    const body = { name: `Rule ${n}`, conditions: { transferFailed: true } }
    await caller.expect(caller.call('createAlertRule', { body }))
  }
  await service.database.pool.query(
    `insert into alert_incidents (id, rule_id, organization_id, account_id, connection_id, reasons, opened_time)
     select substr(md5(c.id), 1, 16), r.id, c.organization_id, c.account_id, c.id, '{transfer_failed}',
       to_timestamp(1700000000 + ('x' || right(c.id, 2))::bit(8)::integer % 11)
     from connections c join alert_rules r on r.organization_id = c.organization_id and r.name = 'Failures'
     where c.organization_id = $1`,
    [organization.organizationId],
  )
  await service.database.pool.query(
    `insert into mapping_templates (id, organization_id, account_id, name, dest_connector_id, mapping, fields, created_by)
     select left(md5(n::text), 16), $1, $2, 'Template ' || lpad(n::text, 3, '0'), $3, '{"a": "b"}', 1, '{"kind": "operator", "id": null, "name": null}'
     from generate_series(1, $4::int) n`,
    [organization.organizationId, id, destination.id, count],
  )
  await service.database.pool.query(
    `insert into transfer_groups (account_id, name, transfers_max)
     select $1, 'Group ' || lpad(n::text, 3, '0'), 1 from generate_series(1, $2::int) n`,
    [id, count],
  )
  await service.database.pool.query(
    `insert into purposes (account_id, name, signals, uses)
     select $1, 'Purpose ' || lpad(n::text, 3, '0'), '[{"kind": "usPrivacy", "column": "a"}]', '{}' from generate_series(1, $2::int) n`,
    [id, count],
  )
  placeOfTransfers = await addTransfers()
  placeOfWebhook = await addWebhooks(place)
  placeOfDestinations = await addDestinations()
  const elsewhere = await service.addOrganization()
  headersOfPerson = { ...(await addPerson(service, elsewhere)).headers }
  await service.database.pool.query(
    `insert into saved_filters (id, organization_id, name, query)
     select left(md5(n::text), 16), $1, 'Filter ' || lpad(n::text, 3, '0'), '' from generate_series(1, $2::int) n`,
    [elsewhere.organizationId, count],
  )
  for (const table of [
    'accounts',
    'alert_rules',
    'clients',
    'connections',
    'connect_links',
    'transfers',
    'uploads',
    'webhooks',
    'webhook_deliveries',
  ]) {
    // They share a few times, in another order than their identifiers.
    const timestamp = `to_timestamp(1700000000 + ('x' || right(id, 2))::bit(8)::integer % 11)`
    await service.database.pool.query(`update ${table} set created_time = ${timestamp}`)
  }
})
after(async () => {
  await service.close()
  await inbox.remove()
})

/** The same number of webhooks. One of them has the same number of deliveries. */
async function addWebhooks({ caller, ...here }: Place): Promise<Place> {
  const body = { url: 'http://127.0.0.1:1/', eventTypes: ['webhook.disabled' as const] }
  let id = ''
  for (let n = 1; n <= count; n++) ({ id } = await caller.expect(caller.call('createWebhook', { body })))
  for (let n = 1; n <= count; n++) await caller.expect(caller.call('testWebhook', { id }))
  return { caller, ...here, id }
}

/** Configurations of one destination. */
async function addDestinations(): Promise<Place> {
  const organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  const { id } = await caller.addAccount()
  await caller.addConnectors(id, destination)
  await service.database.pool.query('delete from configurations where account_id = $1', [id])
  await service.database.pool.query(
    `insert into configurations (account_id, connector_id, id, first, configured, name, secret_name)
     select $1, $2, left(md5('destination ' || n), 16), n = 1, true, 'Store ' || lpad(n::text, 3, '0'), 'key'
     from generate_series(1, $3::int) n`,
    [id, destination.id, count],
  )
  return { caller, token: organization.token, accountId: id }
}

/** A connection with transfers, one of which rejected records. */
async function addTransfers(): Promise<Place> {
  const { token, ...organization } = await service.addOrganization()
  const caller = callerOf(service, { token, ...organization })
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const transferId = await addEndedTransfer(service, caller, connection)
  await service.database.pool.query(
    `insert into transfers
       (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger, finished_time)
     select substr(md5(n::text), 1, 16), organization_id, account_id, connection_id, src_connector_id, dest_connector_id,
       'cancelled', 'manual', now()
     from transfers, generate_series(2, $2::int) as n where id = $1`,
    [transferId, count],
  )
  for (let n = 1; n <= count; n++) {
    const name = `Orders, name ${String(n).padStart(3, '0')}`
    await caller.expect(caller.call('updateConnection', { ...connection, body: { name } }))
  }
  await service.database.pool.query(`delete from connection_events where kind <> 'renamed'`)
  await service.database.pool.query(
    `insert into rejects (transfer_id, number, row, record)
     select $1, n, n * 2, '{}' from generate_series(2, $2::int) as n`,
    [transferId, count],
  )
  await service.database.pool.query(
    `update transfer_logs set lines = (
       select jsonb_agg(jsonb_build_object('ms', 1700000000000, 'kind', 'sent', 'text', n::text) order by n)
       from generate_series(1, $2::int) as n
     ) where transfer_id = $1`,
    [transferId, count],
  )
  await addParts(service, transferId, count)
  await addTables(service, connection.id, count)
  await service.database.pool.query(
    `insert into triggers (id, organization_id, account_id, connection_id, name, secret_digest, created_time)
     select left(md5(n::text), 16), organization_id, account_id, id, 'Job', ''::bytea, to_timestamp(1700000000 + n % 11)
     from connections, generate_series(1, $2::int) n where id = $1`,
    [connection.id, count],
  )
  return { ...connection, caller, token, transferId }
}

const entriesOf = ({ response }: Reply<unknown>) => response as Record<string, unknown>[]
type PagedList = {
  operation: OperationId
  /** The key of its entries. */
  id:
    | 'id'
    | 'connectorId'
    | 'accountId'
    | 'configurationId'
    | 'connectionId'
    | 'row'
    | 'number'
    | 'tag'
    | 'name'
    | 'table'
  /** Asked without accountId. */
  everywhere?: true
  /** Asked of the connection with transfers. */
  ofTransfers?: true
  /** Asked of the webhook with deliveries. */
  ofWebhook?: true
  ofDestinations?: true
  /** Asked by a person. */
  ofPerson?: true
  /** How many there are, if it is not `count`. */
  total?: number
  /** The order of the list: newest first, by the result of this SQL, or by a name or a number in its entries. */
  order:
    | { madeSql: string }
    | {
        by:
          | 'name'
          | 'accountName'
          | 'configurationName'
          | 'connectionName'
          | 'row'
          | 'to'
          | 'email'
          | 'number'
          | 'connectorId'
          | 'connectionId'
          | 'tag'
          | 'table'
        newestFirst?: true
      }
  /** A filter without results. Undefined if the list has no filter. */
  filter?: Record<string, string>
}
const q = { q: 'nobody & nothing' }
const lists: Record<string, PagedList> = {
  accounts: {
    operation: 'listAccounts',
    id: 'id',
    order: { madeSql: 'select id, created_time from accounts' },
    filter: q,
  },
  'figures of sub-accounts': {
    operation: 'listAccountFigures',
    id: 'id',
    order: { by: 'name' },
    filter: q,
  },
  'the catalogue': {
    operation: 'listConnectors',
    id: 'connectorId',
    total: listedConnectors.length,
    order: { by: 'name' },
    filter: q,
  },
  'added connectors': {
    operation: 'listAddedConnectors',
    id: 'connectorId',
    // Entries of the account that has this number of them.
    order: {
      madeSql: `select connector_id as id, created_time from added_connectors
        where account_id in (select account_id from added_connectors group by 1 having count(*) = ${count})`,
    },
    filter: q,
  },
  'connections of a sub-account': {
    operation: 'listConnections',
    id: 'id',
    order: { madeSql: 'select id, created_time from connections' },
    filter: q,
  },
  'connections of all sub-accounts': {
    operation: 'listConnections',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from connections' },
    filter: q,
  },
  'configurations of a sub-account': {
    operation: 'listConnectorConfigurations',
    id: 'connectorId',
    order: { by: 'connectorId' },
  },
  'configurations of all sub-accounts': {
    operation: 'listConnectorConfigurations',
    id: 'connectorId',
    everywhere: true,
    order: { by: 'connectorId' },
  },
  'connections of a sub-account with their settings': {
    operation: 'listConnectionDetails',
    id: 'id',
    order: { madeSql: 'select id, created_time from connections' },
  },
  'connections of all sub-accounts with their settings': {
    operation: 'listConnectionDetails',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from connections' },
  },
  'labels of connections of a sub-account': {
    operation: 'listConnectionLabels',
    id: 'connectionId',
    order: { by: 'connectionId' },
  },
  'labels of connections of all sub-accounts': {
    operation: 'listConnectionLabels',
    id: 'connectionId',
    everywhere: true,
    order: { by: 'connectionId' },
  },
  'saved filters': {
    operation: 'listSavedFilters',
    id: 'id',
    everywhere: true,
    ofPerson: true,
    order: { by: 'name' },
  },
  'mapping templates of all sub-accounts': {
    operation: 'listMappingTemplates',
    id: 'id',
    everywhere: true,
    order: { by: 'name' },
    filter: q,
  },
  'mapping templates of a sub-account': {
    operation: 'listMappingTemplates',
    id: 'id',
    order: { by: 'name' },
    filter: q,
  },
  'tags of connections of a sub-account': { operation: 'listConnectionTags', id: 'tag', order: { by: 'tag' } },
  'schedules of a sub-account': {
    operation: 'listSchedules',
    id: 'connectionId',
    order: { madeSql: 'select id, created_time from connections' },
  },
  'schedules of all sub-accounts': {
    operation: 'listSchedules',
    id: 'connectionId',
    everywhere: true,
    order: { madeSql: 'select id, created_time from connections' },
  },
  'connections of a sub-account that need attention': {
    operation: 'listAttention',
    id: 'id',
    order: { madeSql: 'select id, created_time from connections' },
    filter: { reason: 'offline' },
  },
  'connections of all sub-accounts that need attention': {
    operation: 'listAttention',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from connections' },
    filter: { reason: 'offline' },
  },
  transfers: {
    operation: 'listTransfers',
    id: 'id',
    ofTransfers: true,
    order: { madeSql: 'select id, created_time from transfers' },
    filter: { status: 'failed' },
  },
  'transfers of a sub-account': {
    operation: 'listAllTransfers',
    id: 'id',
    ofTransfers: true,
    order: { madeSql: 'select id, created_time from transfers' },
    filter: { status: 'failed', latest: 'true' },
  },
  'transfers of all sub-accounts': {
    operation: 'listAllTransfers',
    id: 'id',
    everywhere: true,
    ofTransfers: true,
    order: { madeSql: 'select id, created_time from transfers' },
    filter: { connectionIds: '0123456789abcdef' },
  },
  'what changed of a connection': {
    operation: 'listConnectionEvents',
    id: 'id',
    ofTransfers: true,
    order: { by: 'to', newestFirst: true },
  },
  'purposes of a sub-account': { operation: 'listPurposes', id: 'name', order: { by: 'name' } },
  'purposes of all sub-accounts': { operation: 'listPurposes', id: 'name', everywhere: true, order: { by: 'name' } },
  'groups of a sub-account': { operation: 'listTransferGroups', id: 'name', order: { by: 'name' } },
  'groups of all sub-accounts': {
    operation: 'listTransferGroups',
    id: 'name',
    everywhere: true,
    order: { by: 'name' },
  },
  'triggers of a connection': {
    operation: 'listTriggers',
    id: 'id',
    ofTransfers: true,
    order: { madeSql: 'select id, created_time from triggers' },
  },
  'the log of a transfer': { operation: 'listTransferLog', id: 'number', ofTransfers: true, order: { by: 'number' } },
  'the parts of a transfer': {
    operation: 'listTransferParts',
    id: 'number',
    ofTransfers: true,
    order: { by: 'number' },
  },
  'the tables of a connection': {
    operation: 'listConnectionTables',
    id: 'table',
    ofTransfers: true,
    order: { by: 'table' },
    filter: { status: 'paused' },
  },
  'rejected records': { operation: 'listRejects', id: 'row', ofTransfers: true, order: { by: 'row' } },
  'the audit log of a sub-account': {
    operation: 'listAudit',
    id: 'number',
    // It was added, its connectors, and its connections, connect links and uploaded files.
    total: 3 * count + 2,
    order: { by: 'number', newestFirst: true },
    filter: { action: 'nothing' },
  },
  'the report of accounts': {
    operation: 'reportAccounts',
    id: 'accountId',
    everywhere: true,
    order: { by: 'accountName' },
    filter: { ...q, startDate: '2026-01-01', endDate: '2026-01-31' },
  },
  'connect links of a sub-account': {
    operation: 'listConnectLinks',
    id: 'id',
    order: { madeSql: 'select id, created_time from connect_links' },
  },
  'connect links of all sub-accounts': {
    operation: 'listConnectLinks',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from connect_links' },
  },
  'uploaded files': {
    operation: 'listUploads',
    id: 'id',
    order: { madeSql: 'select id, created_time from uploads' },
  },
  'alert rules': {
    operation: 'listAlertRules',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from alert_rules' },
    filter: q,
  },
  'incidents of all sub-accounts': {
    operation: 'listAlertIncidents',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, opened_time as created_time from alert_incidents' },
    filter: { open: 'false' },
  },
  'incidents of a sub-account': {
    operation: 'listAlertIncidents',
    id: 'id',
    order: { madeSql: 'select id, opened_time as created_time from alert_incidents' },
    filter: { ruleId: '0123456789abcdef' },
  },
  'client credentials': {
    operation: 'listClients',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from clients' },
    filter: q,
  },
  webhooks: {
    operation: 'listWebhooks',
    id: 'id',
    everywhere: true,
    order: { madeSql: 'select id, created_time from webhooks' },
  },
  'deliveries of a webhook': {
    operation: 'listWebhookDeliveries',
    id: 'id',
    everywhere: true,
    ofWebhook: true,
    order: { madeSql: 'select id, created_time from webhook_deliveries' },
    filter: { status: 'failed' },
  },
  people: {
    operation: 'listUsers',
    id: 'id',
    everywhere: true,
    order: { by: 'email' },
    filter: q,
  },
  'the report of connections': {
    operation: 'reportConnections',
    id: 'connectionId',
    order: { by: 'connectionName' },
    filter: q,
  },
  'the destinations at which a person is erased': {
    operation: 'listErasureDestinations',
    id: 'configurationId',
    ofDestinations: true,
    order: { by: 'configurationName' },
  },
  'the report of audiences': {
    operation: 'reportAudiences',
    id: 'connectionId',
    order: { by: 'connectionName' },
    filter: q,
  },
}

test('every operation that answers pages is among them', () => {
  const paged = Object.entries(operations).filter(([, operation]: [string, Operation]) => operation.list === 'paged')
  assert.deepEqual(new Set(Object.values(lists).map(({ operation }) => operation)), new Set(paged.map(([id]) => id)))
})

/**
 * The addresses of a Link header, by relation. Returns only the offsets, after checking that everything else equals the
 * request.
 */
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

for (const [
  name,
  { operation, id, everywhere, ofTransfers, ofWebhook, ofDestinations, ofPerson, total = count, order, filter },
] of Object.entries(lists)) {
  const here = () =>
    ofTransfers ? placeOfTransfers : ofWebhook ? placeOfWebhook : ofDestinations ? placeOfDestinations : place
  const where = () => (everywhere ? {} : { accountId: here().accountId })
  const list = (query: Record<string, string | number> = {}) => {
    const { caller, id: pathId, transferId } = here()
    const asked = { ...where(), id: pathId, transferId, query }
    if (ofPerson) return service.call(operation, { ...asked, headers: headersOfPerson } as never)
    return caller.call(operation, asked as never)
  }
  const headersHere = () => (ofPerson ? headersOfPerson : { authorization: `Bearer ${here().token}` })
  const pathHere = () => {
    const { id: pathId = '', transferId = '' } = here()
    return operations[operation].path.replace('{id}', pathId).replace('{transferId}', transferId)
  }
  const idsOf = (reply: Reply<unknown>) => entriesOf(reply).map((entry) => String(entry[id]))

  describe(name, () => {
    test('come page by page, each once, in the order of the whole list', async () => {
      const whole = idsOf(await list({ size: 500 }))
      assert.equal(whole.length, total)
      assert.equal(new Set(whole).size, total)
      for (const size of [1, 7, 20]) {
        const walked: string[] = []
        let address: string | undefined =
          `/es/v2${pathHere()}?${new URLSearchParams({ ...where(), size: String(size) })}`
        while (address) {
          const reply: Reply = await service.send({
            method: 'GET',
            path: address,
            headers: headersHere(),
          })
          assert.equal(reply.headers['x-total-count'], String(total))
          walked.push(...idsOf(reply))
          address = /<http:\/\/penstock\.test([^>]+)>; rel="next"/.exec(reply.headers.link ?? '')?.[1]
        }
        assert.deepEqual(walked, whole)
      }
    })

    if ('madeSql' in order) {
      const { madeSql } = order
      test('come newest first, those made at once by id', async () => {
        const { rows } = await service.database.pool.query<{ id: string; created_time: Date }>(madeSql)
        const made = new Map(rows.map((row) => [row.id, row.created_time.getTime()]))
        const whole = idsOf(await list({ size: 500 })).map((key) => ({ key, ms: made.get(key) ?? 0 }))
        const sorted = whole.toSorted((a, b) => b.ms - a.ms || (a.key < b.key ? 1 : -1))
        assert(new Set(whole.map(({ ms }) => ms)).size < count, 'none was made at once with another')
        assert.deepEqual(whole, sorted)
      })
    } else {
      test(`come by ${order.by}`, async () => {
        const keys = entriesOf(await list({ size: 500 })).map((entry) => String(entry[order.by]))
        assert.deepEqual(
          keys,
          keys.toSorted(
            (a, b) =>
              (order.newestFirst ? -1 : 1) *
              a.localeCompare(b, 'en', { numeric: order.by === 'row' || order.by === 'number' }),
          ),
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
      const last = Math.ceil(total / 20) * 20 - 20
      for (const [offset, expected] of [
        [0, { first: 0, next: 20, last }],
        [20, { first: 0, prev: 0, next: 40, last }],
        [5, { first: 0, prev: 0, next: 25, last }],
        [last, { first: 0, prev: last - 20, last }],
        [1_000, { first: 0, prev: last, last }],
        [2_147_483_647, { first: 0, prev: last, last }],
      ] as const) {
        const reply = await list({ size: 20, offset, other: 'x' })
        assert.deepEqual(offsetsOf(reply, pathHere(), { size: '20', other: 'x', ...where() }), expected, String(offset))
        if (offset > total) assert.deepEqual(reply.response, [])
        assert.equal(reply.headers['x-total-count'], String(total))
      }
    })

    if (filter) {
      test('keep the filter in the links, and count what it keeps', async () => {
        const reply = await list({ ...filter, size: 10 })
        assert.deepEqual(reply.response, [])
        assert.equal(reply.headers['x-total-count'], '0')
        const asked = { ...filter, size: '10', ...where() }
        assert.deepEqual(offsetsOf(reply, pathHere(), asked), { first: 0, last: 0 })
      })
    }

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
        const headers = headersHere()
        const reply = await service.send({
          method: 'GET',
          path: `/es/v2${pathHere()}?${query}&${twice}=1&${twice}=2`,
          headers,
        })
        assert.deepEqual([reply.status, reply.error], [400, 'invalid_request'], twice)
      }
    })
  })
}
