import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Transfer } from '@penstock/wire'
import { runnersOf } from './harness/children.ts'
import { createEmptyDatabase } from './harness/database.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { freePort, http, prepareStage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

/** The code of a running service is replaced under it, as `npm ci` and `git checkout` do: no transfer fails for that. */

const root = dirname(import.meta.dirname)
const localFolder = connectorBySlug('local-folder')

/** A copy of the code, which finds the dependencies of this checkout. */
async function copyCode(t: TestContext): Promise<string> {
  await mkdir(join(root, '.cache'), { recursive: true })
  const copy = await mkdtemp(join(root, '.cache/replaced-'))
  t.after(() => rm(copy, { recursive: true, force: true }))
  await chmod(copy, 0o755)
  await cp(join(root, 'package.json'), join(copy, 'package.json'))
  const scope = join(copy, 'node_modules/@penstock')
  await mkdir(scope, { recursive: true })
  for (const name of await readdir(join(root, 'packages'))) {
    const isCode = (path: string) => !/\/(?:node_modules|test|dist)$/.test(path)
    await cp(join(root, 'packages', name), join(copy, 'packages', name), { recursive: true, filter: isCode })
    await symlink(join('../../packages', name), join(scope, name))
  }
  await cp(join(root, 'docs'), join(copy, 'docs'), { recursive: true })
  return copy
}

