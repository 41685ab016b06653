import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Chunk, DiscoveryContext, Json, Row, Values } from '@penstock/connector'
import { acceptSource, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { salesforceRoutes, salesforceSecrets as secrets, startSalesforce } from '../../test/salesforce-server.ts'
import { salesforceCrm as connector } from './salesforce-crm.ts'

const server = await startSalesforce()
after(() => server.close())
const routes = salesforceRoutes(server.url)
const settings = { objectName: 'Contact', fields: 'LastName, Age__c, Score__c HasOptedOutOfEmail' }
const columns = ['LastName', 'Age__c', 'Score__c', 'HasOptedOutOfEmail']

const changed = '2026-01-31T12:00:00.000Z'
function fill(count: number): void {
  server.reset()
  for (let n = 0; n < count; n++) {
    const record = {
      Id: `003${String(n).padStart(12, '0')}AAA`,
      LastName: `Zoë, "${n}"\nb`,
      IsDeleted: 'false',
      SystemModstamp: changed,
    }
    server.records.push({
      ...record,
      Age__c: n % 3 ? String(n) : '',
      Score__c: '1.50',
      HasOptedOutOfEmail: String(n % 2 === 0),
    })
  }
}
const rowOf = (n: number): Row => [`Zoë, "${n}"\nb`, n % 3 ? n : null, '1.50', n % 2 === 0]

const contextOf = (options: TestContextOptions = {}) => testContext({ secrets, settings, routes, ...options })
async function openReader(options: TestContextOptions & { sample?: { noAnswerMs: number } } = {}) {
  const { open } = connector.source ?? {}
  assert.ok(open)
  return await open({ ...contextOf(options), ...(options.sample && { sample: options.sample }) })
}
async function read(options: Parameters<typeof openReader>[0] = {}, from?: Json): Promise<Chunk[]> {
  const reader = await openReader(options)
  const chunks: Chunk[] = []
  for await (const chunk of reader.read(from)) chunks.push(chunk)
  await reader.close()
  return chunks
}
const rowsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows)
const codeOf = async (work: Promise<unknown>) => (await connectorErrorOf(work, contextOf())).code
const query = () => server.queries.at(-1)?.query

fill(7000)
server.results.pageRows = 3000
acceptSource({
  connector,
  testServer: 'a server that follows the published documentation of Salesforce',
  secrets,
  wrongSecrets: { ...secrets, serviceClientSecret: 'another-secret' },
  settings,
  missing: { ...settings, objectName: 'Nowhere__c' },
  context: { routes },
  columns,
  rows: Array.from({ length: 7000 }, (_, n) => rowOf(n)),
  errors: [
    problemOf(
      server,
      /GET .*results$/,
      { status: 429, headers: { 'retry-after': '70' }, json: [] },
      { name: 'limits calls', action: 'retry', afterMs: 70_000 },
    ),
    problemOf(
      server,
      /POST .*query$/,
      { status: 403, json: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }] },
      { name: 'has no calls left', action: 'retry', code: 'rate_limited' },
    ),
    problemOf(
      server,
      /POST .*query$/,
      { status: 400, json: [{ errorCode: 'INVALID_FIELD' }] },
      { name: 'does not know a field', action: 'reconfigure', code: 'invalid_query' },
    ),
  ],
  hang: hangOf(server, /GET .*results$/),
})

