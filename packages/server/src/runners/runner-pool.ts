import { availableParallelism } from 'node:os'
import type { ProgramWall } from '@penstock/connectors/programs'
import type { HostMethod, Job, JobError, JobResult } from '@penstock/engine'
import type { Logger } from '../log.ts'
import { OwnCode } from './own-code.ts'
import { takeProgramUser } from './program-users.ts'
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
 * Where connector code runs: in separate processes, one job at a time each. So connector code can affect neither the process
 * that answers the API nor the process of another job.
 */
export type Runners = {
  /**
   * Runs a job. Resolves with its result.
   * @throws RunnerDied if its runner dies; the reason of the signal if nothing was begun yet
   */
  run<J extends Job>(job: J, options: RunOptions): Promise<JobResult<J['kind']>>
  stats(): RunnerStats
  /** Whether runners could not start or load their code shortly before, so that no more work is begun yet. */
  readonly isPaused: boolean
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
  /** Whether requests wait for each step of the job: it has the priority of the service, and a runner that no other owner waits for. */
  readonly isUrgent?: boolean
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

/** A runner is replaced after this number of jobs, or when it uses more than this part of its memory limit. */
const jobsMax = 2_000
const keptMemoryPart = 0.5
/** How long a runner waits for the next job of its owner, in milliseconds. */
const idleMs = 10_000
const idleMax = 4
/** How long after its use the unused runner is replaced. The job that uses it has priority. */
const spareDelayMs = 500

export type PoolOptions = RunnerOptions & {
  /** Whether one unused runner is always ready, so that a job need not wait for a process to start. */
  readonly spare: boolean
  /**
   * Whether a connector is a program, according to the present folder of added connectors. By default, no connector is a
   * program.
   */
  readonly isProgram?: (slug: string) => boolean
  /** Identifies the present code of an added connector. Undefined for connectors of the catalogue. */
  readonly codeOf?: (slug: string) => string | undefined
  /** Finds what isolates programs from each other, when the first program runs. */
  readonly findWall?: () => ProgramWall
}

/** The connectors of a job. */
const slugsOf = (job: Job): readonly string[] => {
  if (job.kind === 'transfer') return job.connectors
  if (job.kind === 'preview') return [job.source.slug, job.destination.slug]
  return 'connector' in job ? [job.connector.slug] : []
}

const isMissingConnector = (error: JobError): boolean =>
  error.kind === 'connector' && error.code === 'connector_missing'

/** Errors that a runner can meet if its code was replaced after its supervisor had started. */
const mayBeOfCode = (error: JobError): boolean => error.kind === 'defect' || isMissingConnector(error)

const cannotStart =
  'a runner could not start, or could not load its code; its work is tried again, here or by another worker. If an upgrade replaced the files of this process, restart it; otherwise look at the free memory, processes, open files and disk space of this machine'

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
    not_started: 0,
  }
  /** Node remembers that an import failed, so a retry needs another process. */
  const failedToLoad = new WeakSet<RunnerProcess>()
  /** The code of added connectors that each runner has loaded. */
  const loadedCodes = new WeakMap<RunnerProcess, ReadonlyMap<string, string>>()
  const waiting = new WaitingJobs()
  const ownCode = new OwnCode()
  let spare: RunnerProcess | undefined
  let spareTimer: NodeJS.Timeout | undefined
  let isClosed = false
  let running = 0

  const start = (): RunnerProcess => track(new RunnerProcess(options))
  const track = (runner: RunnerProcess): RunnerProcess => {
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
  const dismiss = (runner: RunnerProcess) => {
    const at = idle.findIndex((one) => one.runner === runner)
    if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.timer)
    void runner.close()
  }
  /** The code of added connectors that a job needs. */
  const codesOf = (job: Job): ReadonlyMap<string, string> =>
    new Map(
      slugsOf(job).flatMap((slug) => {
        const code = options.codeOf?.(slug)
        return code === undefined ? [] : [[slug, code]]
      }),
    )
  /** Whether the runner has not loaded another version of a connector: Node keeps the first one. */
  const hasCodes = (runner: RunnerProcess, codes: ReadonlyMap<string, string>): boolean =>
    [...codes].every(([slug, code]) => (loadedCodes.get(runner)?.get(slug) ?? code) === code)
  const takeIdle = (owner: string, codes: ReadonlyMap<string, string>): RunnerProcess | undefined => {
    const at = idle.findLastIndex(({ runner }) => runner.owner === owner && runner.isUsable && hasCodes(runner, codes))
    if (at < 0) return undefined
    const [found] = idle.splice(at, 1)
    clearTimeout(found?.timer)
    return found?.runner
  }
  const take = async (owner: string, codes: ReadonlyMap<string, string>): Promise<RunnerProcess> => {
    const atWork = [...all].filter((runner) => runner.owner === owner && runner.isUsable).length
    const kept = takeIdle(owner, codes) ?? (atWork < availableParallelism() ? undefined : await waiting.wait(owner))
    if (kept && hasCodes(kept, codes)) return kept
    if (kept) dismiss(kept)
    if (isClosed) throw new EndJob(true, 0)
    const runner = spare?.isUsable ? spare : start()
    if (runner === spare) spare = undefined
    runner.owner = owner
    return runner
  }
  const startUrgent = (owner: string): RunnerProcess => {
    const runner = track(new RunnerProcess({ ...options, isUrgent: true }))
    runner.owner = owner
    return runner
  }
  /** A runner that crashes after its code was replaced says nothing about its job. */
  const deathOf = async (died: RunnerDied): Promise<RunnerDied> =>
    died.reason === 'runner_crashed' && (await ownCode.hasChanged())
      ? new RunnerDied('not_started', died.peakBytes, died.report)
      : died
  const hasProgram = (job: Job) => options.isProgram !== undefined && slugsOf(job).some(options.isProgram)
  const startFor = (owner: string): RunnerProcess => {
    const programWall = options.findWall?.()
    const own = programWall?.kind === 'user' ? takeProgramUser(options.user) : undefined
    const settings = { ...options.settings, ...(programWall && { programWall }) }
    const runner = track(new RunnerProcess({ ...options, settings, user: own?.user ?? options.user }, true))
    if (own) void runner.exited.then(own.giveBack)
    runner.owner = owner
    return runner
  }
  const isReusable = (runner: RunnerProcess) =>
    !isClosed &&
    !failedToLoad.has(runner) &&
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
    async run(job, { owner, watch, signal, answer = refuseCall, isUrgent = false, about = {} }) {
      signal.throwIfAborted()
      if (isClosed) throw new EndJob(true, 0)
      const codes = codesOf(job)
      const urgent = isUrgent ? (takeIdle(owner, codes) ?? startUrgent(owner)) : undefined
      const runner = hasProgram(job) ? startFor(owner) : (urgent ?? (await take(owner, codes)))
      loadedCodes.set(runner, new Map([...(loadedCodes.get(runner) ?? []), ...codes]))
      running++
      try {
        const result = await runner.run(job, answer, watch, signal)
        if (!result.ok && isMissingConnector(result.error)) failedToLoad.add(runner)
        if (!result.ok && mayBeOfCode(result.error) && (await ownCode.hasChanged())) {
          throw new RunnerDied('not_started', 0, 'report' in result.error ? result.error.report : undefined)
        }
        ownCode.worked()
        return result
      } catch (thrown) {
        if (!(thrown instanceof RunnerDied) || isClosed) throw thrown
        const error = await deathOf(thrown)
        deaths[error.reason]++
        const { reason, peakBytes, report } = error
        const peakMemoryMb = Math.round(peakBytes / 1024 ** 2)
        log.warn({ ...about, job: job.kind, owner, reason, peakMemoryMb, report }, 'runner died during its job')
        if (reason === 'not_started') {
          ownCode.failed()
          log.error({ report }, cannotStart)
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
    get isPaused() {
      return ownCode.isPaused
    },
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
