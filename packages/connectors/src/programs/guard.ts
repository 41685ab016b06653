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
import { insideNamespaces, type ProgramWall } from './wall.ts'

/** A program with its files, and its bounds. */
export type Guarded = {
  /**
   * The program and its arguments. `{folder}` and the names of files in braces, such as `{config.json}`, are replaced by their
   * paths.
   */
  readonly command: readonly string[]
  /** Files that only the user of the program reads, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Isolates the program. If undefined, the guard does not isolate it. */
  readonly namespaces?: Extract<ProgramWall, { kind: 'namespaces' }> | undefined
  /** Processes and memory in bytes, at most. */
  readonly processesMax: number
  readonly memoryBytesMax: number
}

/**
 * How a program ended. `reason` is set if it was killed because it exceeded a limit, if it does not exist, or if it could not
 * be started because the machine has no memory, processes or disk space left. `error` is the code of the system.
 */
export type GuardReport = {
  readonly code: number | null
  readonly reason?: 'processes' | 'memory' | 'not_found' | 'not_started'
  readonly error?: string
}

/** Errors if a program does not exist or cannot be executed. */
const notThere = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'ELOOP'])
const reportOf = ({ code: error = '' }: NodeJS.ErrnoException): GuardReport => ({
  code: null,
  reason: notThere.has(error) ? 'not_found' : 'not_started',
  error,
})

const lookEveryMs = 100
/** How often the processes that outlive a program are looked at before they are killed. */
const looksAtRest = 50
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
    if (line !== undefined && next !== undefined) end = tryToRun(JSON.parse(line) as Guarded)
  })
  for (const event of ['end', 'error', 'close']) process.stdin.on(event, () => end())
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end())
}

/** Reports if its files cannot be written, or no process can be started, as on a full disk. */
function tryToRun(guarded: Guarded): () => void {
  try {
    return run(guarded)
  } catch (error) {
    writeSync(reportTo, `${JSON.stringify({ ...reportOf(error as NodeJS.ErrnoException), reason: 'not_started' })}\n`)
    return process.exit(0)
  }
}

/** Runs the program. Returns a function that ends it immediately. */
function run({ command, files, namespaces, processesMax, memoryBytesMax }: Guarded): () => void {
  const folder = makeFolder()
  const remove = () => rmSync(folder, { recursive: true, force: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 })
  const filled = command.map((part) =>
    part.replace(/\{([\w.]+)\}/g, (all, name) =>
      name === 'folder' ? folder : name in files ? join(folder, name) : all,
    ),
  )
  const [program = '', ...args] = namespaces ? insideNamespaces(filled, folder, namespaces) : filled
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
  // Processes that it started can have output left, such as the last message.
  const finishOnceQuiet = (code: number | null, looks = 0) => {
    if (looks >= looksAtRest || (tree?.look().count ?? 0) === 0) finish({ code })
    else setTimeout(finishOnceQuiet, lookEveryMs, code, looks + 1)
  }
  child.on('error', (error) => finish(reportOf(error)))
  child.on('exit', (code) => {
    hasEnded = true
    finishOnceQuiet(code)
  })
  return () => finish({ code: null })
}

/** The user of a program is not allowed to write where the service writes. */
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
