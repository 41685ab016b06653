#!/usr/bin/env node
// The command line is TypeScript, which Node runs by itself from 22.18 on. `npm` puts the Node that Penstock brings along
// first on the PATH; called in another way an older one may be at work, which hands over to it here.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [major, minor] = process.versions.node.split('.').map(Number)
const main = fileURLToPath(new URL('../src/bin.ts', import.meta.url))
if (major > 22 || (major === 22 && minor >= 18)) {
  await import(main)
} else {
  const node = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node')
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}
