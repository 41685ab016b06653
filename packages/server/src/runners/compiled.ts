import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { compileProgram } from '../places.ts'
import { compiledFor, environmentOfRunners, type RunnerUser } from './permissions.ts'

const niceness = 19

/**
 * Compiles the code that runners load, in a separate process with the lowest priority, unless that was done before. Without it,
 * runners still work, but their first job takes a tenth of a second longer.
 */
export function compileForRunners(user: RunnerUser | undefined): void {
  const compiled = compiledFor(user)
  if (compiled === undefined) return
  const options = { env: environmentOfRunners(compiled), stdio: 'ignore', ...user } as const
  const child = spawn(process.execPath, [compileProgram, String(process.pid)], options)
  child.on('error', () => {})
  child.unref()
  try {
    if (child.pid !== undefined) setPriority(child.pid, niceness)
  } catch {
    // It has ended already, or the system does not allow it.
  }
}
