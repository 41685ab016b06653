import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { badPeople, peopleColumns, peopleRows } from '../../test/people-tables.ts'
import { startSnowflakeServer, testServerName } from '../../test/snowflake-server.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, inspect } from '../../test/tables.ts'
import { snowflakeDestination } from './snowflake-destination.ts'

const snowflake = await startSnowflakeServer()
after(() => snowflake.close())
const { proxy, routes, keyPair, accessToken, run } = snowflake
const settings = { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'people', writeMode: 'Append' }
const reset = async () => {
  await run('drop schema "SALES"."PUBLIC" cascade')
  await run('create schema "SALES"."PUBLIC"')
  await run(
    `create table "SALES"."PUBLIC"."PEOPLE" ("CHANGED" timestamp, "ID" integer not null, "NAME" varchar, "MEMBER" boolean, "PAID" decimal(12, 2), "DAY" date)`,
  )
}
await reset()
const readBack = async (): Promise<Row[]> => {
  const found = await run(
    `select "ID", "NAME", "MEMBER", "PAID", "DAY", strftime("CHANGED", '%Y-%m-%dT%H:%M:%S.%fZ') from "SALES"."PUBLIC"."PEOPLE"`,
  )
  return found.rows.map(([id, name, member, ...rest]) => [Number(id), name ?? null, member === 'true', ...rest])
}
const refused = (status: number, code: string) => ({ status, body: JSON.stringify({ code, message: 'No.' }) })

