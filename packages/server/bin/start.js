/** Runs the command line. This file is JavaScript, so that Node does not load what reads TypeScript (80 ms, 30 MB) before it knows what it has read. */
import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Node ends with this code, and without a word, if a promise that this file waits for can never settle.
const unsettledCode = 13
process.on('exit', (code) => {
  if (code !== unsettledCode) return
  process.stderr.write(
    'penstock: The command ended before it was done, because nothing it waits for can happen any more. Run it again; if it persists, report this with the command.\n',
  )
  process.exitCode = 1
})

keepWhatIsRead()
const { runCommand } = await import('../src/cli/program.ts')
await runCommand(process.argv.slice(2))

/**
 * Most of a start is reading TypeScript; what was read once is kept, where NODE_COMPILE_CACHE says or in the directory for
 * temporary files. There, code that another user could have written is not run: nothing is kept then.
 */
function keepWhatIsRead() {
  if (process.env.NODE_COMPILE_CACHE) return
  const owner = process.getuid?.() ?? ''
  const directory = join(tmpdir(), `penstock-compiled-${owner}`)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const found = lstatSync(directory)
    const isOwn = found.isDirectory() && (owner === '' || (found.uid === owner && (found.mode & 0o022) === 0))
    if (isOwn) enableCompileCache(directory)
  } catch {
    // Nothing can be written there.
  }
}
