import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type CheckJob, type Job, protocolLimits } from '@penstock/engine'
import { createLogger } from '../packages/server/src/log.ts'
import { createRunnerPool, type PoolOptions, type Runners } from '../packages/server/src/runners/runner-pool.ts'
import { EndJob, type RunnerDeath, RunnerDied, type Watch } from '../packages/server/src/runners/runner-process.ts'
import { TooManyWaiting, Turns } from '../packages/server/src/runners/turns.ts'
import { isAlive, runnersOf } from './harness/children.ts'
import { until } from './harness/until.ts'

/** Runners as processes: what kills them, and that other jobs are not affected. */

const onLinux = process.platform === 'linux' ? {} : { skip: 'the processes of others are found in /proc' }
const lines: string[] = []
const log = createLogger('info', { write: (line) => void lines.push(line) })
const options: PoolOptions = {
  settings: {
    egress: { networkPolicy: 'any' },
    plainHttp: { loopback: true, allow: [] },
    localFolders: [],
    connectorsFolder: '/nonexistent',
  },
  memoryBytesMax: 512 * 1024 ** 2,
  stallMs: 30_000,
  spare: false,
}
const pools: Runners[] = []
after(() => Promise.all(pools.map((pool) => pool.close())))

function startPool(more: Partial<PoolOptions> = {}): Runners {
  const pool = createRunnerPool({ ...options, ...more }, log)
  pools.push(pool)
  return pool
}

const never = new AbortController().signal
const run = (pool: Runners, job: Job, { owner = 'a', watch = {}, signal = never }: Partial<RunOf> = {}) =>
  pool.run(job, { owner, watch, signal })
type RunOf = { owner: string; watch: Watch; signal: AbortSignal }

const ping: Job = { kind: 'ping' }

