import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { makeInbox } from './harness/connections.ts'
import { createEmptyDatabase, databaseUrl, execute } from './harness/database.ts'
import { callEveryOperation } from './harness/every-operation.ts'
import { createOddDatabase } from './harness/odd-settings.ts'
import { createPeopleTable, writePeople } from './harness/people.ts'
import { startServiceOn } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** A database whose owner has no other rights, and whose sessions begin with unusual settings. */

async function prepare(t: TestContext): Promise<string> {
  const { url, drop } = await createOddDatabase()
  t.after(drop)
  await migrate(url)
  return url
}

test('transfers move every row on a database with odd settings', async (t) => {
  const fixture = await startFixture({}, await prepare(t))
  t.after(fixture.close)
  const rows = 20
  const connections: string[] = []
  for (const table of ['first', 'second', 'third']) {
    await writePeople(join(fixture.folder, `${table}.csv`), rows)
    await createPeopleTable(fixture.target, table, true)
    const into = { table, writeMode: 'Insert' }
    connections.push(await fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, into))
  }
  const started = await Promise.all(connections.map(async (id) => [id, (await fixture.start(id)).id] as const))
  await fixture.startWorker()
  const ended = await Promise.all(started.map(([id, transferId]) => fixture.ended(id, transferId)))
  const { length } = ended.filter(({ status, records }) => status === 'succeeded' && records.accepted === rows)
  assert.equal(length, connections.length)
})

test('every operation succeeds on a database with odd settings', async (t) => {
  const url = await prepare(t)
  const inbox = await makeInbox()
  t.after(inbox.remove)
  const service = await startServiceOn(url, inbox.env)
  t.after(service.close)
  // Samples are only offered with the embedded server, whose role is a superuser.
  await callEveryOperation(service, inbox.folder, ['createSample', 'deleteSample', 'previewSample'])
})

for (const encoding of ['LATIN1', 'SQL_ASCII']) {
  test(`a database in ${encoding} is refused before anything is created in it`, async (t) => {
    const { url, drop } = await createEmptyDatabase()
    t.after(drop)
    const name = new URL(url).pathname.slice(1)
    const server = databaseUrl(url, 'postgres')
    await execute(server, `drop database ${name}`)
    await execute(
      server,
      `create database ${name} template template0 encoding '${encoding}' locale_provider libc locale 'C'`,
    )
    await assert.rejects(migrate(url), {
      name: 'MigrationError',
      message: new RegExp(`is ${encoding}, .*encoding 'UTF8'`),
    })
    const { rows } = await withSession(url, (session) =>
      session.query(`select to_regclass('penstock_migrations') as table`),
    )
    assert.deepEqual(rows, [{ table: null }])
  })
}
