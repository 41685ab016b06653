/**
 * The command `penstock` of the published package. It runs with Node 18 and newer: a Node that is too old for Penstock starts one that
 * is not, from the package `node` if it is installed beside, else one that npm adds.
 */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AddedPackage, addPackage } from '../src/embedded/added-packages.ts'
import nodePackages from './node-packages.json' with { type: 'json' }

const majorMin = 24
const program = new URL('../server/start.js', import.meta.url)

if (majorOf(process.versions.node) >= majorMin) {
  await import(program.href)
} else {
  const node = besides() ?? (await added())
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10)
}

/** The Node of the package `node`, if it is installed beside this package. */
function besides(): string | undefined {
  const { resolve } = createRequire(import.meta.url)
  try {
    const manifest = resolve('node/package.json')
    const { version } = createRequire(import.meta.url)('node/package.json')
    return majorOf(version) >= majorMin ? executable(dirname(manifest)) : undefined
  } catch {
    return undefined
  }
}

async function added(): Promise<string> {
  const too = `Penstock needs Node ${majorMin} or newer, and this is ${process.versions.node}.`
  const platform = `${process.platform}-${process.arch}`
  const found = (nodePackages as Record<string, AddedPackage>)[platform]
  try {
    if (!found) throw new Error(`npm has none for ${platform}.`)
    return executable(await addPackage(found, (sentence) => process.stderr.write(`${too} ${sentence}\n`)))
  } catch (error) {
    process.stderr.write(`penstock: ${too} ${(error as Error).message} Install Node ${majorMin}: https://nodejs.org\n`)
    return process.exit(1)
  }
}

function executable(folder: string): string {
  return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}
