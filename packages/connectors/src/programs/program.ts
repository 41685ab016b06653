import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ConnectorError } from '@penstock/connector'
import type { Guarded, GuardReport } from './guard.ts'
import { guardFile } from './guard-file.ts'
import type { ProgramWall } from './wall.ts'

/** Bytes of one line at most: a record, or a catalogue. */
const lineBytesMax = 16 * 1024 ** 2
const bounds = { processesMax: 128, memoryBytesMax: 2 * 1024 ** 3 }
/** Characters of standard error that are kept. */
const stderrLength = 2_000

/** A program to run, and its limit for silence, in milliseconds. */
export type Run = Pick<Guarded, 'command' | 'files'> & {
  readonly signal: AbortSignal
  readonly silentMs: number
  /** Receives the lines of its standard error, which are ignored by default. */
  readonly log?: ((line: string) => void) | undefined
  /** The user of the program. If undefined, the user of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** The wall around it. If undefined, there is no wall. */
  readonly wall?: ProgramWall | undefined
}

/**
 * Runs a third-party program and returns the lines that it writes. All its processes and files end with it, even if this
 * process is killed. It reads only little ahead of the reader.
 * @returns how it ended: its exit code, and the end of its standard error
 * @throws ConnectorError `row_too_large`, `timeout`, `platform_unavailable` or `connector_missing` if it exceeded a limit or
 * cannot be started; the signal's reason if the signal is aborted
 */
export async function* linesOf({
  command,
  files,
  signal,
  silentMs,
  log,
  user,
  wall,
}: Run): AsyncGenerator<string, ProgramEnd> {
  signal.throwIfAborted()
  if (wall?.kind === 'off') throw new ConnectorError('connector_missing', wall.why)
  // Node passes its permissions to every process that it starts, unless the arguments include permissions. The guard ignores
  // this argument.
  const guard = spawn(process.execPath, [guardFile(), 'guard', '--permission'], {
    ...user,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', ...(process.env.TMPDIR ? { TMPDIR: process.env.TMPDIR } : {}) },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  if (guard.pid === undefined) {
    const [error] = (await once(guard, 'error')) as [NodeJS.ErrnoException]
    throw notStarted(error.code)
  }
  const namespaces = wall?.kind === 'namespaces' ? wall : undefined
  const { stdin, stdout, stderr } = guard
  const [, , , report] = guard.stdio as unknown as NodeJS.ReadableStream[]
  for (const stream of [stdin, stdout, stderr, report] as (NodeJS.EventEmitter | undefined)[])
    stream?.on('error', () => {})
  let said = ''
  let line = ''
  let reported = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-stderrLength)
    if (!log) return
    const lines = (line + text).split('\n')
    line = (lines.pop() ?? '').slice(0, stderrLength)
    for (const whole of lines) log(whole)
  })
  report?.setEncoding('utf8').on('data', (text: string) => {
    reported += text
  })
  const ended = new Promise<void>((resolve) => {
    guard.on('close', () => resolve())
    guard.on('error', () => resolve())
  })
  const end = () => void stdin.destroy()
  const quiet = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      quiet.abort()
      stdout.destroy()
    }, silentMs)
  }
  const stop = () => {
    end()
    stdout.destroy()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    stdin.write(`${JSON.stringify({ command, files, namespaces, ...bounds } satisfies Guarded)}\n`)
    wait()
    let rest: Buffer[] = []
    let length = 0
    try {
      for await (const piece of stdout as AsyncIterable<Buffer>) {
        let from = 0
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
          const whole = Buffer.concat([...rest, piece.subarray(from, at)]).toString('utf8')
          rest = []
          length = 0
          from = at + 1
          clearTimeout(timer)
          yield whole
          wait()
        }
        rest.push(piece.subarray(from))
        length += piece.length - from
        if (length > lineBytesMax)
          throw new ConnectorError('row_too_large', `The program wrote a line of more than ${lineBytesMax >> 20} MiB.`)
      }
    } catch (error) {
      // Both destroy the stream.
      if (!signal.aborted && !quiet.signal.aborted) throw error
    }
    signal.throwIfAborted()
    if (quiet.signal.aborted)
      throw new ConnectorError(
        'timeout',
        `The program wrote nothing for ${Math.round(silentMs / 1000)} seconds and was ended.`,
      )
    if (length > 0) yield Buffer.concat(rest).toString('utf8')
    await ended
    return endOf(reported, said)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    end()
    await ended
  }
}

const notStarted = (code = 'unknown error') =>
  new ConnectorError(
    'platform_unavailable',
    `This machine could not start the program of this connector (${code}). Ask your operator to look at its free disk space (TMPDIR), memory and processes.`,
  )

/** How a program ended. */
export type ProgramEnd = { readonly code: number | null; readonly stderr: string }

function endOf(reported: string, stderr: string): ProgramEnd {
  const { code = null, reason, error }: Partial<GuardReport> = reported === '' ? {} : JSON.parse(reported)
  if (reason === 'not_found')
    throw new ConnectorError(
      'connector_missing',
      `The program of this connector is not on this machine, or cannot be run (${error}). Ask your operator to install it on every machine.`,
    )
  if (reason === 'not_started') throw notStarted(error)
  if (reason === 'processes' || reason === 'memory') {
    const bound =
      reason === 'processes' ? `${bounds.processesMax} processes` : `${bounds.memoryBytesMax >> 30} GiB of memory`
    throw new ConnectorError('platform_unavailable', `The program had more than ${bound} and was ended.`)
  }
  return { code, stderr }
}
