import { once } from 'node:events'
import net from 'node:net'
import { filesSocketVariable } from './file-deadline.ts'

/**
 * Loaded into every process of `node --test` before its test file: reports the file to the test runner, which kills it when
 * it does not end in time. The connection ends with the process.
 */
const path = process.env[filesSocketVariable]
// Only test files have a context; the process that starts them has none.
if (path && process.env.NODE_TEST_CONTEXT) {
  // The programs that the tests start are no test files.
  delete process.env[filesSocketVariable]
  const socket = net.connect(path)
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write(JSON.stringify({ pid: process.pid, file: process.argv[1] }))
  socket.unref()
}
