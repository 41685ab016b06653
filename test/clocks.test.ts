import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { newChallenge, openChallenge } from '../packages/server/src/users/challenges.ts'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf } from './harness/fixtures.ts'
import { http, prepareStage } from './harness/process.ts'
import { startReceiver } from './harness/receiver.ts'
import { startServiceOn, startTestService } from './harness/service.ts'
import { skewedClock } from './harness/skewed-clock.ts'
import { large } from './harness/tiers.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { addPerson } from './harness/users.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** Processes compare only times of the database, because their clocks can differ by hours. */

const server = join(import.meta.dirname, '../packages/server/src')
const hourMs = 3_600_000
const wrongBy = [-3 * hourMs, -150_000, 3 * hourMs]

/** Expressions that read the clock of the process. */
const reading =
  /\bDate\.now\b|\bnew Date\(\s*\)|(?<![\w.]|new )\bDate\(|\bTemporal\.Now\b|\btimeOrigin\b|\.format\(\s*\)/g

test('the clock of a process is read only where no other process compares the time', () => {
  const reasons: Readonly<Record<string, string>> = {
    'cli/doctor/address.ts': 'is compared with the end of a certificate',
    'cli/doctor/files.ts': 'is compared with the end of a certificate',
    'cli/try-destination.ts': 'is the beginning of a trial, which no other process compares',
    'cli/doctor/work.ts': 'is compared with the time of the database, to report the difference',
    'connectors/packages/add-package.ts':
      'is the time at which a person added a package, in its folder; of two, the later one counts',
    'db/backup/dump.ts': 'is written into the file, for those who read it',
    'log.ts': 'is the time of a line in the log',
    'mcp/confirmation.ts': 'is for `penstock mcp`, which takes only its own codes; the service gives its own clock',
    'outgoing/outgoing.ts': 'stands for the time of the server that answered, where it does not say its time',
    'streams/receive.ts': 'is the time at which an event arrived, which corrects the clock of its client',
    'streams/sent-messages.ts': 'is the time of an answer to a sender, for those who read it',
    'streams/signing.ts': 'is compared with the time that a sender of webhooks signed',
    'transfers/supervisor/outcomes.ts': 'is written into an outcome, for those who read it',
    'telemetry/registered-metrics.ts': 'is sent to the collector, with the host that measured',
  }
  const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
  const code = (file: string) => readFileSync(join(server, file), 'utf8').replaceAll(comments, '')
  const files = globSync('**/*.ts', { cwd: server }).filter((file) => !file.endsWith('.test.ts'))
  assert(files.length > 200)
  for (const text of [
    'a = Date.now()',
    '{ now = Date.now }',
    'new Date()',
    'nextRun(cron, zone, new Date( ))',
    'x(Date())',
  ])
    assert.match(text, new RegExp(reading.source), text)
  for (const text of ['new Date(0)', 'Date.parse(a)', 'databaseNow(db)', 'a: Date', 'isDate(x)'])
    assert.doesNotMatch(text, new RegExp(reading.source), text)
  assert.deepEqual(files.filter((file) => code(file).match(reading)).sort(), Object.keys(reasons).sort())
})

describe('a worker whose clock is wrong', large, () => {
  test('starts a due schedule once, and again when the clock of the database says so', async (t) => {
    const { service, caller, accountId, folder, spawnWorker, connect, target } = await startProcessFixture(t)
    await writeFile(join(folder, 'people.csv'), 'id,name\n1,Ada\n')
    await target.query('create table people (id text, name text)')
    const id = await connect(localFolder, { files: 'people.csv' }, postgresql, { table: 'people' })
    const sql = async (text: string) => (await service.database.pool.query(text)).rows
    // Every hour, and not while the test runs.
    const [{ minute } = { minute: 0 }] = await sql(`select (extract(minute from now())::int + 30) % 60 as minute`)
    await caller.expect(caller.call('setSchedule', { accountId, id, body: { cron: `${minute} * * * *` } }))
    for (const [at, aheadMs] of wrongBy.entries()) {
      const worker = spawnWorker(skewedClock(aheadMs))
      await sql(`update schedules set last_time = null, next_time = now() - interval '1 second'`)
      await until('the schedule started, and its transfer ended', async () => {
        if (worker.hasEnded) assert.fail(worker.said.stderr)
        return (
          (await sql(`select from schedules where last_time is not null`)).length === 1 &&
          (await sql(`select from transfers where status = 'succeeded'`)).length === at + 1
        )
      })
      assert.deepEqual(
        await sql(`select next_time > now() as later, next_time <= now() + interval '1 hour' as soon from schedules`),
        [{ later: true, soon: true }],
        `ahead by ${aheadMs} ms`,
      )
      worker.signal('SIGTERM')
      await worker.ended
    }
  })

  test('sends webhooks when they are due, signed with the right time', async (t) => {
    const { service, caller, spawnWorker } = await startProcessFixture(t, { PENSTOCK_ALLOW_HTTP: '127.0.0.1' })
    const receiver = await startReceiver(t)
    for (const [at, aheadMs] of wrongBy.entries()) {
      const worker = spawnWorker(skewedClock(aheadMs))
      if (at === 0) await caller.expect(caller.call('createWebhook', { body: { url: receiver.url } }))
      await caller.addAccount()
      await until('the event arrived', () => receiver.requests.length > at)
      const seconds = Number(receiver.requests[at]?.headers['webhook-timestamp'])
      assert(Math.abs(seconds - Date.now() / 1000) < 60, `ahead by ${aheadMs} ms, signed at ${seconds}`)
      worker.signal('SIGTERM')
      await worker.ended
    }
    const attempts = 'select next_time <= now() as past, attempts from webhook_deliveries'
    for (const row of (await service.database.pool.query(attempts)).rows)
      assert.deepEqual(row, { past: true, attempts: 1 })
  })
})

describe('an API process whose clock is wrong', { concurrency: wrongBy.length }, () => {
  for (const aheadMs of wrongBy) {
    const isLarge = aheadMs !== wrongBy[0]
    test(
      `by ${aheadMs / 60_000} minutes, takes what others issued and dates what it stores by the database`,
      isLarge ? large : {},
      async (t) => {
        const stage = await prepareStage(t)
        const database = await createTestDatabase()
        t.after(database.drop)
        const inbox = await makeInbox()
        t.after(inbox.remove)
        const env = { ...inbox.env, PENSTOCK_MASTER_KEY: generateMasterKey() }
        const right = await startServiceOn(database.url, env)
        t.after(right.close)
        const organization = await right.addOrganization()
        const connection = await addAccountWithConnection(callerOf(right, organization), inbox.folder)
        const person = await addPerson(right, organization)
        const wrong = await stage.serve({
          env: { ...env, DATABASE_URL: database.url, PENSTOCK_WORKER: '0', ...skewedClock(aheadMs) },
        })
        const { token } = organization
        const nowSeconds = () => Math.floor(Date.now() / 1000)

        assert.equal((await http(wrong.url, '/accounts', { token })).status, 200, 'a token of another process')
        const { cookie } = person.headers
        assert.equal((await http(wrong.url, '/me', { headers: { cookie } })).status, 200, 'a session of another one')

        const expiring = async (seconds: number) => {
          const body = { name: 'One', expiresTime: nowSeconds() + seconds }
          return (await http(wrong.url, '/clients', { method: 'POST', token, body })).status
        }
        assert.deepEqual([await expiring(600), await expiring(-60)], [201, 400])

        const minute = (new Date().getUTCMinutes() + 30) % 60
        const path = `/connections/${connection.id}/schedule?accountId=${connection.accountId}`
        const body = { cron: `${minute} * * * *` }
        const reply = await http(wrong.url, path, { method: 'PUT', token, body })
        const inSeconds = (reply.response as { nextTime: number }).nextTime - nowSeconds()
        assert(inSeconds > 0 && inSeconds <= 3_600, `due in ${inSeconds} seconds`)
      },
    )
  }
})

test('a challenge of one process is taken by another one, and ends by the clock of the database', async (t) => {
  const service = await startTestService()
  t.after(service.close)
  const { database } = service
  const { keyring } = service.service.deps
  const openAt = async (aheadMs: number, challenge: string) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMs })
    const opened = await openChallenge(database, keyring, ['test'], challenge)
    t.mock.timers.reset()
    return opened !== undefined
  }
  for (const aheadMs of wrongBy) {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMs })
    const challenge = await newChallenge(database, keyring, ['test'], 5)
    const ended = await newChallenge(database, keyring, ['test'], -1)
    t.mock.timers.reset()
    for (const otherMs of [0, -aheadMs]) {
      assert.equal(await openAt(otherMs, challenge), true, `made ${aheadMs} ms ahead, opened ${otherMs} ms ahead`)
      assert.equal(await openAt(otherMs, ended), false)
    }
  }
})
