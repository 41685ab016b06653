import { chownSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import type { RunnerSettings } from '@penstock/engine'
import { runnerFolders } from '../places.ts'

/** The user that runners run as, instead of the service's user. Only root can set one. */
export type RunnerUser = { readonly uid: number; readonly gid: number }

/**
 * Permissions of a runner, as flags of Node: it can read the code that it runs, and read and write the folders that the
 * operator allows. Until its first job (`engine/src/walls.ts`) it can also start threads, and write code that Node compiled. It
 * has no access to other files, native addons, processes or an inspector.
 * @param settings the folders of the operator's files, and of the connectors that the operator added
 * @param compiled where Node keeps compiled code; undefined if it keeps none
 * @param startsPrograms whether the job has a connector that is a program. Then the runner can start processes, and Node's
 * permissions do not apply to these.
 */
export function permissionFlags(
  { localFolders, connectorsFolder }: Pick<RunnerSettings, 'localFolders' | 'connectorsFolder'>,
  compiled: string | undefined,
  startsPrograms = false,
): string[] {
  const writes = [...localFolders.flatMap(withItsTarget), ...(compiled === undefined ? [] : [compiled])]
  return [
    '--permission',
    '--allow-worker',
    ...(startsPrograms ? ['--allow-child-process'] : []),
    // Node warns of threads, which are given up.
    '--disable-warning=PERM0006',
    // It opens and makes files wherever it likes, whatever is permitted.
    '--no-experimental-sqlite',
    ...outermost([...codeFolders(), ...withItsTarget(connectorsFolder), ...writes]).map(
      (folder) => `--allow-fs-read=${all(folder)}`,
    ),
    ...outermost(writes).map((folder) => `--allow-fs-write=${all(folder)}`),
  ]
}

/** Folders that are in no other one: Node would permit less of a folder if one in it is permitted, too. */
const outermost = (folders: readonly string[]): string[] =>
  [...new Set(folders)].filter((folder) => !folders.some((other) => other !== folder && isIn(folder, other)))

const isIn = (folder: string, other: string): boolean => {
  const way = relative(other, folder)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const certificates = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']
const passedOn = ['PATH', 'TMPDIR', 'TZ', 'LANG', ...certificates]

/** Files and folders that the environment of runners names. */
export const filesOfEnvironment = (): string[] => certificates.flatMap((name) => process.env[name] || [])

/**
 * The environment of a runner, without settings and secrets of the service.
 * @param compiled where Node keeps compiled code; undefined if it keeps none
 */
export function environmentOfRunners(compiled: string | undefined): NodeJS.ProcessEnv {
  const given = passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  // The user of runners need not have a home.
  const home = { HOME: '/nonexistent' }
  return { ...home, ...Object.fromEntries(given), ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }) }
}

/**
 * Where Node keeps compiled code of runners: next to this process's compiled code, or in a folder that only the runners' user
 * can enter. Undefined if Node keeps no compiled code.
 */
export function compiledFor(user: RunnerUser | undefined): string | undefined {
  const own = getCompileCacheDir()
  if (own === undefined) return undefined
  // Node adds the name of its own version.
  if (!user) return realpathSync(dirname(own))
  const { uid, gid } = user
  const directory = join(tmpdir(), `penstock-compiled-${uid}`)
  try {
    if (mkdirSync(directory, { recursive: true, mode: 0o700 })) chownSync(directory, uid, gid)
    const there = lstatSync(directory)
    return there.isDirectory() && there.uid === uid && (there.mode & 0o022) === 0 ? realpathSync(directory) : undefined
  } catch {
    return undefined
  }
}

/** A folder and everything in it, whether or not it is there yet. */
const all = (folder: string) => join(folder, '*')

/** Folders that runners read: their code, and the packages that they can use. */
export const codeFolders = (): string[] => runnerFolders().flatMap(withItsTarget)

/** The path itself, and its target. */
function withItsTarget(path: string): string[] {
  try {
    return [...new Set([path, realpathSync(path)])]
  } catch {
    return [path]
  }
}
