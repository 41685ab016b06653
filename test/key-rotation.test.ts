import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeDataKey, type NewDataKey, openDataKey } from '../packages/server/src/secrets/data-keys.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { rotateMasterKey } from '../packages/server/src/secrets/rotate.ts'
import { generateMasterKey, type MasterKey, parseMasterKey, seal, unseal } from '../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { type Caller, callerOf, destination, destinationSecrets, source, sourceSecrets } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startServiceOn, startTestService, type TestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'

/** Rotation of the master key, which happens while services run and are killed. */

function newKey(): { text: string; key: MasterKey } {
  const text = generateMasterKey()
  const key = parseMasterKey(text)
  assert(key)
  return { text, key }
}

const keepNothing = async () => {}
const interrupted = () => Promise.reject(new Error('interrupted'))

/** A service under a separate master key, with accounts whose secrets are saved. */
async function prepare(t: TestContext, accountCount = 3) {
  const first = newKey()
  const service = await startTestService({ PENSTOCK_MASTER_KEY: first.text })
  t.after(() => service.close())
  const caller = callerOf(service, await service.addOrganization())
  const accountIds: string[] = []
  for (let count = 0; count < accountCount; count++) {
    const { id } = await caller.addAccountWithSides()
    await caller.configureSides(id)
    accountIds.push(id)
  }
  const { database, databaseUrl } = service
  /** Rotates as the command does: with a separate keyring, opened under the key of the settings. */
  const rotate = async (from: MasterKey, to: MasterKey, keep = keepNothing) =>
    rotateMasterKey({ database, databaseUrl }, await openKeyring(database, from), to, keep)
  return { first, service, caller, accountIds, database, rotate }
}

/** Fails unless the key opens every secret of the accounts. */
async function assertOpens(
  { database }: TestService,
  { key }: { key: MasterKey },
  accountIds: string[],
): Promise<void> {
  const keyring = await openKeyring(database, key)
  for (const accountId of accountIds) {
    const ofSource = await openSecrets(
      database,
      keyring,
      await firstConfiguration(database, { accountId, connectorId: source.id }),
    )
    assert.deepEqual(ofSource, { secretAccessKey: sourceSecrets.secretAccessKey })
    const ofDestination = await openSecrets(
      database,
      keyring,
      await firstConfiguration(database, { accountId, connectorId: destination.id }),
    )
    assert.deepEqual(ofDestination, { password: destinationSecrets.password })
  }
}

/** Fails unless the secrets are only under this key, and nothing is left that earlier keys could open. */
async function assertOnly({ database }: TestService, key: MasterKey, old: readonly MasterKey[]): Promise<void> {
  const { rows: others } = await database.pool.query('select from secrets where key_id <> $1', [key.id])
  assert.equal(others.length, 0)
  const { rows: keys } = await database.pool.query('select key_id, current, sealed_key from master_keys')
  assert.deepEqual(keys, [{ key_id: key.id, current: true, sealed_key: null }])
  for (const one of old) await assert.rejects(openKeyring(database, one), { name: 'MasterKeyMismatch' })
}

const save = (caller: Caller, accountId: string, secretAccessKey: string) =>
  caller.call('configureConnector', {
    accountId,
    id: source.id,
    body: { secretConfig: { ...sourceSecrets, secretAccessKey } },
  })

test('a rotation seals every secret again while two services save more of them', async (t) => {
  const { first, service, caller, accountIds, database, rotate } = await prepare(t, 8)
  const second = await startServiceOn(service.databaseUrl, { PENSTOCK_MASTER_KEY: first.text })
  t.after(() => second.close())
  const next = newKey()
  const saved = new Map<string, string>()
  let rotated = false
  const keepSaving = async (accountId: string) => {
    for (let count = 0; !rotated || count < 5; count++) {
      const secret = `${accountId}-${count}`
      const reply = await save(caller, accountId, secret)
      assert.equal(reply.status, 200, reply.text)
      saved.set(accountId, secret)
    }
  }
  const saving = Promise.all(accountIds.map(keepSaving))
  const resealed = await rotate(first.key, next.key).finally(() => {
    rotated = true
  })
  await saving
  assert(resealed > 0)
  await assertOnly(service, next.key, [first.key])
  const keyring = await openKeyring(database, next.key)
  for (const [accountId, secretAccessKey] of saved) {
    assert.deepEqual(
      await openSecrets(database, keyring, await firstConfiguration(database, { accountId, connectorId: source.id })),
      { secretAccessKey },
    )
    const { keyring: own } = second.service.deps
    assert.deepEqual(
      await openSecrets(database, own, await firstConfiguration(database, { accountId, connectorId: source.id })),
      { secretAccessKey },
    )
  }
})

test('a save that waits for the key to change is sealed under the new one', async (t) => {
  const { first, service, caller, accountIds, database } = await prepare(t, 1)
  const accountId = accountIds[0] ?? ''
  // The rotation's first step, slowed down: the save happens between the change of the key and its commit.
  let waiting: Promise<void> | undefined
  const slow = {
    ...database,
    transaction: <T>(work: Parameters<typeof database.transaction<T>>[0]) =>
      database.transaction(async (tx) => {
        const done = await work(tx)
        if (!waiting) {
          const saving = save(caller, accountId, 'saved meanwhile')
          waiting = saving.then((reply) => assert.equal(reply.status, 200, reply.text))
          waiting.catch(() => {})
          await until('the save waits', () => isWaiting(service))
        }
        return done
      }),
  }
  const next = newKey()
  const { databaseUrl } = service
  await rotateMasterKey({ database: slow, databaseUrl }, await openKeyring(database, first.key), next.key, keepNothing)
  await waiting
  await assertOnly(service, next.key, [first.key])
  const opened = await openSecrets(
    database,
    await openKeyring(database, next.key),
    await firstConfiguration(database, { accountId, connectorId: source.id }),
  )
  assert.equal(opened.secretAccessKey, 'saved meanwhile')
})

