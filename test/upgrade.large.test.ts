import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { steadily } from './harness/bystander.ts'
import { createEmptyDatabase } from './harness/database.ts'
import { assertInvariants } from './harness/invariants.ts'
import { createNextVersion } from './harness/next-version.ts'
import { freePort, http, type Program, prepareStage, tokenOf } from './harness/process.ts'
import { withSession } from './harness/session.ts'
import { postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { bounded, until } from './harness/until.ts'
import { createAccount } from './harness/writers.ts'

/**
 * An upgrade to the next version, one process after another, while clients write and data moves: the processes of both versions
 * run next to each other, and each row reaches its destination once. Once a version is released, its package is the older one.
 */

const old = new URL('../packages/server/bin/penstock.js', import.meta.url).pathname
const rows = 500

/** Processes of both versions on one database, and another database whose rows are copied. */
async function prepare(t: TestContext) {
  const stage = await prepareStage(t)
  const database = await createEmptyDatabase()
  t.after(database.drop)
  const target = await createEmptyDatabase()
  t.after(target.drop)
  const credentials = { clientId: 'first', clientSecret: 'a-secret-of-some-length' }
  const env = {
    DATABASE_URL: database.url,
    PENSTOCK_MASTER_KEY: randomBytes(32).toString('base64'),
    PENSTOCK_CLIENT_ID: credentials.clientId,
    PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    PENSTOCK_EGRESS: 'any',
    PENSTOCK_RATE_LIMIT: '0',
    PENSTOCK_WORKER: '0',
  }
  const next = await createNextVersion()
  t.after(next.remove)
  const start = (program: string, command: string, more: Record<string, string> = {}) =>
    stage.start(process.execPath, [program, command], { env: { ...env, ...more } })
  const serve = async (program: string) => {
    const port = await freePort()
    const api = Object.assign(start(program, 'serve', { PENSTOCK_PORT: String(port) }), {
      url: `http://127.0.0.1:${port}`,
    })
    await says(api, '"serving"')
    return api
  }
  const work = async (program: string) => {
    const worker = start(program, 'worker')
    await says(worker, '"working"')
    return worker
  }
  const copied = () =>
    withSession(target.url, async (session) => {
      const { rows: found } = await session.query<{ rows: number; ids: number; most: number }>(
        'select count(*)::int as rows, count(distinct id)::int as ids, coalesce(max(id), 0) as most from copies',
      )
      return found[0]
    })
  return { database, target, credentials, stage, start, serve, work, copied, fresh: next.program }
}

const says = (program: Program, words: string) =>
  until(`it says ${words}`, () => {
    if (program.hasEnded) assert.fail(program.said.stderr)
    return program.said.stderr.includes(words)
  })

const stop = async (program: Program) => {
  program.signal('SIGTERM')
  const { code, stderr } = await bounded('the end', program.ended, 30_000)
  assert.equal(code, 0, stderr)
}

test('an upgrade, one process after another, loses nothing, sends nothing twice, and refuses the older worker afterwards', async (t) => {
  const { database, target, credentials, stage, start, serve, work, copied, fresh } = await prepare(t)
  const oldApi = await serve(old)
  const oldWorker = await work(old)
  const token = await tokenOf(oldApi, stage.dataDirectory, credentials)
  const send = async <T>(api: { url: string }, method: string, path: string, body?: object): Promise<T> => {
    const reply = await http(api.url, path, { method, token, body })
    assert(reply.status < 300, `${method} ${path}: ${reply.text}`)
    return reply.response as T
  }

  await withSession(target.url, (session) =>
    session.query('create table people (id int primary key, name text); create table copies (id int, name text)'),
  )
  let last = 0
  const addPeople = () =>
    withSession(target.url, async (session) => {
      await session.query(`insert into people select i, 'Person ' || i from generate_series($1::int, $2) i`, [
        last + 1,
        last + rows,
      ])
      last += rows
    })
  const { id: accountId } = await send<{ id: string }>(oldApi, 'POST', '/accounts', { name: 'Copies' })
  const at = `?accountId=${accountId}`
  await send(oldApi, 'POST', `/connectors${at}`, { connectorIds: [postgresql.id] })
  const secretConfig = postgresqlSecrets(target.url)
  await send(oldApi, 'PUT', `/connectors/${postgresql.id}/configuration${at}`, { secretConfig })
  const connection = await send<{ id: string }>(oldApi, 'POST', `/connections${at}`, {
    name: 'Copies',
    srcConnectorId: postgresql.id,
    destConnectorId: postgresql.id,
    srcConnectionConfig: { table: 'people', syncMode: 'Incremental', markerColumn: 'id', lagSeconds: 0 },
    destConnectionConfig: { table: 'copies', writeMode: 'Insert' },
  })
  const path = `/connections/${connection.id}`
  await send(oldApi, 'PUT', `${path}/status${at}`, { action: 'activate' })
  const begin = async (api: { url: string }) => {
    await addPeople()
    return (await send<{ id: string }>(api, 'POST', `${path}/transfers${at}`, {})).id
  }
  type Transfer = { status: string; attempt: number; finishedTime: number | null; error: unknown }
  const get = (api: { url: string }, id: string) => send<Transfer>(api, 'GET', `${path}/transfers/${id}${at}`)
  const ended = async (api: { url: string }, id: string) => {
    const transfer = await until('the transfer has ended', async () => {
      const found = await get(api, id)
      return found.finishedTime === null ? undefined : found
    })
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    assert.deepEqual(await copied(), { rows: last, ids: last, most: last })
  }

  await ended(oldApi, await begin(oldApi))
  const created = new Map<string, string | undefined>()
  let isOver = false
  /** Creates sub-accounts until the test is over or the API is gone. Any other answer than a success fails the test. */
  const startClient = (api: Program & { url: string }) => {
    const client = steadily(
      50,
      async () => {
        const name = `account ${randomBytes(6).toString('hex')}`
        created.set(name, undefined)
        created.set(name, (await createAccount(api.url, token, name))?.id)
      },
      () => isOver || api.hasEnded,
    )
    client.catch(() => {})
    return client
  }
  const clients = [startClient(oldApi)]
  // The old worker is in the middle of a transfer when the new version migrates the database.
  const inFlight = await withSession(target.url, async (session) => {
    await session.query('begin; lock table copies in access exclusive mode')
    const id = await begin(oldApi)
    await until('the old worker has claimed it', async () => (await get(oldApi, id)).status === 'running')
    const api = await serve(fresh)
    await says(oldWorker, 'finishes the transfers that it runs, and starts nothing more')
    return { id, api }
  })
  const newApi = inFlight.api
  clients.push(startClient(newApi))
  await ended(newApi, inFlight.id)

  let newWorker = await work(fresh)
  await ended(oldApi, await begin(oldApi))
  await ended(newApi, await begin(newApi))

  // The way back: the API of the old version still serves, and its workers do not run.
  await stop(newWorker)
  const waiting = await begin(oldApi)
  const { code, stderr } = await bounded('the end of an old worker', start(old, 'worker').ended, 120_000)
  assert.equal(code, 1)
  assert.match(stderr, /an older worker could deliver records twice\. Start the newer version, or restore the backup/)
  assert.equal((await get(oldApi, waiting)).status, 'queued')
  await stop(oldWorker)
  newWorker = await work(fresh)
  await ended(newApi, waiting)

  const anotherOldApi = await serve(old)
  await ended(anotherOldApi, await begin(anotherOldApi))
  clients.push(startClient(anotherOldApi))
  const before = created.size
  await until('each client continues', () => created.size > before + 10)
  for (const api of [oldApi, newApi]) api.signal('SIGKILL')
  for (const api of [oldApi, newApi]) await api.ended
  isOver = true
  await Promise.all(clients)
  // A client without an answer sends its request again under the same key: no account exists twice.
  for (const [name, id] of created) {
    const account = await createAccount(anotherOldApi.url, token, name)
    assert.equal(account?.id, id ?? account?.id)
  }
  const { headers } = await http(anotherOldApi.url, '/accounts?size=1', { token })
  assert.equal(headers.get('x-total-count'), String(created.size + 1))
  await withSession(database.url, (session) => assertInvariants(session as never))
  for (const program of [newWorker, anotherOldApi]) await stop(program)
})
