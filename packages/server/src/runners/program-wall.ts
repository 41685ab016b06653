import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import { insideNamespaces, type ProgramWall } from '@penstock/connectors/programs'
import type { Config } from '../config.ts'
import { exampleProgramUser } from './program-users.ts'
import { findRunnerUser, whyUserCannotRun } from './runner-user.ts'

const tryMs = 10_000

type Settings = Pick<
  Config,
  'runnerUser' | 'localFolders' | 'programsAreOpen' | 'dataDirectory' | 'connectorsFolder' | 'secretFiles'
>

const found = new Map<string, ProgramWall>()

/**
 * The wall around programs on this machine: a user for each job if the service is
 * root, otherwise namespaces that bubblewrap makes. Without either, programs are off unless `PENSTOCK_PROGRAMS` is `open`.
 */
export function findProgramWall(config: Settings): ProgramWall {
  if (config.programsAreOpen) return { kind: 'open' }
  const { runnerUser, localFolders, dataDirectory, connectorsFolder, secretFiles } = config
  const hidden = [dataDirectory, connectorsFolder, ...localFolders, ...secretFiles]
  const key = JSON.stringify([runnerUser, hidden])
  const known = found.get(key) ?? (process.getuid?.() === 0 ? byUser(config) : byNamespaces(hidden))
  found.set(key, known)
  return known
}

function byUser(config: Settings): ProgramWall {
  const { user, warning } = findRunnerUser(config)
  if (!user) return off(warning === undefined ? 'runners have the rights of root' : warning.replace(/\.$/, ''))
  const problem = whyUserCannotRun(exampleProgramUser(user))
  return problem === undefined ? { kind: 'user' } : off(problem)
}

function byNamespaces(hidden: readonly string[]): ProgramWall {
  if (process.platform !== 'linux') return off('this is not Linux')
  const bubblewrap = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((path) => isAbsolute(path) && isProgram(path))
  if (bubblewrap === undefined) return off('bubblewrap (bwrap) is not installed')
  const wall: ProgramWall = { kind: 'namespaces', bubblewrap, hidden }
  const folder = mkdtempSync(join(tmpdir(), 'penstock-wall-'))
  try {
    const [program = '', ...args] = insideNamespaces([process.execPath, '-e', ''], folder, wall)
    const { status, stderr, error } = spawnSync(program, args, { env: {}, encoding: 'utf8', timeout: tryMs })
    if (status === 0) return wall
    const said = (error?.message ?? stderr).trim().split('\n').at(-1)?.slice(0, 200)
    return off(`bubblewrap cannot make namespaces here${said ? ` (${said})` : ''}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const off = (why: string): ProgramWall => ({
  kind: 'off',
  why: `Programs are off on this machine, because nothing would keep them from secrets: ${why}. A program could read the master key, the database and the secrets of all other jobs. Ask your operator to install bubblewrap, or to start Penstock as root. PENSTOCK_PROGRAMS=open runs programs anyway.`,
})

/** A wall in words, for the operator. */
export function describeWall(wall: ProgramWall): string {
  switch (wall.kind) {
    case 'namespaces':
      return 'programs are isolated: bubblewrap hides other processes and files; the network is open to them'
    case 'user':
      return 'programs are isolated: each job has its own user; the network, and files that every user can read, are open to them'
    case 'open':
      return 'warning: programs are not isolated (PENSTOCK_PROGRAMS is open): a program can read all that the user of Penstock can, such as the master key and the secrets of other jobs'
    case 'off':
      return `warning: ${wall.why}`
  }
}
