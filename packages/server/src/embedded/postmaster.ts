import { readFile, readlink, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from './command.ts'
import { hasCode } from './files.ts'

/** A running server, as its postmaster.pid describes it. */
export type Postmaster = {
  pid: number
  port: number
  /** the directory of its socket, if it has one */
  socketDirectory: string | undefined
  /** whether it has finished starting, and crash recovery with it */
  ready: boolean
  /** the data directory by the name it was started with */
  startedWith: string
}

/** The server that runs on this data directory, found without connecting to it. Undefined if no server runs. */
export async function findPostmaster(data: string): Promise<Postmaster | undefined> {
  const postmaster = await readPidFile(data)
  return postmaster && (await isRunning(postmaster, data)) ? postmaster : undefined
}

/**
 * Removes a postmaster.pid that would make PostgreSQL refuse to start though no server runs: one that a power cut left
 * without content, or whose process id has since gone to some other program. One whose process is gone is left, because
 * PostgreSQL judges by it whether parts of that server live on.
 */
export async function discardMisleadingPidFile(data: string): Promise<void> {
  const postmaster = await readPidFile(data)
  if (postmaster && (!isAlive(postmaster.pid) || (await isRunning(postmaster, data)))) return
  await rm(join(data, 'postmaster.pid'), { force: true })
}

/** Whether this very server still runs. */
export async function isRunning({ pid, startedWith }: Postmaster, data: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') {
    const { output } = await run('ps', ['-o', 'command=', '-p', String(pid)], undefined)
    return output.includes('postgres') && output.includes(startedWith)
  }
  try {
    const [program, ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
    if (program === undefined || basename(program) !== 'postgres') return false
    // The working directory of a server is its data directory. This is the stronger proof, but without CAP_SYS_PTRACE not even
    // root can read it.
    return args.includes(startedWith) || (await readlink(`/proc/${pid}/cwd`)) === data
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

async function readPidFile(data: string): Promise<Postmaster | undefined> {
  let text: string
  try {
    text = await readFile(join(data, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const [pid, startedWith, , port, socketDirectory, , , status] = text.split('\n')
  if (!Number(pid) || !Number(port) || startedWith === undefined) return undefined
  return {
    pid: Number(pid),
    port: Number(port),
    socketDirectory: socketDirectory || undefined,
    ready: status?.trim() === 'ready',
    startedWith,
  }
}
