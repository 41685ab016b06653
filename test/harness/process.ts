import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { removeEmbeddedPostgres } from '../../packages/server/src/embedded/embedded-postgres.ts'
import { makeDirectory } from '../../packages/server/src/embedded/files.ts'
import { findPostmaster, type Postmaster } from '../../packages/server/src/embedded/postmaster.ts'
import { copyCluster } from './cluster.ts'
import { until } from './until.ts'

/** Penstock as its operator runs it: child processes with a separate data directory and a real port. */

const root = dirname(dirname(import.meta.dirname))
const programs = join(root, 'node_modules', '.bin')
/** Time limit of a program that should end. */
const endsWithinMs = 120_000
const endingSignals: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGINT', 'SIGKILL'])

/** How a process ended, and all of its output. */
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** A process that runs or has run. */
export type Program = {
  readonly pid: number
  readonly said: { stdout: string; stderr: string }
  readonly hasEnded: boolean
  /**
   * Sends a signal. If the process was started with `terminal`, the signal goes to its whole process group, as from a terminal.
   */
  signal(signal: NodeJS.Signals): void
  /** Resolves with how it ended. Rejects if it runs on after a signal to end, so that a test that waits for the end fails. */
  readonly ended: Promise<Ended>
}

/** A running service. */
export type Served = Program & { readonly url: string; readonly port: number }

export type Start = {
  env?: Record<string, string>
  /** Working directory. By default the checkout. */
  cwd?: string
  /** Makes it the leader of a process group, as a shell does. */
  terminal?: boolean
  /** Standard input. By default empty. */
  input?: string
}

type Reply = { status: number; headers: Headers; text: string; error: string | undefined; response: unknown }
export type HttpCall = { method?: string; token?: string; body?: unknown; headers?: Record<string, string> }

/** The stage of one test: a data directory, and every process on it. Everything is ended and removed when the test is over. */
export type Stage = {
  /** The directory of everything: the data directory and further files of a test. */
  readonly base: string
  readonly dataDirectory: string
  /** Starts any program. */
  start(program: string, args: readonly string[], options?: Start): Program
  /** Runs any program to its end. Rejects if it does not end, as a service that starts although it should refuse to. */
  run(program: string, args: readonly string[], options?: Start): Promise<Ended>
  /** The same with a command of `penstock`. */
  penstock(args: readonly string[], options?: Start): Promise<Ended>
  /** Puts a migrated, empty database into the data directory, for a service without `DATABASE_URL`. */
  addDatabase(): Promise<void>
  /**
   * Starts `penstock serve` on a free port, or the given port, and waits until it answers and has greeted. Its data directory
   * contains a migrated, empty database, unless the service should create one (`makesDatabase`).
   */
  serve(options?: Start & { port?: number; makesDatabase?: boolean }): Promise<Served>
  /** The service's embedded PostgreSQL, if it runs. */
  postmaster(): Promise<Postmaster | undefined>
  /** The connection string of the embedded PostgreSQL, which must run. */
  databaseUrl(): Promise<string>
}

type Hooks = { after(work: () => Promise<void>): void }

