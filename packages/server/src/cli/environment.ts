import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Where the fields of `/proc/self/stat` begin and end that say where the environment is; counted from the third one. */
const environmentFields = [47, 49] as const

/**
 * Overwrites the environment that this process was started with, where Linux shows it to every process of the same user
 * (`/proc/<id>/environ`), since it may contain the master key and passwords. `process.env` stays as it is.
 * @returns whether it is overwritten; elsewhere than on Linux there is nothing to overwrite
 */
export function hideEnvironment(): boolean {
  if (process.platform !== 'linux') return true
  try {
    // Each variable gets a copy elsewhere in memory, which is used from now on.
    for (const [name, value] of Object.entries(process.env)) process.env[name] = value
    // The name of the program, in brackets, may contain anything.
    const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'latin1')) ?? []
    const [start = 0, end = 0] = fields
      .trim()
      .split(' ')
      .slice(...environmentFields)
      .map(Number)
    if (!(start > 0 && end >= start && Number.isSafeInteger(end))) return false
    const memory = openSync('/proc/self/mem', 'r+')
    try {
      writeSync(memory, Buffer.alloc(end - start), 0, end - start, start)
    } finally {
      closeSync(memory)
    }
    return readFileSync('/proc/self/environ').every((byte) => byte === 0)
  } catch {
    return false
  }
}
