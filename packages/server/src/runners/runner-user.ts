import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { type Config, ConfigError } from '../config.ts'
import { runnerProgram } from '../places.ts'
import { codeFolders, filesOfEnvironment, type RunnerUser } from './permissions.ts'

/** Default user of runners: a number that belongs to no account, so that it owns nothing. */
const ownId = 60_800
const probeTimeoutMs = 10_000
const setting = 'PENSTOCK_RUNNER_USER'

export type FoundRunnerUser = {
  /** Undefined: the service's own. */
  readonly user: RunnerUser | undefined
  /** Why runners have the rights of root, and what to do. */
  readonly warning?: string
}

const found = new Map<string, FoundRunnerUser>()

/**
 * The user that runners are started as. If the service runs as root, runners get a separate user, provided that it can read the
 * code and use the local folders. Without the setting they fall back to root with a warning.
 * @throws ConfigError if `PENSTOCK_RUNNER_USER` cannot be used
 */
export function findRunnerUser({
  runnerUser,
  localFolders,
}: Pick<Config, 'runnerUser' | 'localFolders'>): FoundRunnerUser {
  const key = JSON.stringify([runnerUser, localFolders])
  const known = found.get(key) ?? decide(runnerUser, localFolders)
  found.set(key, known)
  return known
}

function decide(given: string | undefined, localFolders: readonly string[]): FoundRunnerUser {
  const own = process.getuid?.()
  const asked = given === undefined ? undefined : userOf(given)
  if (own === undefined || own !== 0) {
    if (asked === undefined || asked.uid === own) return { user: undefined }
    throw new ConfigError([
      `${setting} is ${given}, and only root can start runners as another user: start Penstock as root, or remove the setting.`,
    ])
  }
  if (asked?.uid === 0) return { user: undefined }
  const user = asked ?? { uid: ownId, gid: ownId }
  const problem = problemOf(user, localFolders)
  if (problem === undefined) return { user }
  if (asked) throw new ConfigError([`${setting} is ${given}, and ${problem}.`])
  return {
    user: undefined,
    warning: `Runners have the rights of root, because ${problem}. Change that, set ${setting} to a user that can, or start Penstock as an ordinary user.`,
  }
}

/** The user of a name, of a number, or of two numbers with a colon between them. */
function userOf(given: string): RunnerUser {
  const [, uid, gid = uid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(given) ?? []
  if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${given}:`))
  const [, , byName, group] = line?.split(':') ?? []
  if (byName === undefined) {
    throw new ConfigError([
      `${setting} must be the name of a user in /etc/passwd or a number, and ${given} is neither.`,
    ])
  }
  return { uid: Number(byName), gid: Number(group) }
}

/** Runs as the user: finds the first path that it cannot use. An argument is `r` or `w`, and a path. */
const probe = `
  const { accessSync, constants } = process.getBuiltinModule('node:fs')
  for (const argument of process.argv.slice(1)) {
    const mode = argument[0] === 'w' ? constants.R_OK | constants.W_OK | constants.X_OK : constants.R_OK
    try { accessSync(argument.slice(1), mode) } catch { process.stdout.write(argument); break }
  }
`

/**
 * Why runners cannot read a folder, as a sentence. Undefined if they can read it. Runners with the service's own user can read
 * what the service can read.
 * @throws ConfigError if runners cannot run as the configured user
 */
export function whyRunnersCannotRead(
  config: Pick<Config, 'runnerUser' | 'localFolders'>,
  folder: string,
): string | undefined {
  const { user } = findRunnerUser(config)
  return user && firstUnusable(user, [`r${folder}`]) !== ''
    ? `Runners have the user ${user.uid}, which cannot read ${folder}: set PENSTOCK_CONNECTORS_DIR to a folder that every user can read, with the folders above it.`
    : undefined
}

/** Why a user cannot run the code of connectors: a clause without a full stop. Undefined if it can. */
export const whyUserCannotRun = (user: RunnerUser): string | undefined => problemOf(user, [])

/** Why a user cannot do the work of runners: a clause without a full stop. Undefined if it can. */
function problemOf({ uid, gid }: RunnerUser, localFolders: readonly string[]): string | undefined {
  const read = [runnerProgram, ...codeFolders(), ...filesOfEnvironment()].filter(existsSync).map((path) => `r${path}`)
  const written = localFolders.filter(existsSync).map((path) => `w${path}`)
  const stdout = firstUnusable({ uid, gid }, [...read, ...written])
  if (stdout === undefined) return `the user ${uid} cannot run ${process.execPath}`
  if (stdout === '') return undefined
  const path = stdout.slice(1)
  return stdout.startsWith('w')
    ? `the user ${uid} cannot read and write the folder ${path} of PENSTOCK_LOCAL_FOLDERS (chown it, with what it holds)`
    : `the user ${uid} cannot read ${path} (grant it on each folder of the path)`
}

/**
 * The first of some arguments of `probe` that a user cannot use, or empty if the user can use all. Undefined if the user cannot
 * run Node.
 */
function firstUnusable({ uid, gid }: RunnerUser, paths: readonly string[]): string | undefined {
  const options = { uid, gid, cwd: '/', env: {}, encoding: 'utf8', timeout: probeTimeoutMs } as const
  const { error, status, stdout } = spawnSync(process.execPath, ['-e', probe, '--', ...paths], options)
  return error || status !== 0 ? undefined : stdout
}
