import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/** The fields of `/proc/self/stat` that say where the environment begins and ends, counted from the third field. */
const environmentFields = [47, 49] as const

/**
 * Overwrites the initial environment of this process. Linux shows it to every process of the same user (`/proc/<id>/environ`),
 * and it can contain the master key and passwords. `process.env` does not change.
 * @returns whether the environment was overwritten; only Linux has something to overwrite
 */
export function hideEnvironment(): boolean {
  if (process.platform !== 'linux') return true
  try {
    // Each variable gets a copy elsewhere in memory, which is used from now on.
    for (const [name, value] of Object.entries(process.env)) process.env[name] = value
    // The name of the program, in brackets, can contain any character.
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
