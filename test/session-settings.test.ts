import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { createNotices } from '../packages/server/src/db/notices.ts'
import { onSession, openSession } from '../packages/server/src/db/session.ts'
import { neededSettings } from '../packages/server/src/db/session-settings.ts'
import { statement } from '../packages/server/src/db/statement.ts'
import { createTestDatabase } from './harness/database.ts'
import { oddSettings, setOddly } from './harness/odd-settings.ts'

/** Our sessions on a database that sets other defaults than PostgreSQL, and in addresses with options. */

async function prepare(t: TestContext): Promise<string> {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  await setOddly(url)
  return url
}

const settingsOf = statement<Record<never, never>, { name: string; value: string }>(
  `select name, setting as value from pg_settings order by name`,
)
const namesOf = (settings: object) => Object.keys(settings).sort()

/** The needed settings as a session has them. A server does not know the settings of a later version. */
function assertNeeded(shown: readonly { name: string; value: string }[], how: string): Map<string, string> {
  const values = new Map(shown.map(({ name, value }) => [name, value]))
  for (const [name, value] of Object.entries(neededSettings)) {
    if (values.has(name)) assert.equal(values.get(name), value, `${name} ${how}`)
  }
  return values
}

test('every needed setting is set oddly in these tests', () => {
  const odd = new Set(namesOf(oddSettings))
  assert.deepEqual(
    namesOf(neededSettings).filter((name) => !odd.has(name)),
    [],
  )
})

for (const [how, pooled] of [
  ['in a session of the pool', false],
  ['through a pooler', true],
] as const) {
  test(`every needed setting has its value ${how}, in a transaction and outside of one`, async (t) => {
    const url = await prepare(t)
    const database = openDatabase({ url, poolSize: 1, ...(pooled && { poolerUrl: url }) })
    t.after(database.close)
    for (const again of [false, true]) {
      assertNeeded(await settingsOf.all(database, {}), `${how}, statement ${again ? 2 : 1}`)
      const inTransaction = await database.transaction((tx) => settingsOf.all(tx, {}))
      const values = assertNeeded(inTransaction, `${how}, in a transaction`)
      assert.equal(values.get('work_mem'), '4096')
      assert.equal(values.get('transaction_isolation'), 'read committed')
    }
    const write = statement(`update purges set next_time = next_time`)
    await write.run(database, {})
    await database.transaction((tx) => write.run(tx, {}))
  })
}

test('every needed setting has its value in a separate session, which has no limits', async (t) => {
  const session = await openSession(await prepare(t), 'test')
  t.after(() => session.end())
  const shown = await settingsOf.all(onSession(session), {})
  assertNeeded(shown, 'in a separate session')
  const limits = ['statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'lock_timeout']
  for (const name of limits) assert.equal(shown.find((one) => one.name === name)?.value, '0', name)
})

test('every needed setting has its value in the session that listens for notices, which the server does not end', async (t) => {
  const notices = createNotices(await prepare(t), (error) => assert.ifError(error))
  let shown: { name: string; value: string }[] = []
  notices.on('test', {
    onReconnect: async (client) => {
      shown = await settingsOf.all(onSession(client), {})
    },
  })
  await notices.start()
  await notices.close()
  assertNeeded(shown, 'of notices')
  assert.equal(shown.find(({ name }) => name === 'idle_session_timeout')?.value, '0')
})

test('options in the address keep their effect', async (t) => {
  const url = new URL(await prepare(t))
  url.searchParams.set('options', '-c work_mem=1MB -c search_path=own,public')
  const database = openDatabase({ url: url.href, poolSize: 1 })
  t.after(database.close)
  const session = await openSession(url.href, 'test')
  t.after(() => session.end())
  for (const db of [database, onSession(session)]) {
    const shown = await settingsOf.all(db, {})
    const values = assertNeeded(shown, 'with options')
    assert.equal(values.get('work_mem'), '1024')
    assert.equal(values.get('search_path'), 'own,public')
  }
})
