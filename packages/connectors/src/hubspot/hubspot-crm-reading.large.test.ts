import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Chunk, Json, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type HubSpotServer,
  hubspotRoutes,
  hubspotSecrets as secrets,
  startHubSpot,
} from '../../test/hubspot-server.ts'
import { connectorErrorOf } from '../../test/platform-server.ts'
import { hubspotCrm as connector } from './hubspot-crm.ts'

let server: HubSpotServer

beforeEach(async () => {
  server = await startHubSpot()
})
afterEach(() => server.close())

const contextOf = (options: TestContextOptions = {}) =>
  testContext({
    secrets,
    settings: { objectType: 'contacts', idProperty: 'email' },
    routes: hubspotRoutes(server.url),
    ...options,
  })

describe('HubSpot as a source, against a server that follows its published reference', () => {
  const reading = { objectType: 'contacts', properties: 'email, age', syncMode: 'Incremental', overlapMinutes: 10 }
  const minuteMs = 60_000

  const chunksOf = (changed: Values = {}, cursor?: Json, after?: Json): Promise<Chunk[]> =>
    chunksIn({ settings: { ...reading, ...changed }, ...(cursor !== undefined && { cursor }) }, after)
  async function chunksIn(options: TestContextOptions, after?: Json): Promise<Chunk[]> {
    const context = contextOf(options)
    const reader = await connector.source?.open?.(context)
    assert.ok(reader)
    const chunks: Chunk[] = []
    for await (const chunk of reader.read(after)) chunks.push(chunk)
    await reader.close()
    return chunks
  }
  const idsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows.map(([id]) => id))
  const cursorOf = (chunks: readonly Chunk[]): Json => {
    assert.deepEqual(
      chunks.slice(0, -1).map((chunk) => chunk.cursor),
      chunks.slice(0, -1).map(() => undefined),
    )
    return chunks.at(-1)?.cursor as Json
  }
  const at = (since: number, type = 'contacts'): Json => ({ type, since })
  const since = (cursor: Json) => (cursor as { since: number }).since

  test('reads all records first, and then changed ones, with an overlap', async () => {
    const begunMs = Date.now()
    const old = Array.from({ length: 120 }, (_, n) =>
      server.add('contacts', { email: `${n}@example.com` }, begunMs - 60 * minuteMs),
    )
    const first = await chunksOf()
    assert.deepEqual(
      idsOf(first),
      old.map(({ id }) => id),
    )
    const cursor = cursorOf(first)
    // The clock of HubSpot has whole seconds.
    assert.ok(Math.abs(begunMs - 10 * minuteMs - since(cursor)) < 5_000)
    const none = await chunksOf({}, cursor)
    assert.deepEqual(
      none.map(({ columns, rows }) => [columns, rows]),
      [[['hs_object_id', 'email', 'age'], []]],
    )
    for (const record of old.slice(40, 43)) record.modifiedMs = begunMs - 5 * minuteMs
    const second = await chunksOf({}, cursor)
    assert.deepEqual(
      idsOf(second),
      old.slice(40, 43).map(({ id }) => id),
    )
    assert.ok(since(cursorOf(second)) >= since(cursor))
    // A cursor of another object type means nothing.
    server.add('companies', { name: 'Old' }, begunMs - 60 * minuteMs)
    assert.equal(idsOf(await chunksOf({ objectType: 'companies', properties: 'name' }, cursor)).length, 1)
    // A full read reads everything, and returns no cursor.
    const full = await chunksOf({ syncMode: 'Full' }, cursor)
    assert.deepEqual([idsOf(full).length, full.at(-1)?.cursor], [120, undefined])
  })

  test('reads associations with their labels, in pages, of all and of changed records', async () => {
    const atMs = Date.now() - 2 * minuteMs
    const [one, two] = ['1', '2'].map((n) => server.add('contacts', { email: `${n}@example.com` }, atMs))
    const ids = [1, 2, 3].map(() => server.add('companies', { name: 'Shop' }, atMs).id)
    assert.ok(one && two)
    for (const id of ids) server.associations.add(`${one.id} ${id}`)
    server.associations.add(`${one.id} ${ids[0]} 1`)
    const list = [{ id: ids[0], labels: ['Primary'] }, ...ids.slice(1).map((id) => ({ id, labels: [] }))]
    const expected = [
      [one.id, '1@example.com', JSON.stringify(list)],
      [two.id, '2@example.com', null],
    ]
    const settings = { properties: 'email', readAssociations: 'companies' }
    for (const chunks of [await chunksOf({ ...settings, syncMode: 'Full' }), await chunksOf(settings, at(atMs - 1))]) {
      assert.deepEqual(chunks[0]?.columns, ['hs_object_id', 'email', 'associated_companies'])
      assert.deepEqual(
        chunks.flatMap(({ rows }) => rows),
        expected,
      )
    }
    server.failure(/associations.*batch\/read$/, {
      status: 207,
      json: { results: [], errors: [{ category: 'OBJECT_NOT_FOUND', subCategory: 'crm.other' }] },
    })
    const error = await connectorErrorOf(chunksOf(settings), contextOf())
    assert.deepEqual([error.code, error.action], ['platform_error', 'retry'])
  })

  test('reads owners, all of them, and says what they do not have', async () => {
    const settings = { objectType: 'owners', properties: 'email, firstName, userId, teams', syncMode: 'Full' }
    const chunks = await chunksOf(settings)
    assert.deepEqual(
      chunks.flatMap(({ rows }) => rows),
      [
        ['11', 'a@example.com', 'Ann', '7', '[{"id":"1","name":"Sales","primary":true}]'],
        ['12', 'b@example.com', null, null, null],
      ],
    )
    for (const [changed, message] of [
      [{ syncMode: 'Incremental' }, /cannot say which owners changed/],
      [{ readAssociations: 'deals' }, /Owners have no associations/],
      [{ properties: 'phone' }, /no property phone/],
    ] as const) {
      const error = await connectorErrorOf(chunksOf({ ...settings, ...changed }), contextOf())
      assert.equal(error.code, 'invalid_setting')
      assert.match(error.message, message)
    }
  })

  test('reads more records of one time than a page has, each once, and resumes between pages', async () => {
    const atMs = Date.now() - 2 * minuteMs
    const all = Array.from({ length: 450 }, (_, n) => server.add('contacts', { email: `${n}@example.com` }, atMs))
    const cursor = at(atMs)
    const chunks = await chunksOf({}, cursor)
    assert.deepEqual(
      idsOf(chunks),
      all.map(({ id }) => id),
    )
    assert.equal(chunks.length, 3)
    // A record that changes meanwhile drops out of the time that is read, and is read by the next transfer.
    const [changed] = all.splice(300, 1)
    assert.ok(changed)
    changed.modifiedMs = Date.now() + minuteMs
    const rest = await chunksOf({}, cursor, JSON.parse(JSON.stringify(chunks[0]?.checkpoint)))
    assert.deepEqual(
      idsOf(rest),
      all.slice(200).map(({ id }) => id),
    )
    assert.equal(since(cursorOf(rest)), since(cursorOf(chunks)))
    assert.deepEqual(await chunksOf({}, cursor, 'done'), [])
    changed.modifiedMs = Date.now() - 1_000
    assert.deepEqual(idsOf(await chunksOf({}, cursorOf(rest))).includes(changed.id), true)
  })

  test('reads archived records as well, and says so', async () => {
    const nowMs = Date.now()
    const archivedMs = [nowMs - 90 * minuteMs, nowMs - minuteMs]
    const [live, old, fresh] = [undefined, ...archivedMs].map((at) =>
      Object.assign(
        server.add('contacts', { email: 'x@example.com' }, nowMs - 200 * minuteMs),
        at && { archivedMs: at },
      ),
    )
    const shown = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows.map((row) => [row[0], row.at(-1)]))
    const first = await chunksOf({ archived: true })
    assert.deepEqual(first[0]?.columns, ['hs_object_id', 'email', 'age', 'archived'])
    assert.deepEqual(shown(first), [
      [live?.id, false],
      [old?.id, true],
      [fresh?.id, true],
    ])
    assert.deepEqual(shown(await chunksOf({ archived: true }, at(nowMs - 10 * minuteMs))), [[fresh?.id, true]])
    assert.deepEqual(shown(await chunksOf({ archived: true }, undefined, first[0]?.checkpoint)), [
      [old?.id, true],
      [fresh?.id, true],
    ])
  })

  test('reads the records of a range, from its first time on and before its second one, and gives no cursor', async () => {
    const addAt = (time: string) => server.add('contacts', { email: 'x@example.com' }, Date.parse(time))
    const [first, noon, last] = ['2026-01-31T00:00:00Z', '2026-01-31T12:00:00Z', '2026-01-31T23:59:59.999Z'].map(addAt)
    for (const time of ['2026-01-30T23:59:59.999Z', '2026-02-01T00:00:00Z']) addAt(time)
    const days = { from: '2026-01-31', to: '2026-01-31' }
    for (const syncMode of ['Incremental', 'Full']) {
      const chunks = await chunksIn({ settings: { ...reading, syncMode }, range: days, cursor: at(Date.now()) })
      assert.deepEqual(idsOf(chunks), [first?.id, noon?.id, last?.id])
      assert.ok(chunks.every((chunk) => chunk.cursor === undefined && chunk.cursorAfter === undefined))
    }
    const times = { from: '2026-01-31T00:00:00Z', to: '2026-01-31T12:00:00Z' }
    assert.deepEqual(idsOf(await chunksIn({ settings: reading, range: times })), [first?.id])
    // One that has not begun is empty, without a search.
    const searches = () => server.received.filter(({ path }) => path.endsWith('/search')).length
    for (const [range, sent] of [
      [{ from: '2026-01-01', to: '2026-01-02' }, 1],
      [{ from: '2099-01-01', to: '2099-01-02' }, 0],
    ] as const) {
      const before = searches()
      const empty = await chunksIn({ settings: reading, range })
      assert.deepEqual(
        empty.map(({ columns, rows, checkpoint, cursor }) => [columns, rows, checkpoint, cursor]),
        [[['hs_object_id', 'email', 'age'], [], 'done', undefined]],
      )
      assert.equal(searches() - before, sent)
    }
    // Archived records have the time at which they were archived.
    Object.assign(noon ?? {}, { archivedMs: Date.parse('2026-02-01T00:00:00Z') })
    Object.assign(last ?? {}, { archivedMs: Date.parse('2026-01-31T23:59:59.999Z') })
    const archived = await chunksIn({ settings: { ...reading, archived: true }, range: days })
    assert.deepEqual(
      archived.flatMap(({ rows }) => rows.map((row) => [row[0], row.at(-1)])),
      [
        [first?.id, false],
        [last?.id, true],
      ],
    )
  })

  test('reads a range by searches of one page each, so that none reaches 10,000 results, and resumes between them', async () => {
    const noonMs = Date.parse('2026-01-31T12:00:00Z')
    const all = Array.from({ length: 1_050 }, () => server.add('contacts', { email: 'x@example.com' }, noonMs))
    const asked = { settings: reading, range: { from: '2026-01-31', to: '2026-01-31' } }
    const chunks = await chunksIn(asked)
    const ids = all.map(({ id }) => id)
    assert.deepEqual(idsOf(chunks), ids)
    const asks = server.received.filter(({ path }) => path.endsWith('/search'))
    assert.deepEqual([asks.length, asks.filter(({ json }) => Object.hasOwn(Object(json), 'after')).length], [6, 0])
    // A record that changes in the meantime leaves the range.
    Object.assign(all[1_040] ?? {}, { modifiedMs: Date.parse('2026-02-01T00:00:00Z') })
    const stored = JSON.parse(JSON.stringify(chunks.at(-3)?.checkpoint))
    const expected = ids.slice(800).filter((id) => id !== all[1_040]?.id)
    assert.deepEqual(idsOf(await chunksIn(asked, stored)), expected)
    assert.deepEqual(await chunksIn(asked, 'done'), [])
  })

  test('reads custom objects, whose time of change has another name', async () => {
    const car = server.add('2-77', { plate: 'B-1' }, Date.now() - minuteMs)
    const custom = { objectType: '2-77', properties: 'plate' }
    assert.deepEqual(idsOf(await chunksOf(custom, at(car.modifiedMs, '2-77'))), [car.id])
  })

  test('reads on after a failure, and believes no list that does not end or has no order', async () => {
    const atMs = Date.now() - minuteMs
    for (let n = 0; n < 3; n++) server.add('contacts', { email: `${n}@example.com` }, atMs)
    const searches = /search$/
    server.failure(searches, { status: 500, text: '' })
    server.failure(searches, { status: 429, json: { policyName: 'SECONDLY' } })
    assert.equal(idsOf(await chunksOf({}, at(atMs))).length, 3)
    const record = (id: unknown) => ({ id, properties: {} })
    const paging = { next: { after: '1' } }
    const searched: object[] = [
      { results: [record('5'), record('4')] },
      { results: [record('5'), record('5')], paging },
      { results: [record('x')] },
      { results: 'none' },
      { results: [{ id: '1' }] },
      { results: Array.from({ length: 201 }, (_, n) => record(String(n))) },
    ]
    for (const json of searched) {
      server.failure(searches, { json })
      const error = await connectorErrorOf(chunksOf({}, at(atMs)), contextOf())
      assert.equal(error.code, 'malformed_response', JSON.stringify(json).slice(0, 100))
    }
    const lists = /GET .*objects\/2026-03\/contacts$/
    for (let n = 0; n < 2; n++) server.failure(lists, { json: { results: [record(String(n))], paging } })
    assert.equal((await connectorErrorOf(chunksOf(), contextOf())).code, 'malformed_response')
    server.failure(lists, { json: { results: [{ id: 7, properties: { email: { a: 1 }, age: null, __proto__: 1 } }] } })
    assert.deepEqual((await chunksOf())[0]?.rows, [['7', '{"a":1}', null]])
    for (const properties of ['', 'a/b', Array.from({ length: 900 }, (_, n) => `property_number_${n}`).join()]) {
      assert.equal((await connectorErrorOf(chunksOf({ properties }), contextOf())).code, 'invalid_setting')
    }
  })
})