/** A service of the copy, and a connection that copies a file, to be started again and again. */
async function prepare(t: TestContext) {
  const copy = await copyCode(t)
  const stage = await prepareStage(t)
  const database = await createEmptyDatabase()
  t.after(database.drop)
  const folder = await mkdtemp(join(tmpdir(), 'penstock-replaced-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'people.csv'), 'id,email\n1,a@example.com\n2,b@example.com\n')
  const credentials = { clientId: 'first', clientSecret: 'a-secret-of-some-length' }
  const port = await freePort()
  const env = {
    DATABASE_URL: database.url,
    PENSTOCK_MASTER_KEY: randomBytes(32).toString('base64'),
    PENSTOCK_CLIENT_ID: credentials.clientId,
    PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    PENSTOCK_LOCAL_FOLDERS: folder,
    PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '4',
    PENSTOCK_RATE_LIMIT: '0',
    PENSTOCK_PORT: String(port),
  }
  const program = join(copy, 'packages/server/bin/penstock.js')
  const start = () => stage.start(process.execPath, [program, 'serve'], { env, cwd: copy })
  const service = start()
  const url = `http://127.0.0.1:${port}`
  await until('it serves', () => {
    if (service.hasEnded) assert.fail(service.said.stderr)
    return service.said.stderr.includes('"serving"')
  })
  const token = await tokenOf({ url }, stage.dataDirectory, credentials)
  const call = async <T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<T> => {
    const answer = await http(url, path, { token, method, ...(body === undefined ? {} : { body }) })
    assert(answer.status < 300, answer.text)
    return answer.response as T
  }
  const { id: accountId } = await call<{ id: string }>('/accounts', { name: 'Acme' })
  const of = `?accountId=${accountId}`
  await call(`/connectors${of}`, { connectorIds: [localFolder.id] })
  await call(`/connectors/${localFolder.id}/configuration${of}`, { secretConfig: { folder } }, 'PUT')
  const connect = async (number: number) => {
    const { id } = await call<{ id: string }>(`/connections${of}`, {
      name: `Copy ${number}`,
      srcConnectorId: localFolder.id,
      destConnectorId: localFolder.id,
      srcConnectionConfig: { files: 'people.csv' },
      destConnectionConfig: { subfolder: `copies-${number}`, fileFormat: 'CSV' },
    })
    await call(`/connections/${id}/status${of}`, { action: 'activate' }, 'PUT')
    return id
  }
  return { copy, service, start, call, of, connect }
}

test('transfers that meet code that is missing or half written wait for the code', async (t) => {
  const { copy, service, call, of, connect } = await prepare(t)
  const ids = await Promise.all([1, 2, 3].map(connect))
  const started: { id: string; transferId: string }[] = []
  const startAll = async () => {
    for (const id of ids) {
      const { id: transferId } = await call<Transfer>(`/connections/${id}/transfers${of}`, {})
      started.push({ id, transferId })
    }
  }
  const endedAll = (what: string) =>
    until(what, async () => {
      const all = await Promise.all(
        started.map(({ id, transferId }) => call<Transfer>(`/connections/${id}/transfers/${transferId}${of}`)),
      )
      const failed = all.filter(({ status }) => !['succeeded', 'queued', 'running'].includes(status))
      assert.deepEqual(failed, [], 'a transfer failed')
      return all.every(({ status }) => status === 'succeeded')
    })
  const failures = () => service.said.stderr.match(/could not start, or could not load its code/g)?.length ?? 0
  await startAll()
  await endedAll('the transfers before')

  const gone = join(copy, 'gone')
  const spoilings: readonly [string, () => Promise<() => Promise<void>>][] = [
    [
      'a connector is missing',
      async () => {
        const there = join(copy, 'packages/connectors/src/local-folder')
        await rename(there, gone)
        return () => rename(gone, there)
      },
    ],
    [
      'the program of runners is missing',
      async () => {
        const there = join(copy, 'packages/engine')
        await rename(there, gone)
        return () => rename(gone, there)
      },
    ],
    [
      'a file is half written',
      async () => {
        const there = join(copy, 'packages/connector/src/index.ts')
        await cp(there, `${there}.whole`)
        await truncate(there, 1_000)
        return () => rename(`${there}.whole`, there)
      },
    ],
  ]
  for (const [title, spoil] of spoilings) {
    const before = failures()
    const restore = await spoil()
    // Runners that are ready have loaded their code before.
    for (const pid of runnersOf(service.pid)) process.kill(pid, 'SIGKILL')
    await startAll()
    await until(`a runner failed while ${title}`, () => failures() > before)
    await restore()
    await endedAll(`the transfers after ${title}`)
  }
  service.signal('SIGTERM')
  assert.equal((await service.ended).code, 0, service.said.stderr)
})

test('transfers wait if a process has no file descriptor left to load code', {
  skip: process.platform === 'linux' ? false : 'other systems do not change the limits of a process',
}, async (t) => {
  const { service, call, of, connect } = await prepare(t)
  const text = await connect(1)
  const failures = () => service.said.stderr.match(/could not start, or could not load its code/g)?.length ?? 0

  const move = async (whileItRuns: () => Promise<void> = async () => {}) => {
    const { id: transferId } = await call<Transfer>(`/connections/${text}/transfers${of}`, {})
    const ended = await until('the transfer has ended', async () => {
      await whileItRuns()
      const now = await call<Transfer>(`/connections/${text}/transfers/${transferId}${of}`)
      return ['queued', 'running'].includes(now.status) ? undefined : now
    })
    assert.equal(ended.status, 'succeeded', `${JSON.stringify(ended.error)} ${service.said.stderr.slice(-3_000)}`)
  }
  /** The runner that takes the next job. It has loaded everything that all jobs need, but no connector, and is idle. */
  const spareRunner = async () => {
    for (const pid of runnersOf(service.pid)) process.kill(pid, 'SIGKILL')
    await until('the runners are gone', () => runnersOf(service.pid).length === 0)
    // The first one has moved it, and the next one waits for a job.
    let worked = 0
    await move(async () => {
      const [first = 0] = runnersOf(service.pid).sort((a, b) => a - b)
      worked ||= first
    })
    let seen: readonly string[] = []
    const spare = await until('a runner is ready', async () => {
      const [pid] = runnersOf(service.pid).filter((one) => one !== worked)
      if (pid === undefined) return undefined
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      seen = [...seen.slice(-4), `${pid} ${stat.split(' ').slice(13, 15).join()}`]
      return seen.length === 5 && new Set(seen).size === 1 ? pid : undefined
    })
    if (runnersOf(service.pid).includes(worked)) process.kill(worked, 'SIGKILL')
    return spare
  }
  const noMoreFiles = async (pid: number) => {
    const open = await readdir(`/proc/${pid}/fd`)
    // Some numbers in between can be free.
    let max = 0
    while (open.includes(String(max))) max++
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${max}:${max}`])
  }
  // A runner that was spoiled too early does not start, and another one gets the job.
  for (let tries = 0; failures() === 0; tries++) {
    assert(tries < 5, 'no runner failed without file descriptors')
    await noMoreFiles(await spareRunner())
    await move()
  }
  assert.match(service.said.stderr, /"code":"EMFILE"/)
})
