import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunnerUser } from './permissions.ts'

/**
 * Users for jobs that run programs, if the service is root: each job has one that no other process of the machine has, so that the kernel
 * keeps it from their memory, environments and files. A number belongs to no account. A file says which process uses it.
 */
const first = 60_801
/** Numbers up to here belong to no range of Debian or systemd. */
const last = 61_183
const folderName = 'penstock-program-users'

/** The first of them, for trying what such a user can do. */
export const exampleProgramUser = ({ gid }: RunnerUser): RunnerUser => ({ uid: first, gid })

export type ProgramUser = {
  readonly user: RunnerUser
  /** Ends all that the user runs, removes what it left in temporary folders, and lets another job have it. */
  readonly giveBack: () => void
}

/**
 * Claims a user for one job.
 * @param runners the user of other runners, whose group it gets
 * @throws Error if all users are in use, or the folder of their files does not belong to root
 */
export function takeProgramUser(runners: RunnerUser | undefined): ProgramUser {
  const folder = join(tmpdir(), folderName)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid: owner, mode } = statSync(folder)
  if (owner !== 0 || (mode & 0o077) !== 0)
    throw new Error(`The folder ${folder} must belong to root, with the mode 0700: remove it.`)
  // From a random one on, so that a number is used again late.
  const begin = Math.floor(Math.random() * (last - first + 1))
  for (let step = 0; step <= last - first; step++) {
    const uid = first + ((begin + step) % (last - first + 1))
    const user = { uid, gid: runners?.gid ?? uid }
    const file = join(folder, String(uid))
    if (!claim(file, user)) continue
    const giveBack = () => {
      const cleaner = spawn(process.execPath, ['-e', cleanUp], optionsOf(user))
      const free = () => rmSync(file, { force: true })
      cleaner.on('exit', free).on('error', free)
    }
    return { user, giveBack }
  }
  throw new Error('All users for jobs with programs are in use.')
}

/** Whether the user is this process's now. One whose process ended without giving it back is cleaned up first. */
function claim(file: string, user: RunnerUser): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    if (!isLeft(file)) return false
  }
  rmSync(file, { force: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
  } catch {
    return false
  }
  spawnSync(process.execPath, ['-e', cleanUp], optionsOf(user))
  return true
}

function isLeft(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

const optionsOf = ({ uid, gid }: RunnerUser) =>
  ({ uid, gid, cwd: '/', env: {}, stdio: 'ignore', timeout: 60_000 }) as const

/**
 * Runs as that user. A signal to -1 goes to every process that the user is allowed to signal, which are the user's own
 * processes, except the sender.
 */
const cleanUp = `
  const { lstatSync, readdirSync, rmSync } = process.getBuiltinModule('node:fs')
  try { process.kill(-1, 'SIGKILL') } catch {}
  for (const folder of ${JSON.stringify([...new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])])}) {
    try {
      for (const name of readdirSync(folder)) {
        try {
          const path = folder + '/' + name
          if (lstatSync(path).uid === process.getuid()) rmSync(path, { recursive: true, force: true })
        } catch {}
      }
    } catch {}
  }
`
