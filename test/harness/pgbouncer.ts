import assert from 'node:assert/strict'
import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, type Program, prepareStage } from './process.ts'
import { findProgram } from './programs.ts'
import { withSession } from './session.ts'
import { until } from './until.ts'

/** A real PgBouncer in front of one database. */
export type PgBouncer = {
  /** The connection string of the database through it. */
  readonly url: string
  /** Kills it, with every connection through it. */
  kill(): Promise<void>
  /** Starts it again at the same address, and waits until the database answers through it. */
  start(): Promise<void>
}

/**
 * Starts PgBouncer, which must be installed (`skipWithout('pgbouncer')`), until the test has ended.
 * @param t where to clean up
 * @param databaseUrl the database that it leads to
 * @param settings lines of its section `[pgbouncer]`, such as `pool_mode = transaction`
 */
export async function startPgBouncer(
  t: { after(work: () => Promise<void>): void },
  databaseUrl: string,
  settings: readonly string[],
): Promise<PgBouncer> {
  const program = findProgram('pgbouncer')
  assert(program, 'pgbouncer is not installed')
  const stage = await prepareStage(t)
  const port = await freePort()
  const server = new URL(databaseUrl)
  const name = server.pathname.slice(1)
  const [users, ini] = [join(stage.base, 'users'), join(stage.base, 'ini')]
  await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`)
  await writeFile(
    ini,
    [
      '[databases]',
      `${name} = host=127.0.0.1 port=${server.port} dbname=${name}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${users}`,
      'server_login_retry = 1',
      ...settings,
      '',
    ].join('\n'),
  )
  const isRoot = process.getuid?.() === 0
  // It does not run as root.
  if (isRoot) for (const file of [users, ini]) await chown(file, 65_534, 65_534)
  server.port = String(port)
  let running: Program | undefined
  const kill = async () => {
    if (!running?.hasEnded) running?.signal('SIGKILL')
    await running?.ended
  }
  const start = async () => {
    const started = stage.start(program, [...(isRoot ? ['-u', 'nobody'] : []), ini])
    running = started
    await until('it listens', async () => {
      if (started.hasEnded) assert.fail(started.said.stderr)
      return withSession(server.href, () => Promise.resolve(true)).catch(() => false)
    })
  }
  await start()
  return { url: server.href, kill, start }
}
