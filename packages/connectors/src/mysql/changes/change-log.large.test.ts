import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { ChangeLogMeasure, Json, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../../test/harness/programs.ts'
import { until } from '../../../../../test/harness/until.ts'
import { loggingOptions, startMariadb } from '../../../test/mariadb.ts'
import { readAll } from '../../../test/tables.ts'
import { mysql } from '../mysql.ts'

const server = await startMariadb(loggingOptions)
after(() => server?.stop())

if (!server) test('the binary log of MariaDB', { skip: skipWithout('mariadbd') }, () => {})
else {
  const { query, administer, secrets } = server
  const settings: Values = { table: 'people', syncMode: 'Changes', deletes: 'Skip' }
  const log = mysql.source?.changeLog

  const read = async (cursor?: Json, more: Values = {}): Promise<Json> => {
    const of = { secrets, settings: { ...settings, ...more }, ...(cursor === undefined ? {} : { cursor }) }
    const next = (await readAll(mysql, of)).at(-1)?.cursor
    assert.ok(next)
    return next
  }
  const measure = async (cursor?: Json): Promise<ChangeLogMeasure> => {
    const found = await log?.measure({ ...testContext({ secrets, settings }), slot: '', cursor })
    assert.ok(found)
    return found
  }

  await administer(`grant replication slave, replication client on *.* to penstock@'127.0.0.1'`)
  beforeEach(async () => {
    await administer('set global binlog_expire_logs_seconds = 86400')
    await query('drop table if exists people')
    await query('create table people (id int primary key, name text) engine = InnoDB')
  })

  test('is measured: how far the connection is behind, and whether the server removes what it needs', async () => {
    assert.equal(log?.release, undefined)
    assert.equal(log?.server({ host: 'db', port: 3306, database: 'crm' }), 'db:3306/crm')
    assert.deepEqual([log?.slot(settings), log?.slot({ syncMode: 'Full' })], ['', undefined])
    assert.equal((await measure()).status, null)
    await query(`insert into people values (1, 'Ada')`)
    const cursor = await read()
    const first = await measure(cursor)
    assert.deepEqual(
      [first.status, first.behindFiles, first.keptBytes, first.keptSeconds],
      ['reserved', 1, null, 86_400],
    )
    assert(first.behindSeconds !== null)
    await query(`insert into people values (2, 'Bob')`)
    await administer('flush binary logs')
    await query(`insert into people values (3, 'Cy')`)
    const second = await measure(cursor)
    assert.equal(second.behindFiles, 2)
    assert((second.behindBytes ?? 0) > (first.behindBytes ?? 0))
    assert.equal(second.olderFiles, first.olderFiles)

    // A file that is not written to any more is removed after this time.
    const old = { ...(cursor as object), readMs: Date.now() - 80_000_000 } as Json
    assert.equal((await measure(old)).status, 'unreserved')
    await administer('set global binlog_expire_logs_seconds = 0')
    assert.deepEqual([(await measure(old)).status, (await measure(old)).keptSeconds], ['reserved', null])

    // A transfer that reads all changes ends at the present.
    const next = (await read(cursor)) as { readMs: number; file: string }
    assert(next.readMs >= (cursor as { readMs: number }).readMs)
    assert.equal((await measure(next)).behindFiles, 1)
    await query(`insert into people values (4, 'Di')`)
    await administer('flush binary logs')
    const last = next.file.replace(/\d+$/, (digits) => String(Number(digits) + 1).padStart(digits.length, '0'))
    // The server keeps a file while a reader that has just gone is still connected.
    const lost = await until('the file is removed', async () => {
      await administer(`purge binary logs to '${last}'`)
      const found = await measure(next)
      return found.status === 'lost' ? found : undefined
    })
    assert.deepEqual([lost.status, lost.behindBytes], ['lost', null])
    assert(lost.behindSeconds !== null)
  })
}
