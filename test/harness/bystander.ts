import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** Calls of another client of the API meanwhile: their number, the failures, and their durations. */
export type Witnessed = { calls: number; failed: number; p99Ms: number; mostMs: number }

const everyMs = 100
const program = `
  const [url, token, everyMs] = process.argv.slice(1)
  const took = []
  let failed = 0
  process.on('SIGTERM', () => {
    const sorted = took.sort((a, b) => a - b)
    const at = (part) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? -1)
    process.stdout.write(JSON.stringify({ calls: took.length, failed, p99Ms: at(0.99), mostMs: at(1) }), () => process.exit())
  })
  for (;;) {
    const begun = performance.now()
    const answer = await fetch(url + '/es/v2/accounts', { headers: { authorization: 'Bearer ' + token } }).catch(() => undefined)
    await answer?.arrayBuffer()
    if (!answer?.ok) failed++
    took.push(performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
`

/** Starts calling the API from a separate process, so that only the service can delay it. */
export function startBystander(url: string, token: string): { stop(): Promise<Witnessed> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, url, token, String(everyMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return {
    async stop() {
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      await ended
      return JSON.parse(said) as Witnessed
    },
  }
}

/** Repeats the work, with a pause after each time, until it is over. It runs at least once. */
export async function steadily(pauseMs: number, work: () => Promise<void>, isOver: () => boolean): Promise<void> {
  for (;;) {
    await work()
    if (isOver()) return
    await delay(pauseMs)
  }
}