/** Whether the service waits for a lock. */
const isWaiting = async ({ databaseUrl }: TestService): Promise<boolean> =>
  withSession(databaseUrl, async (session) => {
    const { rows } = await session.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })

test('services that start and run during and after a rotation work with either key, and afterwards with the new one alone', async (t) => {
  const { first, service, accountIds, rotate } = await prepare(t)
  const next = newKey()
  await assert.rejects(rotate(first.key, next.key, interrupted), /interrupted/)
  for (const key of [first, next]) {
    const started = await startServiceOn(service.databaseUrl, { PENSTOCK_MASTER_KEY: key.text })
    const caller = callerOf(started, await started.addOrganization())
    const { id } = await caller.addAccountWithSides()
    await caller.configureSides(id)
    accountIds.push(id)
    await started.close()
  }
  for (const key of [first, next]) await assertOpens(service, key, accountIds)
  await rotate(first.key, next.key)
  await assertOpens(service, next, accountIds)
  await assertOnly(service, next.key, [first.key])
  await assert.rejects(startServiceOn(service.databaseUrl, { PENSTOCK_MASTER_KEY: first.text }), (error: Error) => {
    assert.equal(error.name, 'MasterKeyMismatch')
    assert.match(error.message, /sealed under key .* the key given is .* Set PENSTOCK_MASTER_KEY/)
    assert(!error.message.includes(first.text) && !error.message.includes(next.text))
    return true
  })
})

test('an interrupted rotation is finished by running it again, with the old key or the new one in the settings', async (t) => {
  for (const restartWith of ['first', 'next'] as const) {
    const { first, service, accountIds, rotate } = await prepare(t)
    const next = newKey()
    await assert.rejects(rotate(first.key, next.key, interrupted), /interrupted/)
    await rotate({ first, next }[restartWith].key, next.key)
    await assertOpens(service, next, accountIds)
    await assertOnly(service, next.key, [first.key])
    await assertInvariants(service.database.pool)
  }
})

test('rotations that are interrupted again and again, each with a key of its own, never lock out the key that was kept', async (t) => {
  const { first, service, accountIds, rotate } = await prepare(t)
  // The command creates a new key each time. While no new key was stored, the settings still have the first.
  const [second, third, last] = [newKey(), newKey(), newKey()]
  for (const next of [second, third]) {
    await assert.rejects(rotate(first.key, next.key, interrupted), /interrupted/)
    await assertOpens(service, first, accountIds)
  }
  await rotate(first.key, last.key)
  await assertOpens(service, last, accountIds)
  await assertOnly(service, last.key, [first.key, second.key, third.key])
})

test('of two rotations at once the key that is kept last opens everything', async (t) => {
  const { first, service, accountIds, rotate } = await prepare(t, 6)
  const [one, two] = [newKey(), newKey()]
  let kept = first
  let second: Promise<unknown> = Promise.resolve()
  const rotated = rotate(first.key, one.key, async () => {
    // The second rotation begins before the first has stored its key. It can do its work, wait, or refuse.
    let isSettled = false
    second = rotate(first.key, two.key, async () => {
      kept = two
    })
      .catch((error: Error) => assert.match(error.message, /rotation/))
      .finally(() => {
        isSettled = true
      })
    await until('the second is over or waits', async () => isSettled || isWaiting(service))
    kept = one
  })
  await Promise.all([rotated, second.catch(() => {})])
  await second
  await assertOpens(service, kept, accountIds)
})

test('a rotation of the key to itself changes nothing', async (t) => {
  const { first, service, accountIds, rotate } = await prepare(t)
  assert.equal(await rotate(first.key, first.key), 0)
  await assertOpens(service, first, accountIds)
  await assertOnly(service, first.key, [])
})

test('a rotation seals the keys of rejected records again, and they still open what they sealed', async (t) => {
  const { first, service, database, rotate } = await prepare(t, 1)
  const { keyring } = service.service.deps
  const made = await database.transaction(async (tx) => {
    const keys: NewDataKey[] = []
    while (keys.length < 700) keys.push(await makeDataKey(tx, keyring))
    return keys
  })
  const place = ['record', '1']
  const sealed = made.map(({ key }) => seal(key, place, 'who it is'))
  const next = newKey()
  await service.service.settleAudit()
  assert.equal(await rotate(first.key, next.key), 703, 'two secrets, every data key, and the key of the audit log')
  await assertOnly(service, next.key, [first.key])
  assert.equal((await database.pool.query('select from data_keys where key_id <> $1', [next.key.id])).rowCount, 0)
  const afterwards = await openKeyring(database, next.key)
  for (const at of [0, 499, 500, 699]) {
    const { id = '' } = made[at] ?? {}
    const key = await openDataKey(database, afterwards, id)
    assert(key)
    const opened = unseal(key, place, sealed[at] ?? Buffer.alloc(0))
    assert.equal(opened.toString('utf8'), 'who it is')
  }
  assert(await openDataKey(database, keyring, made[0]?.id ?? ''), 'the running service moved on')
})
