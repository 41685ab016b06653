import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import type { RunnerSettings } from '@penstock/engine'
import { runnerProgram } from '../places.ts'
import { compiledFor, environmentOfRunners, permissionFlags, type RunnerUser } from './permissions.ts'

export type ProcessOptions = {
  readonly settings: RunnerSettings
  /** Undefined: the service's own. */
  readonly user?: RunnerUser | undefined
  /** Limit of resident memory, in bytes. The heap gets half of it. */
  readonly memoryBytesMax: number
  /** Node, and the main module. The defaults are Node and the main module of this process. */
  readonly node?: string
  readonly program?: string
  /** Whether it has the priority of the service. */
  readonly isUrgent?: boolean
}

/**
 * Limit of memory for young objects, in MiB. A runner with a lower memory limit gets a sixteenth of that limit. If only the
 * heap is limited, V8 uses so little that rows in transit survive several collections: a CSV file into PostgreSQL took a third
 * longer.
 */
const semiSpaceMbMax = 64
/** Of processes whose work nobody waits for step by step. */
const niceness = 5

/**
 * Starts the process of a runner.
 * @throws an error of the system, such as ENOMEM; other errors, such as ENOENT, are an `error` event of a process without a
 * `pid`
 */
export function startProcess(options: ProcessOptions, startsPrograms: boolean): ChildProcess {
  const memoryMb = options.memoryBytesMax / 1024 ** 2
  const heapMb = Math.max(64, Math.floor(memoryMb / 2))
  const semiSpaceMb = Math.min(semiSpaceMbMax, Math.max(8, Math.floor(memoryMb / 16)))
  // The user of a program has one job, for which nothing is kept compiled.
  const compiled = startsPrograms ? undefined : compiledFor(options.user)
  const child = fork(options.program ?? runnerProgram, [], {
    // Without the groups of the service, too.
    ...options.user,
    env: environmentOfRunners(compiled),
    execPath: options.node ?? process.execPath,
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      `--max-semi-space-size=${semiSpaceMb}`,
      ...permissionFlags(options.settings, compiled, startsPrograms),
    ],
    // Standard error is read for V8's message about a full heap. It is never logged, since it can quote values.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  if (!options.isUrgent) lowerPriority(child)
  return child
}

/** The API and the database have priority if processors are short. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // It has ended already, or the system does not allow it.
  }
}
