/**
 * A process that runs test files one after another. `lanes.ts` starts it and sends it the files. Imports of the files are
 * loaded once for all of them. Each file is a suite: its hooks end with it.
 *
 * Outside its tests, a file must not await a promise that another file may have created, such as a promise that a module of the
 * service keeps. Node then assigns the following tests to the other file: "could not be started because its parent finished".
 */
import { once } from 'node:events'
import { describe } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { jobsRun } from './jobs-run.ts'
import type { FromLane, ToLane } from './lanes.ts'
import { processorSeconds } from './processor-time.ts'

/** How long resources that a file has opened can take to close after its tests, and the interval of checks, in milliseconds. */
const closingMs = 30_000
/** The same for sockets: a socket whose other side has gone without notice ends later, and disturbs no other file. */
const socketMs = 3_000
const isSocket = (kind: string) => /^(?:TCPSocket|TLS|Pipe)Wrap$/.test(kind)
const pollMs = 10

const say = (message: FromLane) => void process.send?.(message)

let next = once(process, 'message')
/** Resources that are open without any test: the channel to the test runner. */
let open = process.getActiveResourcesInfo()
say({ kind: 'ready' })
for (;;) {
  const [{ path, name }] = (await next) as [ToLane]
  if (!path || !name) break
  next = once(process, 'message')
  const before = processorSeconds()
  await describe(name, async () => {
    await import(pathToFileURL(path).href)
  })
  const leaked = await leakedResources()
  say({ kind: 'ended', processorSeconds: processorSeconds() - before, leaked, jobs: [...jobsRun] })
  jobsRun.clear()
}
// The test runner has all that the files reported.
process.exit()

/** Resources that the tests of a file have left open, by kind, after they had time to close them. */
async function leakedResources(): Promise<string[]> {
  const startedMs = performance.now()
  for (;;) {
    // Resources that were requested right at the end open now.
    await delay(pollMs)
    const found = process.getActiveResourcesInfo()
    for (const kind of open) if (found.includes(kind)) found.splice(found.indexOf(kind), 1)
    const waitedMs = performance.now() - startedMs
    const leaked = waitedMs > socketMs ? found.filter((kind) => !isSocket(kind)) : found
    if (leaked.length > 0 && waitedMs <= closingMs) continue
    open = process.getActiveResourcesInfo()
    return leaked
  }
}
