import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { asConnectorError } from '@penstock/connector'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { keptIn, openWriter, prepareTable, row, testWindows, type WindowStore, whole } from '../../test/test-windows.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) testAgainst(server)
else test('windows of rows in MySQL against MariaDB', { skip: skipWithout('mariadbd') }, () => {})

function testAgainst({ secrets, query, administer, stop, version }: Mariadb): void {
  after(() => stop())
  const store: WindowStore = {
    connector: mysql,
    secrets,
    settings: {},
    table: 't',
    textType: 'varchar(50)',
    dayText: 'cast(day as char)',
    query,
    clear: async () => {
      await administer('drop database penstock')
      await administer('create database penstock character set utf8mb4')
      await query('use penstock')
    },
  }
  testWindows(`windows of rows in MySQL against MariaDB ${version}`, store)

  describe('windows of rows in MySQL', () => {
    beforeEach(() => prepareTable(store))

    test('deletes nothing if an upsert finds rows by another key, too', async () => {
      await query('alter table t add unique key (account, day, clicks, campaign)')
      const writer = await openWriter(store)
      await writer.deliver(whole, [row('new', 7)])
      assert.equal((await keptIn(store)).length, 6)
      await writer.close()
    })

    test('are written by several writers at once, each a part of a transfer', async (t) => {
      await query('delete from t')
      const days = Array.from({ length: 24 }, (_, at) => `2026-03-${String(at + 1).padStart(2, '0')}`)
      const campaigns = (from: number) => Array.from({ length: 40 }, (_, at) => `c${from + at}`)
      for (const day of days) {
        await query(`insert into t values ${campaigns(0).map((name) => `(100, '${day}', '${name}', 1)`)}`)
      }
      let again = 0
      const write = async (part: number) => {
        const writer = await openWriter(store, `0f1e2d3c4b5a6978-${part + 1}`)
        for (const [at, day] of days.slice(part * 6, part * 6 + 6).entries()) {
          const rows = campaigns(20).map((name) => row(name, 2, day))
          const window = { ...whole, scope: { account: ['100'], day: [day] } }
          for (let isWritten = false; !isWritten; ) {
            try {
              const { rejected } = await writer.deliver(window, rows, String(at))
              assert.equal(rejected?.length ?? 0, 0)
              isWritten = true
            } catch (error) {
              // As the engine does, which sends the batch again.
              assert.equal(asConnectorError(error)?.code, 'conflict')
              again++
            }
          }
        }
        await writer.close()
      }
      await Promise.all([0, 1, 2, 3].map(write))
      const expected = days.flatMap((day) => campaigns(20).map((name) => `100 ${day} ${name} 2`))
      assert.deepEqual((await keptIn(store)).sort(), expected.sort())
      t.diagnostic(`${again} batches were sent again`)
    })
  })
}
