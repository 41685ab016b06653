import { readdirSync, readFileSync } from 'node:fs'

/** The runners of a process, as the system lists its children. Only on Linux. */
export function runnersOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => read(`/proc/${child}/cmdline`).includes('engine/src/runner.ts'))
}

/** Whether a process lives; one that is dead and not yet buried does not. */
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
