import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A server in a separate process. */
export type Server = { url: string; pid: number; stop(): Promise<void> }

const root = join(import.meta.dirname, '..')
const startTimeoutMs = 30_000

/** A port that was free just before. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/**
 * Starts a program of this project with Node and waits until it answers on its port.
 * @param logFile receives the output of the program, like a log file in production
 */
export async function startServer(
  script: string,
  args: readonly string[],
  {
    env,
    port,
    path,
    logFile,
    checkout = root,
  }: { env: Record<string, string>; port: number; path: string; logFile: string; checkout?: string },
): Promise<Server> {
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, [...nodeOptions(script), join(checkout, script), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const url = `http://127.0.0.1:${port}`
  await waitUntilServing(child, url + path, logFile)
  return { url, pid: child.pid ?? 0, stop: () => stop(child) }
}

/** PENSTOCK_BENCH_PROFILE names a directory: the service then leaves its CPU profile there. */
function nodeOptions(script: string): string[] {
  const directory = process.env.PENSTOCK_BENCH_PROFILE
  return directory && script.endsWith('penstock.js') ? ['--cpu-prof', `--cpu-prof-dir=${directory}`] : []
}

async function waitUntilServing(child: ChildProcess, url: string, logFile: string): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => undefined,
    )
    if (status === 200) return
    if (child.exitCode !== null || performance.now() > deadlineMs) {
      child.kill('SIGKILL')
      throw new Error(`${url} is not served. What the program wrote: ${readFileSync(logFile, 'utf8').slice(-2000)}`)
    }
    await delay(50)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
