#!/usr/bin/env node
// The command line is TypeScript, which Node runs without a build from 22.18 on. `npm` puts the Node of Penstock first on
// the PATH. Without npm, an older Node may run this file, and starts that Node here.
// This file is JavaScript, so that Node does not load what reads TypeScript (80 ms, 30 MB) before it knows what it has read.
import { spawn } from 'node:child_process'
import { lstatSync, mkdirSync } from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  keepWhatIsRead()
  const { runCommand } = await import('../src/cli/program.ts')
  await runCommand(process.argv.slice(2))
} else {
  const node = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node')
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}

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