/** @param name the name of the data directory; not `data`, which is the cluster's own */
export async function prepareStage(t: Hooks, name = 'penstock'): Promise<Stage> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'penstock-stage-')))
  // PostgreSQL's own user must be able to pass through.
  await chmod(base, 0o711)
  const dataDirectory = join(base, name)
  const postgres = join(dataDirectory, 'postgres')
  const children: { child: ChildProcess; program: ReturnType<typeof follow> }[] = []
  t.after(async () => {
    for (const { child, program } of children) {
      if (!program.hasEnded) child.kill('SIGKILL')
      await program.closed
    }
    await removeEmbeddedPostgres(postgres)
    await rm(base, { recursive: true, force: true, maxRetries: 10 })
  })

  const start = (
    file: string,
    args: readonly string[],
    { env = {}, cwd = root, terminal = false, input }: Start = {},
  ) => {
    const child = spawn(file, args, {
      cwd,
      detached: terminal,
      env: { ...environment(dataDirectory), ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    child.stdin?.end(input)
    const program = follow(child, terminal)
    children.push({ child, program })
    return program
  }
  const run = (file: string, args: readonly string[], options?: Start) => {
    const program = start(file, args, options)
    program.endSoon([file, ...args].join(' '))
    return program.ended
  }
  const postmaster = () => findPostmaster(join(postgres, 'data'))
  const addDatabase = async () => {
    await makeDirectory(dataDirectory, 0o711)
    await copyCluster(postgres)
  }

  return {
    base,
    dataDirectory,
    start,
    postmaster,
    addDatabase,
    run,
    penstock: (args, options) => run(join(programs, 'penstock'), args, options),
    serve: async ({ port, makesDatabase = false, ...options } = {}) => {
      if (!makesDatabase && !options.env?.DATABASE_URL && !existsSync(postgres)) await addDatabase()
      const chosen = port ?? (await freePort())
      const env = { ...options.env, PENSTOCK_PORT: String(chosen) }
      const program = start(process.execPath, [join(root, 'packages/server/bin/penstock.js'), 'serve'], {
        ...options,
        env,
      })
      const url = `http://127.0.0.1:${chosen}`
      await until('the service answers', async () => {
        if (program.hasEnded) assert.fail(`the service ended: ${program.said.stderr}`)
        const answer = await fetch(`${url}/healthz`).catch(() => undefined)
        return answer?.ok && program.said.stdout.includes('Try it')
      })
      return Object.assign(program, { url, port: chosen })
    },
    databaseUrl: async () => {
      const running = await postmaster()
      assert(running, 'no PostgreSQL runs')
      const password = await readFile(join(postgres, 'password'), 'utf8')
      return `postgres://penstock:${password}@127.0.0.1:${running.port}/penstock`
    },
  }
}

/** The environment of a child: nothing of ours but what any program needs, and no word of the test runner's. */
function environment(dataDirectory: string): NodeJS.ProcessEnv {
  // Behind a proxy, the registry has a certificate of its authority.
  const { PATH = '', HOME, TMPDIR, NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS } = process.env
  const certificates = NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS } : {}
  return {
    HOME,
    TMPDIR,
    NODE_COMPILE_CACHE,
    ...certificates,
    PATH: `${programs}${delimiter}${PATH}`,
    PENSTOCK_DATA_DIR: dataDirectory,
    PENSTOCK_COMMAND: 'penstock',
  }
}

function follow(child: ChildProcess, terminal: boolean) {
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
    })
  }
  const closed = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, ...said }))
  const late = Promise.withResolvers<never>()
  const ended = Promise.race([closed, late.promise])
  // A caller that awaits the end gets the failure. Without such a caller, it must not become an unhandled rejection.
  for (const promise of [closed, ended]) promise.catch(() => {})
  const endSoon = (what: string) => {
    const fail = () => late.reject(new Error(`${what}: no end within ${endsWithinMs / 1000} seconds\n${said.stderr}`))
    const timer = setTimeout(fail, endsWithinMs)
    const stop = () => clearTimeout(timer)
    closed.then(stop, stop)
  }
  const { pid = 0 } = child
  return {
    pid,
    said,
    ended,
    /** Resolves when the process is gone, however late. */
    closed: closed.catch(() => {}),
    /** Makes `ended` reject if the process still runs after a while. */
    endSoon,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null || child.pid === undefined
    },
    signal: (signal: NodeJS.Signals) => {
      process.kill(terminal ? -pid : pid, signal)
      if (endingSignals.has(signal)) endSoon(`process ${pid} after ${signal}`)
    },
  }
}

/** A port that was free just before. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  assert(typeof address === 'object' && address)
  return address.port
}

/** Calls a service over the network; `path` begins after `/es/v2`. Rejects if the connection breaks. */
export async function http(
  url: string,
  path: string,
  { method = 'GET', token, body, headers }: HttpCall = {},
): Promise<Reply> {
  const answer = await fetch(`${url}/es/v2${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const { response } = JSON.parse(text) as { response?: { error?: string } }
  const error = answer.ok ? undefined : response?.error
  return { status: answer.status, headers: answer.headers, text, error, response }
}

/** A token for the credentials. By default the credentials that the first start saved in the data directory. */
export async function tokenOf({ url }: { url: string }, dataDirectory: string, credentials?: object): Promise<string> {
  const kept = credentials ?? JSON.parse(await readFile(join(dataDirectory, 'credentials.json'), 'utf8'))
  const answer = await http(url, '/oauth/client-token', { method: 'POST', body: kept })
  assert.equal(answer.status, 200, answer.text)
  return (JSON.parse(answer.text) as { accessToken: string }).accessToken
}
