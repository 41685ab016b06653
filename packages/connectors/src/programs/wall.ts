import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/**
 * The wall between a third-party program and the service, other jobs and their files.
 * - `namespaces`: bubblewrap gives the program its own processes and its own view of the files
 * - `user`: the runner of the job, and so the program, runs as a user that no other process has
 * - `open`: no isolation, because the operator chose that
 * - `off`: no isolation is possible, so no program runs; `why` is a sentence for the operator
 */
export type ProgramWall =
  | { readonly kind: 'namespaces'; readonly bubblewrap: string; readonly hidden: readonly string[] }
  | { readonly kind: 'user' }
  | { readonly kind: 'open' }
  | { readonly kind: 'off'; readonly why: string }

/** The part of the system that every program needs: code, libraries, names and certificates. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const systemFiles = [
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'group',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'pki',
  'protocols',
  'resolv.conf',
  'services',
  'ssl',
].map((name) => `/etc/${name}`)

/**
 * The command that runs a program in separate namespaces. The program sees the system, the folders of the files in its command,
 * and its own folder, which it can change. It sees no other process, and no path in `hidden`.
 * @param folder the folder of its files
 */
export function insideNamespaces(
  command: readonly string[],
  folder: string,
  { bubblewrap, hidden }: Extract<ProgramWall, { kind: 'namespaces' }>,
): readonly string[] {
  // Folders of other jobs are next to this one.
  const secret = [...new Set([...hidden, dirname(folder)].flatMap(withTarget))]
  const shown = rootsOf(command, secret).filter((path) => !secret.includes(path) && !isSystem(path))
  // Whatever lies in a hidden folder is shown after that folder is covered.
  const [late, early] = [true, false].map((is) => shown.filter((path) => secret.some((one) => isIn(path, one)) === is))
  const bind = (paths: readonly string[] = []) => paths.flatMap((path) => ['--ro-bind', path, path])
  const covered = secret.filter((path) => shown.some((root) => isIn(path, root)) || isSystem(path))
  return [
    bubblewrap,
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--die-with-parent',
    ...systemFolders.flatMap((path) =>
      isLink(path) ? ['--symlink', readlinkSync(path), path] : ['--ro-bind-try', path, path],
    ),
    ...systemFiles.flatMap((path) => ['--ro-bind-try', path, path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    ...bind(early),
    ...covered.flatMap((path) => (isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    ...bind(late),
    '--bind',
    folder,
    folder,
    '--chdir',
    folder,
    '--',
    ...command,
  ]
}

/** The files and folders that a command needs: the program, its interpreter, and files in its arguments. */
function rootsOf([program = '', ...args]: readonly string[], secret: readonly string[]): string[] {
  const found = new Set<string>()
  const add = (path: string | undefined, isProgram: boolean) => {
    if (path !== undefined) for (const one of linksOf(path)) found.add(rootOf(one, isProgram, secret))
  }
  const file = findProgram(program)
  add(file, true)
  if (file !== undefined) for (const word of interpreterOf(file)) add(findProgram(word), true)
  for (const arg of args) {
    const path = arg.slice(arg.startsWith('-') ? arg.indexOf('=') + 1 : 0)
    if (isAbsolute(path) && exists(path)) add(path, false)
  }
  // Outer folders first, since a later mount covers what it contains.
  return [...found].sort()
}

/** The folder that is shown for a file: its folder, or the folder above `bin`. Never a folder with data of others. */
function rootOf(path: string, isProgram: boolean, secret: readonly string[]): string {
  const folder = isFolder(path) ? path : dirname(path)
  const above = dirname(folder)
  const isClosed = (one: string) => isShared(one) || secret.includes(one)
  if (isProgram && folder.endsWith(`${sep}bin`) && !isClosed(above)) return above
  return isClosed(folder) ? path : folder
}

/** Whether a folder is a home, or one in which many others have theirs. */
const isShared = (folder: string): boolean =>
  folder.split(sep).length <= 2 ||
  folder === homedir() ||
  ['/home', '/var', '/etc', '/run', '/Users', '/var/lib'].includes(dirname(folder)) ||
  ['/var/lib', '/var/tmp', '/dev/shm'].includes(folder)

/** The path of a program as `exec` finds it. */
function findProgram(name: string): string | undefined {
  const places = name.includes(sep) ? [resolve('/', name)] : pathFolders().map((folder) => join(folder, name))
  return places.find((path) => isAbsolute(path) && canRun(path))
}

const pathFolders = () => (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)

/** The words behind `#!` in the first line of a script. */
function interpreterOf(file: string): string[] {
  const bytes = Buffer.alloc(256)
  try {
    const descriptor = openSync(file, 'r')
    readSync(descriptor, bytes)
    closeSync(descriptor)
  } catch {
    return []
  }
  const [line = ''] = bytes.toString('latin1').split('\n', 1)
  return line.startsWith('#!') ? line.slice(2).trim().split(/\s+/).slice(0, 3) : []
}

/** A path, and every path that its links lead to. */
function linksOf(path: string): string[] {
  const found = [path]
  for (let at = path; isLink(at) && found.length < 20; ) {
    at = resolve(dirname(at), readlinkSync(at))
    found.push(at)
  }
  return [...new Set([...found, ...withTarget(path)])]
}

function withTarget(path: string): string[] {
  try {
    return [path, realpathSync(path)]
  } catch {
    return []
  }
}

const isSystem = (path: string): boolean => systemFolders.some((folder) => path === folder || isIn(path, folder))

const isIn = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
const exists = (path: string): boolean => {
  try {
    return statSync(path) !== undefined
  } catch {
    return false
  }
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return !isFolder(path)
  } catch {
    return false
  }
}