/** A server that accepts requests and never responds. */
const silent: Server = createServer(() => {}).listen(0, '127.0.0.1')
await once(silent, 'listening')
after(() => silent.closeAllConnections())
after(() => silent.close())
const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
const waiting: CheckJob = {
  kind: 'check',
  connector: {
    slug: 'webhook',
    secrets: { url, signingSecret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` },
    settings: {},
  },
  deadlineMs: 60_000,
}

/** How long runners of these tests may be silent, in milliseconds: on a busy machine, loading a connector takes seconds. */
const stallMs = 4_000

/** Runs a job that waits forever, after its request has arrived, and returns its process if the system shows it. */
async function runWaiting(pool: Runners, more: Partial<RunOf> = {}) {
  const before = runnersOf(process.pid)
  const asked = once(silent, 'request')
  const result = run(pool, waiting, more)
  result.catch(() => {})
  // A runner that dies before its request must fail the test, because no request ever arrives.
  await Promise.race([asked, result])
  const [pid = 0] = runnersOf(process.pid).filter((each) => !before.includes(each))
  return { result, pid }
}

const died = (reason: RunnerDeath) => (error: unknown) => error instanceof RunnerDied && error.reason === reason

describe('a runner', () => {
  test('does a job and another one of the same owner, and never one of another owner', onLinux, async () => {
    const pool = startPool()
    const before = runnersOf(process.pid)
    const started = () => runnersOf(process.pid).filter((pid) => !before.includes(pid))
    assert.deepEqual(await run(pool, ping), { ok: true, value: null })
    const first = started()
    assert.equal(first.length, 1)
    await run(pool, ping)
    assert.equal(pool.stats().idle, 1)
    await run(pool, ping, { owner: 'b' })
    assert(started().some((pid) => !first.includes(pid)))
    await pool.close()
    await until('no runner is left', () => started().length === 0)
  })

  test('says what a connector says', async () => {
    const job: CheckJob = { ...waiting, connector: { ...waiting.connector, secrets: { url: 'http://127.0.0.1:1/' } } }
    const result = await run(startPool(), job)
    assert(result.ok && Array.isArray(result.value))
    assert.equal(result.value[0]?.ok, false)
  })

  test('does short jobs of one owner by turns, and none waits for long behind a long one', onLinux, async () => {
    const before = runnersOf(process.pid)
    const pool = startPool()
    await Promise.all(Array.from({ length: 20 }, () => run(pool, ping)))
    const started = runnersOf(process.pid).filter((pid) => !before.includes(pid))
    // On a machine whose processors are idle or very busy, waiting jobs get further runners.
    assert(started.length <= 10, `${started.length} runners for 20 short jobs`)
    const long = await Promise.all(started.map(() => runWaiting(pool)))
    assert((await run(pool, ping)).ok)
    assert.equal(pool.stats().running, long.length)
  })

  test('that dies frees its slot for a job that waits for one', onLinux, async () => {
    const pool = startPool()
    const long: Awaited<ReturnType<typeof runWaiting>>[] = []
    for (let i = 0; i < availableParallelism(); i++) long.push(await runWaiting(pool))
    const next = run(pool, ping)
    process.kill(long[0]?.pid ?? 0, 'SIGKILL')
    assert((await next).ok)
    await assert.rejects(long[0]?.result ?? Promise.resolve(), died('runner_crashed'))
  })

  test('that a signal from outside kills ends its own job alone', onLinux, async () => {
    const [one, other] = [startPool(), startPool()]
    const { result, pid } = await runWaiting(one)
    const stopped = new AbortController()
    const beside = await runWaiting(other, { signal: stopped.signal })
    assert(pid)
    process.kill(pid, 'SIGKILL')
    await assert.rejects(result, died('runner_crashed'))
    assert.deepEqual(await run(one, ping), { ok: true, value: null })
    stopped.abort(new EndJob(false, 10_000))
    assert.deepEqual(await beside.result, { ok: false, error: { kind: 'ended' } })
    assert.equal(one.stats().deaths.runner_crashed, 1)
    assert.equal(other.stats().deaths.runner_crashed, 0)
  })

  test('that needs more memory than it may is killed', async () => {
    await assert.rejects(run(startPool({ memoryBytesMax: 30 * 1024 ** 2 }), waiting), died('out_of_memory'))
  })

  test('that does not respond is killed', onLinux, async () => {
    const pool = startPool({ stallMs })
    const { result, pid } = await runWaiting(pool)
    assert(pid)
    process.kill(pid, 'SIGSTOP')
    await assert.rejects(result, died('no_progress'))
    await until('it is gone', () => !isAlive(pid))
  })

  test('is not killed because its supervisor slept', onLinux, async () => {
    const pool = startPool({ stallMs })
    const stopped = new AbortController()
    const { result } = await runWaiting(pool, {
      signal: stopped.signal,
      watch: { deadlineMs: 60_000, progressMs: 60_000 },
    })
    // As SIGSTOP does to a process: nothing of it runs.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs + 2 * protocolLimits.aliveMs + 2_000)
    // Long enough for the monitoring of the first pool. The start of this process can take longer than `stallMs`.
    await run(startPool(), ping)
    assert.equal(pool.stats().deaths.no_progress, 0)
    stopped.abort(new EndJob(true, 30_000))
    await result.catch((error) => assert(!(error instanceof RunnerDied), String(error)))
  })

  test('that passes the deadline of its job is killed', async () => {
    await assert.rejects(run(startPool(), waiting, { watch: { deadlineMs: 1 } }), died('deadline'))
  })

  test('that moves nothing for too long is killed', async () => {
    await assert.rejects(run(startPool(), waiting, { watch: { progressMs: 1 } }), died('no_progress'))
  })

  test('that does not end when asked to is killed', onLinux, async () => {
    const stopped = new AbortController()
    const { result, pid } = await runWaiting(startPool(), { signal: stopped.signal })
    assert(pid)
    process.kill(pid, 'SIGSTOP')
    stopped.abort(new EndJob(true, 1))
    await assert.rejects(result, died('not_ended'))
  })

  test('has nothing of the environment of its supervisor', onLinux, async (t) => {
    process.env.PENSTOCK_CANARY = 'canary-of-the-environment'
    t.after(() => delete process.env.PENSTOCK_CANARY)
    const pool = startPool({ spare: true })
    await run(pool, ping)
    for (const pid of runnersOf(process.pid)) {
      assert(!/canary|PENSTOCK|DATABASE_URL/.test(readFileSync(`/proc/${pid}/environ`, 'utf8')))
    }
  })

  describe('that cannot start says nothing of its job, and its process begins nothing else for a while:', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'penstock-runners-'))
    after(() => rm(folder, { recursive: true }))
    const half = join(folder, 'half.mjs')
    await writeFile(half, 'import "./gone.mjs"\nfunction half() {')
    const notRunnable = join(folder, 'node')
    await writeFile(notRunnable, '', { mode: 0o644 })
    const cases: readonly [string, Partial<PoolOptions>, string | undefined][] = [
      ['without Node', { node: join(folder, 'gone') }, 'ENOENT'],
      ['with a Node that it may not run', { node: notRunnable }, 'EACCES'],
      ['without its main module', { program: join(folder, 'gone.mjs') }, undefined],
      ['with half of its main module', { program: half }, undefined],
    ]
    for (const [title, more, code] of cases) {
      test(title, async () => {
        const pool = startPool({ ...more, spare: true })
        const from = lines.length
        await assert.rejects(run(pool, ping), died('not_started'))
        assert(pool.isPaused)
        assert.equal(pool.stats().deaths.not_started, 1)
        const said = lines.slice(from).join('')
        assert.match(said, /could not start, or could not load its code/)
        if (code !== undefined) assert.match(said, new RegExp(`"code":"\\w*${code}"`))
      })
    }
  })

  test('each death is one line of the log, which says why and of what', async () => {
    const pool = startPool()
    const from = lines.length
    const about = { transferId: '0123456789abcdef' }
    const job = pool.run(waiting, { owner: 'a', watch: { deadlineMs: 1 }, signal: never, about })
    await assert.rejects(job, died('deadline'))
    const reported = lines.slice(from).filter((line) => line.includes('runner died during its job'))
    assert.equal(reported.length, 1)
    assert.match(reported[0] ?? '', /"transferId":"0123456789abcdef".*"reason":"deadline"/)
  })
})

describe('turns', () => {
  test('let so many run at once, in all and of one owner, and others by turns', async () => {
    const turns = new Turns(3, 2, 10)
    const order: string[] = []
    const running = new Map<string, number>()
    const releases: (() => void)[] = []
    const start = (owner: string) =>
      turns.run(owner, never, async () => {
        order.push(owner)
        running.set(owner, (running.get(owner) ?? 0) + 1)
        assert((running.get(owner) ?? 0) <= 2)
        assert([...running.values()].reduce((sum, count) => sum + count, 0) <= 3)
        await new Promise<void>((resolve) => void releases.push(resolve))
        running.set(owner, (running.get(owner) ?? 0) - 1)
      })
    const all = ['a', 'a', 'a', 'a', 'b', 'c'].map(start)
    for (let opened = 0; opened < all.length; opened++) {
      await until('one runs', () => releases.length > opened)
      releases[opened]?.()
    }
    await Promise.all(all)
    assert.deepEqual(order, ['a', 'a', 'b', 'c', 'a', 'a'])
  })

  test('refuse where too many of an owner wait, and not another owner', async () => {
    const turns = new Turns(1, 1, 2)
    const stop = new AbortController()
    const hang = () =>
      new Promise<void>((resolve) => {
        if (stop.signal.aborted) resolve()
        else stop.signal.addEventListener('abort', () => resolve())
      })
    const held = [turns.run('a', never, hang), turns.run('a', never, hang), turns.run('a', never, hang)]
    await assert.rejects(turns.run('a', never, hang), TooManyWaiting)
    const other = turns.run('b', never, async () => 'done')
    stop.abort()
    await Promise.all(held)
    assert.equal(await other, 'done')
  })

  test('drop one whose caller has gone while it waits', async () => {
    const turns = new Turns(1, 1, 2)
    const stop = new AbortController()
    const gone = new AbortController()
    const held = turns.run(
      'a',
      never,
      () => new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve())),
    )
    const waits = turns.run('a', gone.signal, async () => {})
    gone.abort(new Error('gone'))
    await assert.rejects(waits, /gone/)
    stop.abort()
    await held
  })
})
