import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { filesSocketVariable } from './file-deadline.ts'

/**
 * Loaded into every process of `node --test` before its test file: reports the file to the test runner, which kills it when
 * it does not end in time. Reports at its end how much processor time it took. The connection ends with the process.
 */
const path = process.env[filesSocketVariable]
// Only test files have a context; the process that starts them has none.
if (path && process.env.NODE_TEST_CONTEXT) {
  // The programs that the tests start are no test files.
  delete process.env[filesSocketVariable]
  const socket = net.connect(path)
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write(`${JSON.stringify({ pid: process.pid, file: process.argv[1] })}\n`)
  socket.unref()
  process.on('exit', () => void socket.write(`${JSON.stringify({ processorSeconds: processorSeconds() })}\n`))
}

/** The processor time of this process and, where the system counts it (Linux), of its children that have ended. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  let ofChildren = 0
  try {
    // The fields after the name, which may contain anything; 100 ticks are a second.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    ofChildren = (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    // Not Linux.
  }
  return (user + system) / 1e6 + ofChildren
}
