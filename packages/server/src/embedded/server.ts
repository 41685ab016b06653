import { spawn } from 'node:child_process'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, damaged } from './cluster.ts'
import { programDirectory, programEnvironment, run } from './command.ts'
import { writeAtomically } from './files.ts'
import { choosePort, isFree, keepPort } from './port.ts'
import { discardMisleadingPidFile, findPostmaster, isRunning, type Postmaster } from './postmaster.ts'
import { configuration } from './settings.ts'
import { prepareSocketDirectory } from './socket.ts'

/** Long enough to recover from a crash during heavy writing. */
const startTimeoutMs = 120_000
const stopTimeoutMs = 60_000
/**
 * Message of a server about damaged files before it ends. It then suggests initdb, which would create an empty
 * database.
 */
const damagedFiles =
  /PG_VERSION|pg_control|control file|checkpoint record|not a valid data directory|could not find the database system|database files are incompatible/i

/**
 * Ensures that the cluster's server runs and accepts connections. Call it under the directory's lock. It starts on its previous
 * port, unless another program has that port meanwhile.
 */
export async function ensureRunning(cluster: Cluster): Promise<Postmaster> {
  const deadline = performance.now() + startTimeoutMs
  let failure: string | undefined
  while (performance.now() < deadline) {
    const running = await findPostmaster(cluster.data)
    if (running?.ready) {
      await keepPort(cluster.home, running.port)
      return running
    }
    if (running) {
      await sleep(20)
      continue
    }
    const port = await choosePort(cluster.home)
    failure = await launch(cluster, port, deadline)
    if (failure === undefined) continue
    // A part of a killed server can live on briefly, and any program can have taken the port meanwhile.
    const mayPass = failure.includes('shared memory block') || !(await isFree(port))
    if (!mayPass) break
    await sleep(200)
  }
  if (failure !== undefined && damagedFiles.test(failure)) {
    const said = failure.split('\n').filter((line) => !/HINT|initdb|shut down|postgres ended/.test(line))
    throw damaged(cluster.data, said.join(' '))
  }
  throw new Error(
    `The PostgreSQL in ${cluster.home} did not start. ${failure ? `Fix what it reports, then start again:\n${failure}` : `It was not ready after ${startTimeoutMs / 1000} seconds and may still be recovering from a crash: its log is in ${cluster.log}. Start again in a while.`}`,
  )
}

/** Stops the cluster's server, if it runs, and resolves once its process has ended. */
export async function shutDown(cluster: Cluster): Promise<void> {
  const running = await findPostmaster(cluster.data)
  if (!running) return
  const seconds = String(stopTimeoutMs / 1000)
  const args = ['stop', '--pgdata', cluster.data, '--mode', 'fast', '--wait', '--timeout', seconds, '--silent']
  const { output } = await run(cluster.binaries.pgCtl, args, cluster.owner, stopTimeoutMs + 5_000)
  if (await hasEnded(running, cluster.data, 5_000)) return
  throw new Error(`The PostgreSQL in ${cluster.home} (process ${running.pid}) did not stop. ${output}`)
}

/** Whether a server ends within the time. */
export async function hasEnded(server: Postmaster, data: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (await isRunning(server, data)) {
    if (performance.now() > deadline) return false
    await sleep(10)
  }
  return true
}

/**
 * Starts a server and waits until it is ready. Its process belongs to a separate session and outlives ours. It is started
 * without a shell, so that any path works, and as our child, so that it is reaped even if we are the first process of a
 * container.
 *
 * @returns undefined when it is ready, or its last lines of output if it ended before
 */
async function launch(cluster: Cluster, port: number, deadline: number): Promise<string | undefined> {
  const { home, data, owner, binaries } = cluster
  await discardMisleadingPidFile(data)
  const draft = join(home, 'postgresql.conf.draft')
  const socketDirectory = await prepareSocketDirectory(cluster)
  await writeAtomically(join(data, 'postgresql.conf'), configuration({ port, socketDirectory }, cluster), draft, owner)
  const startedAt = performance.now()
  const output = await open(join(home, 'start.log'), 'w', 0o600)
  let failure: string | undefined
  try {
    const child = spawn(binaries.postgres, ['-D', data], {
      ...owner,
      cwd: programDirectory,
      env: programEnvironment,
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    })
    child.once('error', (error) => {
      failure = error.message
    })
    child.once('exit', (code, signal) => {
      failure = `postgres ended with ${signal ?? `exit code ${code}`}.`
    })
    child.unref()
  } finally {
    await output.close()
  }
  while (failure === undefined && performance.now() < deadline) {
    if ((await findPostmaster(data))?.ready) return undefined
    await sleep(10)
  }
  return failure && `${failure}\n${await lastWords(cluster, startedAt)}`.trim()
}

/** The last lines a server wrote since a time: before its log was open, and into its log. */
async function lastWords({ home, log }: Cluster, sinceMs: number): Promise<string> {
  const paths = [join(home, 'start.log'), ...(await readdir(log)).map((name) => join(log, name))]
  const texts = await Promise.all(
    paths.map(async (path) => ((await stat(path)).mtimeMs < sinceMs - 1_000 ? '' : readFile(path, 'utf8'))),
  )
  return texts
    .flatMap((text) => text.trim().split('\n').slice(-8))
    .filter((line) => line !== '')
    .join('\n')
}
