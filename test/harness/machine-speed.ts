import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/**
 * A fixed piece of work, in a process of its own: objects, JSON, digests, and memory that is new. It prints the processor time
 * that it took after its start, in milliseconds.
 */
const work = `
  const { createHash } = require('node:crypto')
  const { user, system } = process.cpuUsage()
  let digest = ''
  for (let round = 0; round < 4; round++) {
    const rows = Array.from({ length: 8000 }, (_, n) => ({ id: n, name: 'n' + ((n * 7919) % 8009), of: [n, { digest }] }))
    const read = JSON.parse(JSON.stringify(rows)).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const { name } of read) digest = createHash('sha256').update(digest + name).digest('hex')
    Buffer.alloc(16 * 2 ** 20, round + 1)
  }
  const spent = process.cpuUsage({ user, system })
  console.log((spent.user + spent.system) / 1000)
`

/** How long the work took while the tests ran on the machine by which the budgets were set, in milliseconds. */
export const referenceWorkMs = 250

/** How often the work is done while tests run, in milliseconds. */
const everyMs = 10_000

/**
 * Measures, from time to time and until the signal aborts, how much processor time a fixed piece of work takes beside everything
 * else that runs. Machines differ, and the same machine takes twice as long when its caches or its memory are short.
 * @returns the mean, in milliseconds; `undefined` if nothing was measured
 */
export async function measureWork(signal: AbortSignal): Promise<number | undefined> {
  const measured: number[] = []
  while (!signal.aborted) {
    const child = spawn(process.execPath, ['--eval', work], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ms = Number(await text(child.stdout))
    if (ms > 0) measured.push(ms)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs)
      signal.addEventListener('abort', () => resolve(void clearTimeout(timer)), { once: true })
    })
  }
  return measured.length > 0 ? measured.reduce((sum, ms) => sum + ms, 0) / measured.length : undefined
}