acceptDestination({
  connector: snowflakeDestination,
  testServer: testServerName,
  secrets: keyPair,
  wrongSecrets: { ...keyPair, privateKey: snowflake.strangeKey },
  settings,
  columns: peopleColumns,
  rows: peopleRows(400),
  readBack,
  reset,
  missing: { ...settings, schema: 'absent' },
  badRows: [
    ...badPeople.slice(0, 2),
    { row: [2, 'a', true, '1', 'some canary day', null], reason: /\(code 100038, SQL state 22018\)\.$/ },
    { row: [null, 'a', true, '1', '2026-01-31', null], reason: /column that needs one \(code 100072/ },
  ],
  deduplicates: true,
  visible: 'at once',
  errors: problemsOf(proxy, { slow: refused(429, '390000'), forbidden: refused(403, '390422') }),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(async () => {
    await reset()
    Object.assign(snowflake, { polls: 0, canned: [] })
    snowflake.executed.length = 0
  })

  const optionsOf = (own: Values = {}, transferId = 'transfer-1') => ({
    secrets: keyPair,
    routes,
    settings: { ...settings, ...own },
    transferId,
  })
  const deliver = (names: readonly string[], some: readonly Row[], own: Values = {}, number = 1) =>
    deliverTo(snowflakeDestination, optionsOf(own), batchOf(names, some, number))
  const inTable = async (table = 'PEOPLE') =>
    (await run(`select "ID", "NAME" from "SALES"."PUBLIC"."${table}" order by "ID"`)).rows

  test('creates a table that is missing, with columns of text', async () => {
    await deliver(
      ['id', 'name'],
      [
        [1, 'a'],
        [2, null],
      ],
      { table: 'fresh' },
    )
    await deliver(['ID', 'Name'], [['x', '']], { table: 'fresh' }, 2)
    assert.deepEqual(await inTable('FRESH'), [
      ['1', 'a'],
      ['2', null],
      ['x', ''],
    ])
  })

  test('signs in with a programmatic access token, and waits for statements that take their time', async () => {
    snowflake.polls = 1
    const { snowflakeAccount, snowflakeRole: _, ...token } = accessToken
    const options = { ...optionsOf(), secrets: { ...token, accountLocator: snowflakeAccount ?? '' } }
    assert.ok((await snowflakeDestination.check?.(testContext(options)))?.every(({ ok }) => ok))
    await deliverTo(snowflakeDestination, options, batchOf(['id', 'name'], [[1, 'a']]))
    assert.deepEqual(await inTable(), [['1', 'a']])
  })

  test('asks for the account where a token comes without one', async () => {
    const { snowflakeAccount: _, ...token } = accessToken
    const found = await snowflakeDestination.check?.(testContext({ ...optionsOf(), secrets: token }))
    assert.match(found?.[0]?.message ?? '', /“Account locator” has no value/)
  })

  test('writes once where the answer to a statement is lost', async () => {
    let statements = 0
    proxy.failure = { what: 'loses the answer', of: ({ body }) => body.includes('insert all') && statements++ === 0 }
    try {
      await deliver(['id', 'name'], [[1, 'a']])
    } finally {
      proxy.failure = undefined
    }
    assert.equal(statements, 2)
    assert.deepEqual(await inTable(), [['1', 'a']])
  })

  test('says of a refused row what Snowflake has a code for, without its words', async () => {
    const { rejected } = await deliver(
      ['id', 'name', 'day'],
      [
        [1, 'a', 'canary'],
        [2, 'b', null],
      ],
    )
    assert.equal(rejected?.length, 1)
    assert.equal(rejected[0]?.reason, 'A value is not a number (code 100038, SQL state 22018).')
  })

  test('writes a batch once that comes twice, in whole or in halves', async () => {
    const some: Row[] = [
      [1, 'a'],
      [null, 'b'],
      [3, 'c'],
      [4, 'd'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = await deliver(['id', 'name'], some)
      assertRejected(rejected, [1])
      await deliver(['id', 'name'], [[9, 'z']], {}, 2)
    }
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['3', 'c'],
      ['4', 'd'],
      ['9', 'z'],
    ])
  })

  test('replaces what was there once in a transfer, also where there is no row', async () => {
    await run(`insert into "SALES"."PUBLIC"."PEOPLE" ("ID") values (7)`)
    const replace = { writeMode: 'Replace' }
    await deliver(['id', 'name'], [[1, 'a']], replace)
    await deliver(['id', 'name'], [[2, 'b']], replace, 2)
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['2', 'b'],
    ])
    const context = testContext({ ...optionsOf(replace, 'transfer-2'), columns: ['id', 'name'] })
    const writer = await snowflakeDestination.destination?.deliver?.open(context)
    await writer?.abort?.()
    assert.equal((await inTable()).length, 2)
    await writer?.finish?.()
    assert.deepEqual(await inTable(), [])
    assert.equal(snowflakeDestination.destination?.deliver?.replaces?.(replace), true)
  })

  test('keeps what was there if a few rows are sent as a test', async () => {
    await run(`insert into "SALES"."PUBLIC"."PEOPLE" ("ID") values (7)`)
    const options = { ...optionsOf({ writeMode: 'Replace' }), test: true }
    await deliverTo(snowflakeDestination, options, batchOf(['id', 'name'], [[1, 'a']]))
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['7', null],
    ])
  })

  test('ends the search for bad rows where every row is refused', async () => {
    const bad = Array.from({ length: 400 }, (_, index): Row => [null, String(index)])
    assert.deepEqual((await connectorErrorOf(deliver(['id', 'name'], bad)))[1], 'everything_refused')
    assert.deepEqual(await inTable(), [])
  })

  test('names columns that the table lacks, or that go to the same one', async () => {
    const code = async (names: string[]) => (await connectorErrorOf(deliver(names, [names.map(() => 1)])))[1]
    assert.equal(await code(['id', 'city']), 'column_not_found')
    assert.equal(await code(['id', 'ID']), 'columns_do_not_fit')
    const findings = await inspect(snowflakeDestination, {
      ...optionsOf(),
      columns: ['paid', 'city'],
      rows: [['1,5', 'x']],
    })
    assert.deepEqual(
      findings.map(({ code, column }) => [code, column]),
      [
        ['column_not_found', 'city'],
        ['type_mismatch', 'paid'],
      ],
    )
  })

  test('finds nothing where the table will be created, and creates nothing then', async () => {
    const options = { ...optionsOf({ table: 'fresh' }), columns: ['id'], rows: [[1]] }
    assert.deepEqual(await inspect(snowflakeDestination, options), [])
    assert.ok(!snowflake.executed.some((text) => /^(create|insert|delete)/.test(text)))
  })

  test('takes no count of rows but its own', async () => {
    const column = { name: 'number of rows inserted', type: 'fixed', scale: 0 }
    for (const counts of [['1', '1'], ['2', '0'], ['2'], ['2', null], ['x', '1']]) {
      snowflake.canned = [{ match: /^insert all/, rowType: counts.map(() => column), rows: [counts] }]
      const [action] = await connectorErrorOf(
        deliver(
          ['id', 'name'],
          [
            [1, 'a'],
            [2, 'b'],
          ],
        ),
      )
      assert.notEqual(action, 'reject')
    }
  })
})
