import { readdir, readFile } from 'node:fs/promises'

/** The fields of a process after its name, as in Linux; the second one is its parent. */
async function statOf(pid: number): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? []
}

const msOf = (fields: readonly string[]): number => (Number(fields[11]) + Number(fields[12])) * 10

/** The processor time of a process so far, in milliseconds. Linux counts it in hundredths of a second. */
export const processorMs = async (pid: number): Promise<number> => msOf(await statOf(pid))

/** The processor time of each process that a process has started and that has not ended, in milliseconds. */
export async function processorMsOfChildren(parent: number): Promise<Map<number, number>> {
  const found = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    // A process can end in the meantime.
    const fields = /^\d+$/.test(name) ? await statOf(Number(name)).catch(() => []) : []
    if (Number(fields[1]) === parent) found.set(Number(name), msOf(fields))
  }
  return found
}

/** The process that has started a process. */
export const parentOf = async (pid: number): Promise<number> => Number((await statOf(pid))[1])

/** The processor time of all processes with the parent of this one, such as all sessions of a PostgreSQL, in milliseconds. */
export async function processorMsOfSiblings(pid: number): Promise<number> {
  const all = await processorMsOfChildren(await parentOf(pid))
  return [...all.values()].reduce((sum, ms) => sum + ms, 0)
}
