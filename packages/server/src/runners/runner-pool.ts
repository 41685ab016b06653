import { availableParallelism } from 'node:os'
import type { HostMethod, Job, JobResult } from '@penstock/engine'
import type { Logger } from '../log.ts'
import {
  EndJob,
  type RunnerDeath,
  RunnerDied,
  type RunnerOptions,
  RunnerProcess,
  type Watch,
} from './runner-process.ts'
import { WaitingJobs } from './waiting-jobs.ts'

/**
 * Where connector code runs: in separate processes, one job at a time each. Neither the process that answers the API
 * nor that of another job is affected by what happens there.
 */
export type Runners = {
  /**
   * Runs a job. Resolves with its result.
   * @throws RunnerDied where its runner dies; the reason of the signal if nothing was begun yet
   */
  run<J extends Job>(job: J, options: RunOptions): Promise<JobResult<J['kind']>>
  stats(): RunnerStats
  /** Ends every runner. */
  close(): Promise<void>
}

export type RunOptions = {
  /** Whose secrets the job holds: its runner never works for another owner. */
  readonly owner: string
  readonly watch: Watch
  /** Aborted with `EndJob` when the job must end. */
  readonly signal: AbortSignal
  /** Answers what the job asks of its supervisor; if absent, any such call ends the job. */
  readonly answer?: (method: HostMethod, argument: unknown) => Promise<unknown>
  /** Fields of the log line, should the runner die. */
  readonly about?: Readonly<Record<string, unknown>>
}

export type RunnerStats = {
  readonly running: number
  readonly idle: number
  /** Resident memory of all runners, in bytes. */
  readonly memoryBytes: number
  /** Runners that died in a job, since the start, by reason. */
  readonly deaths: Readonly<Record<RunnerDeath, number>>
}

/** Jobs after which a runner is replaced, and the part of the memory it may have with which none is kept. */
const jobsMax = 2_000
const keptMemoryPart = 0.5
/** How long a runner waits for the next job of its owner, in milliseconds. */
const idleMs = 10_000
const idleMax = 4
/** How long after its use the unused runner is replaced: the job that uses it comes first. */
const spareDelayMs = 500

export type PoolOptions = RunnerOptions & {
  /** Whether one unused runner is always ready, so that a job need not wait for a process to start. */
  readonly spare: boolean
  /** The slugs of connectors that are programs; none unless given. */
  readonly programs?: readonly string[]
}

/** The connectors of a job. */
const slugsOf = (job: Job): readonly string[] => {
  if (job.kind === 'transfer') return job.connectors
  if (job.kind === 'preview') return [job.source.slug, job.destination.slug]
  return job.kind === 'check' || job.kind === 'discovery' || job.kind === 'ask' ? [job.connector.slug] : []
}

export function createRunnerPool(options: PoolOptions, log: Logger): Runners {
  const all = new Set<RunnerProcess>()
  /** Runners that have finished a job and wait for more of the same owner, longest idle first. */
  const idle: { runner: RunnerProcess; timer: NodeJS.Timeout }[] = []
  const deaths: Record<RunnerDeath, number> = {
    out_of_memory: 0,
    no_progress: 0,
    deadline: 0,
    runner_crashed: 0,
    not_ended: 0,
  }
  const waiting = new WaitingJobs()
  let spare: RunnerProcess | undefined
  let spareTimer: NodeJS.Timeout | undefined
  let isClosed = false
  let running = 0

  const start = (startsPrograms = false): RunnerProcess => {
    const runner = new RunnerProcess(options, startsPrograms)
    all.add(runner)
    void runner.exited.then(() => all.delete(runner))
    return runner
  }
  const prepareSpare = () => {
    if (options.spare && !isClosed && !spare?.isUsable) spare = start()
  }
  const prepareSpareSoon = () => {
    clearTimeout(spareTimer)
    spareTimer = setTimeout(prepareSpare, spareDelayMs).unref()
  }
  const takeIdle = (owner: string): RunnerProcess | undefined => {
    const at = idle.findLastIndex(({ runner }) => runner.owner === owner && runner.isUsable)
    if (at < 0) return undefined
    const [found] = idle.splice(at, 1)
    clearTimeout(found?.timer)
    return found?.runner
  }
  const take = async (owner: string): Promise<RunnerProcess> => {
    const atWork = [...all].filter((runner) => runner.owner === owner && runner.isUsable).length
    const kept = takeIdle(owner) ?? (atWork < availableParallelism() ? undefined : await waiting.wait(owner))
    if (kept) return kept
    if (isClosed) throw new EndJob(true, 0)
    const runner = spare?.isUsable ? spare : start()
    if (runner === spare) spare = undefined
    runner.owner = owner
    return runner
  }
  const hasProgram = (job: Job) => options.programs?.some((slug) => slugsOf(job).includes(slug))
  const startFor = (owner: string): RunnerProcess => {
    const runner = start(true)
    runner.owner = owner
    return runner
  }
  const dismiss = (runner: RunnerProcess) => {
    const at = idle.findIndex((one) => one.runner === runner)
    if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.timer)
    void runner.close()
  }
  const isReusable = (runner: RunnerProcess) =>
    !isClosed &&
    !runner.startsPrograms &&
    runner.isUsable &&
    runner.jobs < jobsMax &&
    runner.memoryBytes() <= options.memoryBytesMax * keptMemoryPart
  const keepIdle = (runner: RunnerProcess) => {
    idle.push({ runner, timer: setTimeout(dismiss, idleMs, runner).unref() })
    const longest = idle[0]
    if (idle.length > idleMax && longest) dismiss(longest.runner)
  }
  const giveBack = (runner: RunnerProcess) => {
    const reusable = isReusable(runner) ? runner : undefined
    if (!reusable) dismiss(runner)
    if (runner.owner !== undefined && waiting.hand(runner.owner, reusable)) return
    if (reusable) keepIdle(reusable)
  }

  prepareSpare()
  return {
    async run(job, { owner, watch, signal, answer = refuseCall, about = {} }) {
      signal.throwIfAborted()
      if (isClosed) throw new EndJob(true, 0)
      const runner = hasProgram(job) ? startFor(owner) : await take(owner)
      running++
      try {
        return await runner.run(job, answer, watch, signal)
      } catch (error) {
        if (error instanceof RunnerDied && !isClosed) {
          deaths[error.reason]++
          const { reason, peakBytes, report } = error
          const peakMemoryMb = Math.round(peakBytes / 1024 ** 2)
          log.warn({ ...about, job: job.kind, owner, reason, peakMemoryMb, report }, 'runner died during its job')
        }
        throw error
      } finally {
        running--
        giveBack(runner)
        prepareSpareSoon()
      }
    },
    stats: () => ({
      running,
      idle: all.size - running,
      memoryBytes: [...all].reduce((sum, runner) => sum + runner.memoryBytes(), 0),
      deaths: { ...deaths },
    }),
    async close() {
      isClosed = true
      clearTimeout(spareTimer)
      waiting.end()
      for (const { timer } of idle) clearTimeout(timer)
      await Promise.all([...all].map((runner) => runner.close()))
    },
  }
}

const refuseCall = async (): Promise<never> => {
  throw new EndJob(false, 0)
}
