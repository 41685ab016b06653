import { readdirSync, readFileSync } from 'node:fs'

/** The runners of a process, as the system lists its children. Only on Linux. */
export function runnersOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => read(`/proc/${child}/cmdline`).includes('engine/src/runner.ts'))
}

/** The users and the groups of a process (real, effective, saved, of files) and its further groups. */
export function ownersOf(pid: number): { uids: string; gids: string; groups: string } {
  const status = read(`/proc/${pid}/status`)
  const [uids = '', gids = '', groups = ''] = ['Uid', 'Gid', 'Groups'].map(
    (name) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.trim().replaceAll('\t', ' ') ?? '',
  )
  return { uids, gids, groups }
}

/** Whether a process is alive. A zombie process is not. */
export const isAlive = (pid: number): boolean => !/^\d+ \(.*\) Z|^$/s.test(read(`/proc/${pid}/stat`))

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
