import { spawn } from 'node:child_process'

/** The user that a program runs as. Undefined for the user of this process. */
export type Owner = { uid: number; gid: number } | undefined

/**
 * The environment of every PostgreSQL program. It inherits nothing from ours, which can contain secrets, and whose PG*
 * variables would redirect the server.
 */
export const programEnvironment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }

/** The working directory of every PostgreSQL program, because its user may not have access to ours. */
export const programDirectory = '/'

const outputLimitBytes = 16_384

/**
 * Runs a program to its end.
 *
 * @param args passed without a shell
 * @param timeoutMs after which the program is killed
 * @returns the last 16 KiB that it wrote, and the exit code, which is undefined if the program could not be started or was
 *   killed. It never rejects.
 */
export function run(
  program: string,
  args: string[],
  owner: Owner,
  timeoutMs = 120_000,
): Promise<{ code: number | undefined; output: string }> {
  return new Promise((resolve) => {
    let output = ''
    const child = spawn(program, args, {
      ...owner,
      cwd: programDirectory,
      env: programEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      // The timer of spawn's own timeout outlives a program that could not be started, and this process with it.
      signal: AbortSignal.timeout(timeoutMs),
      killSignal: 'SIGKILL',
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-outputLimitBytes)
      })
    }
    child.once('error', (error) => resolve({ code: undefined, output: error.message }))
    child.once('close', (code) => resolve({ code: code ?? undefined, output: output.trim() }))
  })
}