test('lists object types, properties and lists', async () => {
  server.lists.push({ id: '5', name: 'Buyers', type: '0-1', processing: 'MANUAL', members: new Set() })
  server.lists.push({ id: '6', name: 'Active', type: '0-1', processing: 'DYNAMIC', members: new Set() })
  const { source, destination } = connector
  const page = async (discover: typeof source, key: string, search = '', settings = {}) => {
    const found = await discover?.discover?.[key]?.({
      ...contextOf({ settings: { ...contextOf().settings, ...settings } }),
      search,
      cursor: undefined,
      size: 50,
      withSamples: false,
    })
    return found?.items.map(({ value, label = '' }) => `${value} ${label}`.trim())
  }
  assert.deepEqual(await page(source, 'objectType'), [
    ...['contacts', 'companies', 'deals', 'tickets', 'owners', '2-77 Cars'],
  ])
  server.failure(/schemas$/, { status: 403, json: {} })
  assert.deepEqual(await page(source, 'objectType', 'comp'), ['companies'])
  assert.equal((await page(source, 'properties', 'email'))?.length, 2)
  assert.deepEqual(await page(destination, 'idProperty'), [
    'email The email',
    'customer_no The customer_no',
    'hs_object_id Record ID',
  ])
  assert.equal((await page(destination, 'columns'))?.includes('createdate The createdate'), false)
  assert.deepEqual(await page(destination, 'listId'), ['5 Buyers'])
  assert.deepEqual(await page(destination, 'associationLabels'), [])
  const companies = { associateWith: 'companies' }
  assert.deepEqual(await page(destination, 'associationLabels', '', companies), ['Primary', 'Decision maker'])
})
