import { readFileSync } from 'node:fs'

/**
 * The processor time of this process and of its descendants that have ended, in seconds. Only this process counts if the
 * system does not report the others (all but Linux).
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  let ofChildren = 0
  try {
    // The fields after the name, which can contain any character. 100 ticks are a second.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    ofChildren = (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    // Not Linux.
  }
  return (user + system) / 1e6 + ofChildren
}
