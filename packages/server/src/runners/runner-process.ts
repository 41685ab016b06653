import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import {
  type DefectReport,
  type FromRunner,
  type HostMethod,
  type Job,
  type JobResult,
  protocolLimits,
  type ToRunner,
} from '@penstock/engine'
import { type ProcessOptions, startProcess } from './start-process.ts'

/** Why a runner was killed, or ended on its own in the middle of a job. */
export type RunnerDeath =
  /** Its memory passed the bound, or its heap was full. */
  | 'out_of_memory'
  /** Its event loop was blocked, or the job made no progress for too long. */
  | 'no_progress'
  /** It did not end within the deadline of its job. */
  | 'deadline'
  /** It ended on its own: an error that nothing caught, or a signal from outside. */
  | 'runner_crashed'
  /** It did not end in time after its job was ended. */
  | 'not_ended'
  /** It could not be started, or could not load its code: the cause is this machine or its files, and no job. */
  | 'not_started'

/** The runner died before its job was done. */
export class RunnerDied extends Error {
  override readonly name = 'RunnerDied'
  readonly reason: RunnerDeath
  readonly report: DefectReport | undefined
  /** The most memory that it was seen with, in bytes. */
  readonly peakBytes: number
  constructor(reason: RunnerDeath, peakBytes: number, report?: DefectReport) {
    super(`The runner of this job ended: ${reason}`)
    this.reason = reason
    this.peakBytes = peakBytes
    this.report = report
  }
}

/** How a job is monitored. Times in milliseconds. */
export type Watch = {
  /** Limit for the whole job. Checks and previews have one. */
  readonly deadlineMs?: number
  /** Limit between two signs of progress. Transfers have one. */
  readonly progressMs?: number
}

export type RunnerOptions = ProcessOptions & {
  /** A runner that does not respond for this long is killed, in milliseconds. */
  readonly stallMs: number
}

/** Answers a call of a job to its supervisor. Rejects with the error that ends the job. */
export type AnswerCall = (method: HostMethod, argument: unknown) => Promise<unknown>

/** The job must end. */
export class EndJob extends Error {
  override readonly name = 'EndJob'
  /** The work continues elsewhere, so nothing at a destination is removed. */
  readonly resumes: boolean
  /** How long the job can take to end after it is told to, in milliseconds. Then its runner is killed. */
  readonly graceMs: number
  constructor(resumes: boolean, graceMs: number) {
    super('The job must end')
    this.resumes = resumes
    this.graceMs = graceMs
  }
}

const watchEveryMs = 100
/**
 * If the supervisor looks later than this, it did not run itself, because the machine slept or was paused. The runner is not to
 * blame.
 */
const sleptMsMin = 2_000
/** V8 says this before it aborts a process whose heap is full. */
const heapIsFull = /heap out of memory|Allocation failed|OOM error/
const stderrKeptLength = 4_096

/** One child process that runs connector code, one job at a time. */
export class RunnerProcess {
  /** Undefined if it could not be started. */
  readonly #child: ChildProcess | undefined
  readonly #options: RunnerOptions
  readonly #exited: Promise<void>
  #hasExited = false
  #stderr = ''
  /** Why the system did not start it. */
  #startError: string | undefined
  /** Whether it has loaded its main module. */
  #isReady = false
  /** Whether code was missing that it needed later. */
  #isUnloadable = false
  #killedFor: RunnerDeath | undefined
  #report: DefectReport | undefined
  #peakBytes = 0
  #rssBytes = 0
  #aliveAt = performance.now()
  #progressAt = performance.now()
  #onMessage: ((message: FromRunner) => void) | undefined
  /** Jobs that it has begun. */
  jobs = 0
  /** The owner whose secrets the runner has held. It never works for another owner. */
  owner: string | undefined

  /** Whether the runner can start processes. Then it runs only one job. */
  readonly startsPrograms: boolean

  constructor(options: RunnerOptions, startsPrograms = false) {
    this.#options = options
    this.startsPrograms = startsPrograms
    try {
      this.#child = startProcess(options, startsPrograms)
    } catch (error) {
      this.#startError = systemCodeOf(error)
    }
    this.#exited = this.#listen()
    this.#send({ type: 'settings', settings: options.settings })
  }

