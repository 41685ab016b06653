#!/usr/bin/env node
// `npm` puts the Node of Penstock first on the PATH. Without npm, an older Node may run this file, and starts that Node here.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

if (Number.parseInt(process.versions.node, 10) >= 24) {
  await import('./start.js')
} else {
  const fail = () => {
    process.stderr.write('Penstock is not installed completely. Wait until `npm ci` has ended, or run it again.\n')
    process.exit(1)
  }
  const node = nodeOf() ?? fail()
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('error', fail)
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}

/** The Node of Penstock; undefined if it is not installed. */
function nodeOf() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node')
  } catch {
    return undefined
  }
}
