import { readdir, readFile } from 'node:fs/promises'

/** The fields of a process behind its name, as Linux has them; the second one is its parent. */
async function statOf(pid: number): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? []
}

const msOf = (fields: readonly string[]): number => (Number(fields[11]) + Number(fields[12])) * 10

/** The processor time of a process so far, in milliseconds. Linux counts it in hundredths of a second. */
export const processorMs = async (pid: number): Promise<number> => msOf(await statOf(pid))

/** The processor time of all processes with the parent of this one, such as all sessions of a PostgreSQL, in milliseconds. */
export async function processorMsOfSiblings(pid: number): Promise<number> {
  const parent = (await statOf(pid))[1]
  let ms = 0
  for (const name of await readdir('/proc')) {
    // A process can end meanwhile.
    const fields = /^\d+$/.test(name) ? await statOf(Number(name)).catch(() => []) : []
    if (fields[1] === parent) ms += msOf(fields)
  }
  return ms
}