  /** @returns resolves once the process has ended, or could not be started */
  #listen(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const child = this.#child
    const exited = () => {
      this.#hasExited = true
      resolve()
    }
    if (!child) {
      exited()
      return promise
    }
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrKeptLength)
    })
    child.on('message', (message: FromRunner) => this.#receive(message))
    child.on('error', (error) => {
      // A channel that broke: `exit` follows or has come.
      if (child.pid !== undefined) return child.kill('SIGKILL')
      this.#startError = systemCodeOf(error)
      exited()
    })
    child.once('exit', exited)
    return promise
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get isUsable(): boolean {
    return !this.#hasExited && this.#child?.connected === true && this.#killedFor === undefined && !this.#isUnloadable
  }

  /** Resident memory, in bytes: current if the system reports it, otherwise as the runner last reported it. */
  memoryBytes(): number {
    this.#rssBytes = rssOf(this.pid) ?? this.#rssBytes
    return this.#rssBytes
  }

  /**
   * Runs a job. Resolves with its result.
   * @param signal aborted with `EndJob` when the job must end
   * @throws RunnerDied if the runner dies before the end of the job
   */
  async run<J extends Job>(
    job: J,
    answer: AnswerCall,
    watch: Watch,
    signal: AbortSignal,
  ): Promise<JobResult<J['kind']>> {
    this.jobs++
    this.#peakBytes = 0
    this.#aliveAt = this.#progressAt = performance.now()
    const { promise, resolve } = Promise.withResolvers<JobResult<J['kind']>>()
    this.#onMessage = (message) => {
      if (message.type === 'done') resolve(message.result as JobResult<J['kind']>)
      else if (message.type === 'call') void this.#answer(message, answer)
    }
    let begun = performance.now()
    let watchedAt = begun
    let endBy = Number.POSITIVE_INFINITY
    const watcher = setInterval(() => {
      const sleptMs = performance.now() - watchedAt
      watchedAt += sleptMs
      if (sleptMs > sleptMsMin) {
        this.#aliveAt += sleptMs
        this.#progressAt += sleptMs
        begun += sleptMs
        endBy += sleptMs
      }
      const reason = this.#judge(watch, begun, endBy)
      if (reason) this.kill(reason)
    }, watchEveryMs)
    const end = () => {
      const { resumes = false, graceMs = 0 } = signal.reason instanceof EndJob ? signal.reason : {}
      endBy = performance.now() + graceMs
      this.#send({ type: 'end', resumes })
    }
    signal.addEventListener('abort', end, { once: true })
    try {
      this.#send({ type: 'job', job })
      if (signal.aborted) end()
      const result = await Promise.race([promise, this.#exited])
      if (result && (result.ok || result.error.kind !== 'unloadable')) return result
      if (result && !result.ok && result.error.kind === 'unloadable') this.#noteUnloadable(result.error.report)
      throw new RunnerDied(this.#deathReason(), this.#peakBytes, this.#reportOfDeath())
    } finally {
      clearInterval(watcher)
      signal.removeEventListener('abort', end)
      this.#onMessage = undefined
    }
  }

  /** Kills the runner immediately. Takes a reason if its job must report one. */
  kill(reason: RunnerDeath): void {
    this.#killedFor ??= reason
    this.#child?.kill('SIGKILL')
  }

  /** Kills it and resolves once it is gone. */
  async close(): Promise<void> {
    this.kill('not_ended')
    await this.#exited
  }

  /** Resolves once the process has ended, for whatever reason. */
  get exited(): Promise<void> {
    return this.#exited
  }

  #receive(message: FromRunner): void {
    this.#aliveAt = performance.now()
    if (message.type === 'alive') this.#rssBytes = message.rssBytes
    if (message.type === 'progress' || message.type === 'call') this.#progressAt = this.#aliveAt
    if (message.type === 'ready') this.#isReady = true
    if (message.type === 'crashed') {
      this.#report = message.report
      this.#isUnloadable = message.unloadable
      this.kill('runner_crashed')
    }
    this.#onMessage?.(message)
  }

  async #answer({ id, method, argument }: Extract<FromRunner, { type: 'call' }>, answer: AnswerCall): Promise<void> {
    try {
      const value = await answer(method, argument)
      // A wait that the transfer announces counts as progress.
      if (method === 'reportRetry') this.#progressAt = performance.now() + waitOf(argument)
      this.#send({ type: 'answer', id, value: value ?? null })
    } catch (error) {
      this.#send({ type: 'ended', id, resumes: error instanceof EndJob && error.resumes })
    }
  }

  #send(message: ToRunner): void {
    if (this.#child?.connected) this.#child.send(message, () => {})
  }

  /** Why it must be killed now, if it must. */
  #judge({ deadlineMs, progressMs }: Watch, begun: number, endBy: number): RunnerDeath | undefined {
    const now = performance.now()
    const bytes = this.memoryBytes()
    this.#peakBytes = Math.max(this.#peakBytes, bytes)
    if (bytes > this.#options.memoryBytesMax) return 'out_of_memory'
    if (now > endBy) return 'not_ended'
    if (deadlineMs !== undefined && now - begun > deadlineMs) return 'deadline'
    if (now - this.#aliveAt > this.#options.stallMs + protocolLimits.aliveMs) return 'no_progress'
    if (progressMs !== undefined && now - this.#progressAt > progressMs) return 'no_progress'
    return undefined
  }

  #noteUnloadable(report: DefectReport): void {
    this.#report = report
    this.#isUnloadable = true
  }

  #deathReason(): RunnerDeath {
    if (this.#isUnloadable || this.#startError !== undefined) return 'not_started'
    if (this.#killedFor && !(this.#killedFor === 'runner_crashed' && heapIsFull.test(this.#stderr)))
      return this.#killedFor
    if (heapIsFull.test(this.#stderr)) return 'out_of_memory'
    return this.#isReady ? 'runner_crashed' : 'not_started'
  }

  /** The report of its death. Of what it wrote before its code was loaded, only codes of Node are repeated. */
  #reportOfDeath(): DefectReport | undefined {
    const code =
      this.#startError ?? (this.#isReady ? undefined : /\b(?:ERR_[A-Z_]+|E[A-Z]{3,})\b/.exec(this.#stderr)?.[0])
    return this.#report ?? (code === undefined ? undefined : { type: 'Error', code, stack: '' })
  }
}

const systemCodeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? (error as Error).name

const waitOf = (argument: unknown): number => {
  const waitMs = (argument as { waitMs?: unknown } | null)?.waitMs
  return typeof waitMs === 'number' && waitMs > 0 ? waitMs : 0
}

const pageBytes = 4096

/** Resident memory of a process, in bytes. Undefined if the system does not report it; then runners report their own. */
function rssOf(pid: number | undefined): number | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * pageBytes
  } catch {
    return undefined
  }
}
