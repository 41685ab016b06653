import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { statement } from '../packages/server/src/db/statement.ts'
import { createTestDatabase } from './harness/database.ts'

test('statements with the same text in two modules read the same rows on one connection', async (t) => {
  const testDatabase = await createTestDatabase()
  const database = openDatabase({ url: testDatabase.url, poolSize: 1 })
  t.after(async () => {
    await database.close()
    await testDatabase.drop()
  })
  const make = () => statement<{ count: number }, { oneNumber: number }>('select :count::int + 1 as one_number')
  const [one, other] = [make(), make()]
  assert.deepEqual(await one.all(database, { count: 1 }), [{ oneNumber: 2 }])
  assert.deepEqual(await other.all(database, { count: 2 }), [{ oneNumber: 3 }])
  assert.deepEqual(await one.first(database, { count: 3 }), { oneNumber: 4 })
})
