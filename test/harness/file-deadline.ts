import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { createInterface } from 'node:readline'

/** The variable with the path of the socket on which the process of each test file reports itself. */
export const filesSocketVariable = 'PENSTOCK_TEST_FILES_SOCKET'

export type FileDeadline = {
  /** The files that have ended, how long each took, and how much processor time, where it reported that. */
  readonly ended: readonly { readonly file: string; readonly seconds: number; readonly processorSeconds: number }[]
  /** Why the run failed, a sentence for each file that was killed. */
  readonly killed: readonly string[]
  close(): void
}

/**
 * Kills each test file that is still running `seconds` after its start, with its children. Node's own `--test-timeout` bounds
 * single tests only: not a file whose tests have ended while a handle is open, nor one that never returns to its event loop.
 *
 * @param path where to create the socket
 * @param nameOf what to call a file in messages, by its absolute path
 */
export async function enforceFileDeadline(
  path: string,
  seconds: number,
  nameOf: (file: string) => string,
): Promise<FileDeadline> {
  const killed: string[] = []
  const ended: { file: string; seconds: number; processorSeconds: number }[] = []
  const server = net.createServer((socket) => {
    let timer: NodeJS.Timeout | undefined
    let reported = ''
    let processorSeconds = 0
    const startedMs = performance.now()
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', (line) => {
      const report = JSON.parse(line) as { pid: number; file: string } | { processorSeconds: number }
      if ('processorSeconds' in report) {
        processorSeconds = report.processorSeconds
        return
      }
      const { pid, file } = report
      reported = file
      timer = setTimeout(() => {
        const sentence = `${nameOf(file)} did not end within ${seconds} s and was killed: a test does not end, or something is still open after the tests.`
        killed.push(sentence)
        console.error(sentence)
        killTree(pid)
      }, seconds * 1000)
    })
    // The process has ended; its identifier may soon be another's.
    socket.on('close', () => {
      clearTimeout(timer)
      if (!reported) return
      const seconds = (performance.now() - startedMs) / 1000
      ended.push({ file: nameOf(reported), seconds, processorSeconds })
    })
  })
  server.listen(path)
  await once(server, 'listening')
  server.unref()
  return { killed, ended, close: () => void server.close() }
}

/** Kills a process and its descendants, which might hold the output that the test runner waits for. */
function killTree(pid: number): void {
  for (const each of [pid, ...descendantsOf(pid)]) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

function descendantsOf(pid: number): number[] {
  let table: string
  try {
    table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  } catch {
    // A machine without ps: the process group of the run is killed at its end.
    return []
  }
  const processes = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const found = [pid]
  for (const parent of found) {
    found.push(...processes.flatMap(([child = 0, of]) => (of === parent ? [child] : [])))
  }
  return found.slice(1)
}
