import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Json } from '@penstock/connector'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { mysql } from './mysql.ts'

/** Rows in all; `PENSTOCK_TEST_ROWS=1000000` for a million. */
const rowsMin = Number(process.env.PENSTOCK_TEST_ROWS ?? 40_000)
const writers = 8
const rowsOfCommit = 500
const settings = { table: 'orders', syncMode: 'Incremental', markerColumn: 'id' }

const server = await startMariadb()
after(() => server?.stop())
const options = server ? {} : { skip: skipWithout('mariadbd') }

test('rows that are committed in another order than they were numbered are all read, each once', options, async (t) => {
  if (!server) return
  await server.query('create table orders (id bigint auto_increment primary key, writer int, number int)')
  await server.query('insert into orders (writer, number) values (-1, 0)')
  const read = (cursor?: Json) => readAll(mysql, { secrets: server.secrets, settings, ...(cursor ? { cursor } : {}) })
  const seen = new Set<string>()
  let twice = 0
  let transfers = 0
  let cursor: Json | undefined
  const transfer = async () => {
    const chunks = await read(cursor)
    transfers += 1
    for (const [id] of rowsOf(chunks)) {
      if (seen.has(String(id))) twice += 1
      seen.add(String(id))
    }
    if (rowsOf(chunks).length > 0) cursor = cursorOf(chunks)
  }
  await transfer()
  const commits = Math.ceil(rowsMin / writers / rowsOfCommit)
  const values = (writer: number) => Array.from({ length: rowsOfCommit }, (_, n) => `(${writer}, ${n})`).join()
  let writing = writers
  const write = async (writer: number) => {
    const session = await server.connect()
    for (let commit = 0; commit < commits; commit += 1) {
      await session.query('begin')
      await session.query(`insert into orders (writer, number) values ${values(writer)}`)
      // The others take later numbers, and commit them first.
      await session.query(`do sleep(${((writer * 7 + commit * 3) % 11) / 200})`)
      await session.query(commit % 9 === 8 ? 'rollback' : 'commit')
    }
    await session.end()
    writing -= 1
  }
  const written = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  while (writing > 0) await transfer()
  await written
  await transfer()
  const [count] = await server.query('select count(*) as n from orders')
  t.diagnostic(`${count?.n} rows in ${transfers} transfers`)
  assert.deepEqual([seen.size, twice], [Number(count?.n), 0])
})

test('reads each row once while many transactions commit in any order', options, async () => {
  if (!server) return
  const { query } = server
  await query('create table busy (id int auto_increment primary key, writer int)')
  const writers = await Promise.all(Array.from({ length: 12 }, () => server.connect()))
  let writing = writers.length
  const write = async (number: number) => {
    const writer = writers[number]
    for (let round = 0; round < 12; round += 1) {
      await writer?.query('begin')
      for (let at = 0; at < 1 + (number % 4); at += 1) {
        await writer?.query(`insert into busy (writer) values (${number}), (${number})`)
      }
      await writer?.query(`insert into busy (writer) select ${number} from seq_1_to_5`)
      await writer?.query(round % 5 === 4 ? 'rollback' : 'commit')
    }
    writing -= 1
  }
  const busy = { table: 'busy', syncMode: 'Incremental', markerColumn: 'id' }
  const ids: unknown[] = []
  let cursor: Json | undefined
  const readOn = async () => {
    const chunks = await readAll(mysql, { secrets: server.secrets, settings: busy, ...(cursor ? { cursor } : {}) })
    ids.push(...rowsOf(chunks).map(([id]) => id))
    if (chunks.length > 0) cursor = cursorOf(chunks)
  }
  try {
    const written = Promise.all(writers.map((_, number) => write(number)))
    while (writing > 0) await readOn()
    await written
    await readOn()
    assert.deepEqual(
      ids,
      (await query('select id from busy order by id')).map(({ id }) => id),
    )
  } finally {
    await Promise.all(writers.map((writer) => writer.end()))
  }
})
