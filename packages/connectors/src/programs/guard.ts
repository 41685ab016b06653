/**
 * A process between a runner and a program of others. It has what the runner must not have: it writes files and starts processes. The
 * first line of its input says what to run. When its input ends, because the runner is done or was killed, it kills all processes
 * of the program and removes its files.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProcessTree } from './processes.ts'

/** A program with its files, and its bounds. */
export type Guarded = {
  /** The program and its arguments; `{folder}` and the names of files in braces, such as `{config.json}`, are replaced by their paths. */
  readonly command: readonly string[]
  /** Files that only the user of the program reads, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Processes and memory in bytes, at most. */
  readonly processesMax: number
  readonly memoryBytesMax: number
}

/** How a program ended; `reason` if it was killed for passing a bound, or could not be started. */
export type GuardReport = { readonly code: number | null; readonly reason?: 'processes' | 'memory' | 'not_found' }

const lookEveryMs = 100
const prefix = 'penstock-program-'
const otherTmpdir = '/tmp'
/** The descriptor of the report. */
const reportTo = 3

// Does not start when this file is compiled.
if (process.argv[2] === 'guard') start()

function start(): void {
  sweep()
  let text = ''
  let end: () => void = () => process.exit(0)
  process.stdin.setEncoding('utf8').on('data', (piece: string) => {
    if (text.includes('\n')) return
    text += piece
    const [line, next] = text.split('\n', 2)
    if (line !== undefined && next !== undefined) end = run(JSON.parse(line) as Guarded)
  })
  for (const event of ['end', 'error', 'close']) process.stdin.on(event, () => end())
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end())
}

/** Runs it. Returns how to end it at once. */
function run({ command, files, processesMax, memoryBytesMax }: Guarded): () => void {
  const folder = makeFolder()
  const remove = () => rmSync(folder, { recursive: true, force: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 })
  const [program = '', ...args] = command.map((part) =>
    part.replace(/\{([\w.]+)\}/g, (all, name) =>
      name === 'folder' ? folder : name in files ? join(folder, name) : all,
    ),
  )
  // Of the environment, only the folders of programs.
  const env = { PATH: process.env.PATH ?? '' }
  const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
  const tree = child.pid === undefined ? undefined : new ProcessTree(child.pid)
  let reason: GuardReport['reason']
  let hasEnded = false
  const finish = (report: GuardReport) => {
    clearInterval(watch)
    tree?.kill()
    remove()
    try {
      writeSync(reportTo, `${JSON.stringify(report)}\n`)
    } catch {
      // The runner is gone.
    }
    // Waited for, so that it does not stay in the table of processes.
    if (hasEnded || child.pid === undefined) process.exit(0)
    child.removeAllListeners('exit').on('exit', () => process.exit(0))
  }
  const watch = setInterval(() => {
    const { count, bytes } = tree?.look() ?? { count: 0, bytes: 0 }
    if (count > processesMax) reason = 'processes'
    else if (bytes > memoryBytesMax) reason = 'memory'
    if (reason) finish({ code: null, reason })
  }, lookEveryMs)
  child.on('error', () => finish({ code: null, reason: 'not_found' }))
  child.on('exit', (code) => {
    hasEnded = true
    finish({ code })
  })
  return () => finish({ code: null })
}

/** The user of a program may not write where the service does. */
function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  } catch {
    return mkdtempSync(join(otherTmpdir, `${prefix}${process.pid}-`))
  }
}

/** Removes the folders of guards that were killed. */
function sweep(): void {
  for (const parent of new Set([tmpdir(), otherTmpdir])) {
    try {
      for (const name of readdirSync(parent))
        if (isLeft(name)) rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // It cannot be listed, or belongs to another user.
    }
  }
}

/** Whether it is the folder of a guard that is gone. */
function isLeft(name: string): boolean {
  const [, pid] = /^penstock-program-(\d+)-\w+$/.exec(name) ?? []
  if (pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
