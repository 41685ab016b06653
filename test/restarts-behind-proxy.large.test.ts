import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { startCaddy } from './harness/caddy.ts'
import { createTestDatabase } from './harness/database.ts'
import { freePort, prepareStage, tokenOf } from './harness/process.ts'
import { skipWithout } from './harness/programs.ts'
import { openLine } from './harness/raw-http.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'

/** Processes are restarted behind the shipped configurations of Caddy while clients read and write: no request fails. */

const clients = 4

/** Processes of the API with one database and the settings of a deployment. */
async function prepareProcesses(t: TestContext) {
  const stage = await prepareStage(t)
  const { url: databaseUrl, drop } = await createTestDatabase()
  t.after(drop)
  const credentials = { clientId: 'first', clientSecret: 'a-secret-of-some-length' }
  const env = {
    DATABASE_URL: databaseUrl,
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_CLIENT_ID: credentials.clientId,
    PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    PENSTOCK_WORKER: '0',
    PENSTOCK_RATE_LIMIT: '0',
    PENSTOCK_TRUSTED_PROXIES: '127.0.0.1',
    PENSTOCK_DRAIN_SECONDS: '3',
  }
  const serve = (port?: number) => stage.serve({ env, ...(port ? { port } : {}) })
  /** Restarts a process as `deploy/systemd/penstock-restart` does: the next one follows when the proxy uses this one again. */
  const restart = async (running: Awaited<ReturnType<typeof serve>>) => {
    running.signal('SIGTERM')
    const { code, stderr } = await running.ended
    assert.equal(code, 0, stderr)
    const fresh = await serve(running.port)
    await until('the proxy sends requests to it', async () =>
      /operation="listAccounts".* [1-9]/.test(await (await fetch(`${fresh.url}/metrics`)).text()),
    )
  }
  return {
    databaseUrl,
    serve,
    restart,
    token: (served: { url: string }) => tokenOf(served, stage.dataDirectory, credentials),
  }
}

/** Clients that read and write until they are stopped. Returns what failed, what was created and how many requests there were. */
function startClients(url: string, token: string, { write = true } = {}) {
  const outcome = { requests: 0, failures: [] as string[], created: [] as string[] }
  let stopped = false
  const work = Array.from({ length: clients }, async (_, client) => {
    for (let i = 0; !stopped; i++) {
      const name = `Account ${client}.${i}`
      const isWrite = write && i % 2 === 0
      const failure = await fetch(`${url}/es/v2/accounts`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(isWrite ? { method: 'POST', body: JSON.stringify({ name }) } : {}),
      }).then(
        async (answer) => (answer.ok ? void (await answer.text()) : `${answer.status} ${await answer.text()}`),
        (error: Error) => String(error.cause ?? error),
      )
      outcome.requests++
      if (failure !== undefined) outcome.failures.push(`${isWrite ? 'POST' : 'GET'}: ${failure}`)
      else if (isWrite) outcome.created.push(name)
    }
  })
  return {
    outcome,
    stop: async () => {
      stopped = true
      await Promise.all(work)
    },
  }
}

/** Every account whose creation was answered exists once. */
async function assertCreated(databaseUrl: string, created: readonly string[]) {
  const { rows } = await withSession(databaseUrl, (session) => session.query('select name from accounts'))
  const counts = Map.groupBy(rows as { name: string }[], ({ name }) => name)
  assert.deepEqual(
    created.filter((name) => counts.get(name)?.length !== 1),
    [],
  )
}

describe('behind Caddy', { skip: skipWithout('caddy') }, () => {
  test('a rolling restart of two processes fails no request', async (t) => {
    const { databaseUrl, serve, restart, token } = await prepareProcesses(t)
    const [first, second] = [await serve(), await serve()]
    const url = await startCaddy(t, 'Caddyfile', 'penstock.example.com', {
      '127.0.0.1:8080': `127.0.0.1:${first.port}`,
      '127.0.0.1:8081': `127.0.0.1:${second.port}`,
    })
    const bearer = await token({ url })
    const { outcome, stop } = startClients(url, bearer)
    await until('clients work', () => outcome.requests > 50)
    await restart(first)
    await restart(second)
    const before = outcome.requests
    await until('clients still work', () => outcome.requests > before + 50)
    await stop()
    t.diagnostic(`${outcome.requests} requests, ${outcome.failures.length} failed`)
    assert.deepEqual(outcome.failures, [])
    assert(outcome.requests > 400, `${outcome.requests} requests`)
    await assertCreated(databaseUrl, outcome.created)
  })

  test('a restart of the only process of compose.yaml lets reads wait, and fails none', async (t) => {
    const { serve, restart, token } = await prepareProcesses(t)
    const served = await serve()
    const url = await startCaddy(t, 'compose.Caddyfile', '{$PENSTOCK_DOMAIN}', {
      'api:8080': `127.0.0.1:${served.port}`,
    })
    const bearer = await token({ url })
    // Caddy 2.6, which Debian has, cannot send a body again after a refused connection. The image has a newer one.
    const { outcome, stop } = startClients(url, bearer, { write: false })
    await until('clients work', () => outcome.requests > 50)
    await restart(served)
    const before = outcome.requests
    await until('clients still work', () => outcome.requests > before + 50)
    await stop()
    t.diagnostic(`${outcome.requests} requests, ${outcome.failures.length} failed`)
    assert.deepEqual(outcome.failures, [])
  })
})

test('a process that drains is not ready, serves on, and ends each connection with its next answer', async (t) => {
  const { serve } = await prepareProcesses(t)
  const served = await serve(await freePort())
  const health = (path: string) => `GET ${path} HTTP/1.1\r\nHost: penstock.test\r\n\r\n`
  using line = await openLine(served.port)
  line.write(health('/healthz'))
  assert.equal((await line.replies(1))[0]?.headers.connection, 'keep-alive')
  served.signal('SIGTERM')
  await until('it drains', () => served.said.stderr.includes('draining'))
  line.write(health('/healthz'))
  const [, last] = await line.ended()
  assert.deepEqual([last?.status, last?.headers.connection], [200, 'close'])
  using fresh = await openLine(served.port)
  fresh.write(health('/readyz'))
  const [unready] = await fresh.ended()
  assert.deepEqual([unready?.status, unready?.headers.connection], [503, 'close'])
  assert.match(unready?.text ?? '', /is stopping/)
  assert.equal((await served.ended).code, 0)
})