describe('the records of Salesforce as a source', () => {
  beforeEach(() => {
    server.calm()
    fill(5)
  })

  test('finds a query again after a crash, before and after it is done', async () => {
    const [first] = await read()
    assert.deepEqual([first?.settles, first?.rows, server.queries.length], [true, [], 1])
    server.processing.asksBeforeDone = 1
    assert.equal(rowsOf(await read({}, first?.checkpoint)).length, 5)
    assert.equal(server.queries.length, 1)
    // Salesforce dropped it, and nothing was read of it.
    server.queries.length = 0
    assert.equal(rowsOf(await read({}, first?.checkpoint)).length, 5)
    server.results.pageRows = 2
    const [, page] = await read()
    server.queries.length = 0
    assert.equal(await codeOf(read({}, page?.checkpoint)), 'source_changed')
  })

  test('reads what changed since the transfer before, with an overlap, and keeps the cursor without rows', async () => {
    const incremental = { ...settings, syncMode: 'Incremental' }
    const chunks = await read({ settings: incremental })
    const cursor = chunks.at(-1)?.cursor
    assert.ok(cursor)
    assert.equal(chunks.filter((chunk) => chunk.cursor !== undefined).length, 1)
    const next = await read({ settings: incremental, cursor })
    const [, since = ''] = /WHERE SystemModstamp >= (\S+)$/.exec(query() ?? '') ?? []
    const created = Date.parse(server.queries[0]?.createdDate.replace('+0000', 'Z') ?? '')
    assert.equal(Date.parse(since), created - 600_000)
    assert.deepEqual([rowsOf(next), next.at(-1)?.settles, typeof next.at(-1)?.cursor], [[], true, 'object'])
    const record = server.records[2]
    assert.ok(record)
    record.SystemModstamp = new Date().toISOString()
    assert.deepEqual(rowsOf(await read({ settings: incremental, cursor })), [rowOf(2)])
    // A cursor of another object is ignored, and so is a text.
    for (const other of [{ object: 'Account', since: created }, 'x', { object: 'Contact' }]) {
      assert.equal(rowsOf(await read({ settings: incremental, cursor: other })).length, 5)
    }
  })

  test('reads the records of a range, from its first time on and before its second one, and gives no cursor', async () => {
    const times = ['2026-01-30T23:59:59.000Z', '2026-01-31T00:00:00.000Z', changed, '2026-01-31T23:59:59.000Z']
    for (const [at, time] of [...times, '2026-02-01T00:00:00.000Z'].entries()) {
      Object.assign(server.records[at] ?? {}, { SystemModstamp: time })
    }
    const incremental = { ...settings, syncMode: 'Incremental' }
    const days = { from: '2026-01-31', to: '2026-01-31' }
    const cursor = { object: 'Contact', since: Date.parse('2026-03-01T00:00:00Z') }
    for (const own of [incremental, settings]) {
      const chunks = await read({ settings: own, range: days, cursor })
      assert.deepEqual(rowsOf(chunks), [1, 2, 3].map(rowOf))
      assert.ok(chunks.every((chunk) => chunk.cursor === undefined && chunk.cursorAfter === undefined))
    }
    const inTimes = async (from: string, to: string) =>
      rowsOf(await read({ settings: incremental, range: { from, to } }))
    assert.deepEqual(await inTimes('2026-01-31T00:00:00Z', '2026-01-31T12:00:00Z'), [rowOf(1)])
    assert.deepEqual(await inTimes('2026-01-31T12:00:00Z', '2026-02-01T00:00:01Z'), [2, 3, 4].map(rowOf))
    const empty = await read({ settings: incremental, range: { from: '2099-01-01', to: '2099-12-31' } })
    assert.deepEqual([rowsOf(empty), empty.at(-1)?.settles, empty.at(-1)?.cursor], [[], true, undefined])
    Object.assign(server.records[2] ?? {}, { IsDeleted: 'true' })
    assert.equal(rowsOf(await read({ settings: incremental, range: days })).length, 2)
    assert.equal(rowsOf(await read({ settings: { ...incremental, deletedRecords: true }, range: days })).length, 3)
  })

  test('resumes a range in the result of its query, and refuses one of what has none', async () => {
    fill(40)
    for (const record of server.records.slice(0, 10)) record.SystemModstamp = '2026-03-01T00:00:00.000Z'
    server.results.pageRows = 7
    const january = {
      settings: { ...settings, syncMode: 'Incremental' },
      range: { from: '2026-01-01', to: '2026-01-31' },
    }
    const chunks = await read(january)
    assert.equal(rowsOf(chunks).length, 30)
    for (const [at, { checkpoint }] of chunks.entries()) {
      const rest = await read(january, JSON.parse(JSON.stringify(checkpoint)))
      assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(at + 1)), String(at))
    }
    assert.equal(server.queries.length, 1)
    const own = { dataSourceType: 'SOQL Query', soqlQuery: 'SELECT LastName FROM Contact WHERE LastName != null' }
    assert.equal(rowsOf(await read({ ...january, settings: own })).length, 30)
    const all = server.fields.splice(0)
    server.fields.push(...all.filter(({ name }) => name !== 'SystemModstamp'))
    const error = await connectorErrorOf(read(january), contextOf())
    server.fields.splice(0, server.fields.length, ...all)
    assert.deepEqual([error.code, /without a range/.test(error.message)], ['invalid_setting', true])
  })

  test('reads deleted records if it is chosen', async () => {
    const [record] = server.records
    assert.ok(record)
    record.IsDeleted = 'true'
    const own = { objectName: 'Contact', fields: 'LastName,IsDeleted' }
    assert.equal(rowsOf(await read({ settings: own })).length, 4)
    const all = rowsOf(await read({ settings: { ...own, deletedRecords: true } }))
    assert.deepEqual([all.length, all[0]?.[1], server.queries.at(-1)?.operation], [5, true, 'queryAll'])
  })

  test('leaves out compound fields and files, and says so', async () => {
    const reader = await openReader({ settings: { objectName: 'Contact' } })
    const [finding] = (await reader.findings?.(1000)) ?? []
    assert.equal(finding?.code, 'columns_not_read')
    assert.match(finding?.message ?? '', /MailingAddress, Photo__c/)
    await reader.close()
    const [first] = await read({ settings: { objectName: 'Contact' } })
    assert.deepEqual(
      first?.columns.filter((name) => /Address|Photo/.test(name)),
      [],
    )
    assert.equal((first?.columns.length ?? 0) > 5, true)
    for (const fields of ['MailingAddress', 'Photo__c', 'Nickname__c', "Id FROM Account WHERE Name='"]) {
      assert.equal(await codeOf(read({ settings: { objectName: 'Contact', fields } })), 'invalid_setting', fields)
    }
  })

  test('runs a SELECT of one’s own, in whatever order its columns come, and refuses all else', async () => {
    server.results.reversed = true
    const own = (soqlQuery: string): Values => ({ dataSourceType: 'SOQL Query', soqlQuery })
    const chunks = await read({ settings: own('SELECT LastName, Age__c FROM Contact') })
    assert.deepEqual([chunks[0]?.columns, rowsOf(chunks)[1]], [['LastName', 'Age__c'], rowOf(1).slice(0, 2)])
    const sent = server.queries.length
    for (const text of [
      '',
      'DELETE FROM Contact',
      'SELECT Id FROM Contact; SELECT Id FROM Account',
      'SELECT COUNT() FROM Contact',
      'SELECT Id, (SELECT Id FROM Cases) FROM Contact',
      'SELECT Id, id FROM Contact',
      'FIND {x}',
      'SELECT Name, count(Id) n FROM Contact GROUP BY Name',
    ]) {
      assert.equal(await codeOf(read({ settings: own(text) })), 'invalid_setting', text)
    }
    const limit = { ...own('SELECT Id FROM Contact LIMIT 5'), syncMode: 'Incremental' }
    const cursor = { object: 'Contact', since: Date.parse(changed) }
    assert.equal(await codeOf(read({ settings: limit, cursor })), 'invalid_setting')
    assert.equal(server.queries.length, sent)
  })

  test('reads changed records of a SELECT of one’s own', async () => {
    const own = {
      dataSourceType: 'SOQL Query',
      soqlQuery: 'SELECT LastName FROM Contact WHERE LastName != null',
      syncMode: 'Incremental',
    }
    const [, since] = [server.records.length, Date.parse(changed) + 3_600_000]
    Object.assign(server.records[2] ?? {}, { SystemModstamp: '2026-02-01T00:00:00.000Z' })
    const chunks = await read({ settings: own, cursor: { object: 'Contact', since } })
    assert.deepEqual(rowsOf(chunks), [rowOf(2).slice(0, 1)])
    assert.match(query() ?? '', / FROM Contact WHERE SystemModstamp >= \S+ AND \(LastName != null\)$/)
    assert.equal(typeof chunks.at(-1)?.cursor, 'object')
  })

  test('reads fields of related objects in the types of these, and names one that does not exist', async () => {
    for (const record of server.records) {
      Object.assign(record, { 'Account.Name': 'Shop', 'Account.NumberOfEmployees': '12' })
    }
    const fields = 'LastName, account.name, Account.NumberOfEmployees'
    const own = { dataSourceType: 'SOQL Query', soqlQuery: 'SELECT Account.NumberOfEmployees FROM Contact' }
    const [chunk] = (await read({ settings: { objectName: 'Contact', fields } })).filter(({ rows }) => rows.length > 0)
    assert.deepEqual(chunk?.columns, ['LastName', 'Account.Name', 'Account.NumberOfEmployees'])
    assert.deepEqual(chunk?.rows[0]?.slice(1), ['Shop', 12])
    assert.deepEqual(rowsOf(await read({ settings: own }))[0], [12])
    for (const wrong of ['Account.Nickname', 'Boss.Name', 'Account.Name.Id']) {
      const error = await connectorErrorOf(read({ settings: { objectName: 'Contact', fields: wrong } }), contextOf())
      assert.equal(error.code, 'invalid_setting')
      assert.ok(error.message.includes(`Contact has no field ${wrong} behind its relationships`), error.message)
    }
  })

  test('reads a few rows for a preview, and stops the query if no one waits for it', async () => {
    const sample = { noAnswerMs: 1000 }
    await read({ sample })
    assert.match(query() ?? '', / LIMIT 200$/)
    server.processing.asksBeforeDone = 9
    const reader = await openReader({ sample })
    for await (const _ of reader.read()) break
    await reader.close()
    assert.equal(server.queries.at(-1)?.state, 'Aborted')
  })

  test('runs a query again that failed for no reason of its own, and not one that is wrong', async () => {
    server.processing.fails = 'InternalServerError : x'
    assert.equal(rowsOf(await read()).length, 5)
    for (const [message, code] of [
      ['INVALID_FIELD: jane@example.com', 'invalid_query'],
      ['LIMIT_EXCEEDED: x', 'rate_limited'],
    ] as const) {
      server.processing.fails = message
      assert.equal(await codeOf(read()), code)
    }
  })

  test('does not believe strange pages', async () => {
    const text = '"LastName","Age__c","Score__c","HasOptedOutOfEmail"\n"a","1","2","true"\n'
    const page = (headers: Record<string, string>, body = text) => ({
      headers: { 'content-type': 'text/csv', ...headers },
      text: body,
    })
    for (const [reply, code] of [
      [page({ 'sforce-numberofrecords': '2' }), 'malformed_response'],
      [page({ 'sforce-locator': '../../x y' }), 'malformed_response'],
      [page({}, `${text}"a"\n`), 'malformed_response'],
      [page({}, `${text}"a","b`), 'malformed_response'],
      [page({}, '"LastName","Age__c","Score__c","Else"\n"a","1","2","3"\n'), 'unexpected_response'],
    ] as const) {
      // The client repeats nothing here: an answer that came is not a transient error of the request.
      server.failure(/GET .*results$/, reply)
      assert.equal(await codeOf(read()), code, reply.text)
    }
    for (let times = 0; times < 2; times++) server.failure(/GET .*results$/, page({ 'sforce-locator': 'AA' }))
    assert.equal(await codeOf(read()), 'malformed_response')
    server.failure(/GET .*results$/, page({}, ''))
    assert.deepEqual(rowsOf(await read()), [])
  })

  test('lists objects and fields for each side', async () => {
    const { source, destination } = connector
    const find = async (
      discover: ((context: DiscoveryContext) => Promise<{ items: readonly { value: string }[] }>) | undefined,
      own: Values,
      search = '',
    ) => {
      assert.ok(discover)
      const found = await discover({
        ...contextOf({ settings: own }),
        search,
        cursor: undefined,
        size: 100,
        withSamples: false,
      })
      return found.items.map(({ value }) => value).join()
    }
    assert.equal(await find(source?.discover?.objectName, {}), 'Contact,Login')
    assert.equal(await find(destination?.discover?.objectName, {}), 'Contact')
    assert.ok(!/Mailing|Photo/.test(await find(source?.discover?.columns, { objectName: 'Contact' })))
    assert.equal(
      await find(source?.discover?.fields, { objectName: 'Contact' }, 'account.n'),
      'Account.Name,Account.NumberOfEmployees',
    )
    const soql = { dataSourceType: 'SOQL Query', soqlQuery: 'SELECT Id, Account.Name FROM Contact' }
    assert.equal(await find(source?.discover?.columns, soql), 'Id,Account.Name')
    assert.equal(await find(destination?.discover?.externalIdField, { objectName: 'Contact' }), 'Id,Customer_Key__c')
    assert.equal(await find(destination?.discover?.columns, { objectName: 'Contact', operation: 'Delete' }), 'Id')
    const update = await find(destination?.discover?.columns, { objectName: 'Contact', operation: 'Update' })
    assert.ok(update.startsWith('Id,LastName') && !update.includes('SystemModstamp'))
  })
})
