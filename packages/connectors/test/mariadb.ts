import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Values } from '@penstock/connector'
import mysql from 'mysql2/promise'
import { findProgram } from '../../../test/harness/programs.ts'

const run = promisify(execFile)

/**
 * Debian's MariaDB, on a free port, with a database and a user who may do anything in it. PENSTOCK_TEST_MARIADBD can name the server
 * program of MySQL instead.
 */
export type Mariadb = {
  readonly version: string
  readonly isMariadb: boolean
  readonly port: number
  /** The credentials for a connector. */
  readonly secrets: Values
  /** Runs one statement as that user, in UTC. */
  query<Found = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Found[]>
  /** Another connection of that user, for a transaction of its own; the caller ends it. */
  connect(): Promise<mysql.Connection>
  /** Runs one statement as a user who may do anything. */
  administer(sql: string): Promise<void>
  /** Kills the server, and starts it again with the same port and data, of which `meanwhile` gets the directory. */
  crash(meanwhile?: (data: string) => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const user = 'penstock'
const password = 'canary-of-mariadb'
const database = 'penstock'

/** Options of a server that logs its changes so that they can be read, and loses none in a crash. */
export const loggingOptions: readonly string[] = [
  '--log-bin=log',
  '--server-id=7',
  '--binlog-format=ROW',
  '--binlog-row-image=FULL',
  '--binlog-row-metadata=FULL',
  '--innodb-flush-log-at-trx-commit=1',
]

/** Writes the head of an event of 8 KiB of rows to the end of the log in a directory of data, and no more of it. */
export async function halfAnEvent(data: string): Promise<void> {
  const logs = (await readdir(data)).filter((name) => /^log\.\d+$/.test(name)).toSorted()
  const header = Buffer.alloc(19)
  header.writeUInt8(23, 4)
  header.writeUInt32LE(7, 5)
  header.writeUInt32LE(8192, 9)
  await appendFile(join(data, logs.at(-1) ?? ''), header)
}

/** Starts one in a temporary directory; resolves with `undefined` where MariaDB is not installed. */
export async function startMariadb(options: readonly string[] = []): Promise<Mariadb | undefined> {
  const program = findProgram('mariadbd')
  if (!program) return undefined
  const { stdout } = await run(program, ['--version'])
  const version = /Ver (\d+\.\d+\.\d+)/.exec(stdout)?.[1]
  if (!version) throw new Error(`${program} does not report a version: ${stdout}`)
  const isMariadb = stdout.includes('MariaDB')
  const directory = await mkdtemp(join(tmpdir(), 'penstock-mariadb-'))
  // The server runs as a user of its own where the test runs as root.
  const owner = process.getuid?.() === 0 ? await ownerOf('mysql') : undefined
  const asOwner = owner ? ['--user=mysql'] : []
  const port = await freePort()
  const data = join(directory, 'data')
  await mkdir(data)
  const certificates = join(directory, 'certificates')
  await cp(new URL('certificates', import.meta.url), certificates, { recursive: true })
  const init = join(directory, 'init.sql')
  await writeFile(
    init,
    [
      `create database ${database};`,
      `create user ${user}@'127.0.0.1' identified by '${password}';`,
      `grant all on ${database}.* to ${user}@'127.0.0.1';`,
      `create user admin@'127.0.0.1' identified by '${password}';`,
      `grant all on *.* to admin@'127.0.0.1' with grant option;`,
      '',
    ].join('\n'),
  )
  if (owner) {
    for (const path of [directory, data, init, certificates, join(certificates, 'localhost.key')]) {
      await chown(path, owner.uid, owner.gid)
    }
  }
  await chmod(directory, 0o755)
  const [installer, installation] = isMariadb
    ? ['mariadb-install-db', ['--skip-test-db']]
    : [program, ['--initialize-insecure']]
  await run(installer, ['--no-defaults', `--datadir=${data}`, ...installation, ...asOwner], {
    // The directory for temporary files that tests have is not for the server's own user.
    env: { ...process.env, TMPDIR: directory },
  })
  const start = async (more: readonly string[] = []): Promise<ChildProcess> => {
    const server = spawn(
      program,
      [
        '--no-defaults',
        ...asOwner,
        `--datadir=${data}`,
        `--tmpdir=${directory}`,
        `--port=${port}`,
        `--socket=${join(directory, 'socket')}`,
        `--pid-file=${join(directory, 'pid')}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        `--ssl-ca=${join(certificates, 'ca.pem')}`,
        `--ssl-cert=${join(certificates, 'localhost.pem')}`,
        `--ssl-key=${join(certificates, 'localhost.key')}`,
        '--innodb-flush-log-at-trx-commit=0',
        '--innodb-buffer-pool-size=64M',
        ...(isMariadb ? [] : ['--mysqlx=OFF', '--secure-file-priv=']),
        ...options,
        ...more,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let log = ''
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000)
    })
    try {
      await answers(server, () => connect(user))
    } catch (error) {
      await kill(server)
      throw new Error(`MariaDB did not start:\n${log}`, { cause: error })
    }
    return server
  }
  const connect = (as: string) =>
    mysql.createConnection({ host: '127.0.0.1', port, user: as, password, database, timezone: 'Z', dateStrings: true })
  const signIn = async () => {
    const client = await connect(user)
    const admin = await connect('admin')
    for (const each of [client, admin]) each.on('error', () => {})
    await client.query(`set time_zone = '+00:00'`)
    // A query that waits when its connection is destroyed would never be answered.
    const crashed = Promise.withResolvers<never>()
    crashed.promise.catch(() => {})
    return { client, admin, crashed }
  }
  let server: ChildProcess | undefined
  const stopNow = () => void server?.kill('SIGKILL')
  process.once('exit', stopNow)
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    server = await start([`--init-file=${init}`])
  } catch (error) {
    await remove()
    throw error
  }
  let clients = await signIn()
  return {
    version,
    isMariadb,
    port,
    secrets: { host: '127.0.0.1', port, database, user, password, tlsMode: 'disable' },
    query: async <Found>(sql: string, values: unknown[] = []) =>
      (await Promise.race([clients.client.query(sql, values), clients.crashed.promise]))[0] as Found[],
    connect: () => connect(user),
    async administer(sql) {
      await clients.admin.query(sql)
    },
    async crash(meanwhile) {
      if (server) await kill(server)
      await meanwhile?.(data)
      for (const each of [clients.client, clients.admin]) each.destroy()
      clients.crashed.reject(new Error('The server was killed'))
      server = await start()
      clients = await signIn()
    },
    async stop() {
      await clients.client.end()
      await clients.admin.end()
      if (server) await kill(server)
      await remove()
    },
  }
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGKILL')
  await ended
}

/** Resolves once a client can sign in. */
async function answers(server: ChildProcess, connect: () => Promise<mysql.Connection>): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await (await connect()).end()
    } catch (error) {
      if (server.exitCode !== null || attempt >= 300) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function ownerOf(name: string): Promise<{ uid: number; gid: number }> {
  const users = await readFile('/etc/passwd', 'utf8')
  const [, , uid = '', gid = ''] =
    users
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':') ?? []
  if (uid === '') throw new Error(`There is no user ${name} to run the server as`)
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
