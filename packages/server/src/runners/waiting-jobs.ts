import { cpus } from 'node:os'
import type { RunnerProcess } from './runner-process.ts'

/** How often it is asked whether another runner would help, in milliseconds. */
const lookEveryMs = 250
/** How many processors must have been idle in the meantime, so that another runner helps. */
const idleMin = 0.5
/** How long the jobs of an owner wait at most until it gets another runner, in milliseconds. */
const waitMostMs = 5_000

type Waiting = {
  /** The job that has waited longest comes first. Each gets a runner, or undefined if it must start one. */
  readonly jobs: ((runner: RunnerProcess | undefined) => void)[]
  grownAt: number
}

/**
 * Jobs that wait for a free runner of their owner, because the owner already has one runner per processor. A new runner costs
 * half a second of processor time until it is warm. All runners lose that time if no processor is idle. So many short jobs
 * share a few runners, and jobs that wait for remote servers soon get their own.
 */
export class WaitingJobs {
  readonly #waiting = new Map<string, Waiting>()
  #timer: NodeJS.Timeout | undefined
  #times = processorTimes()

  /** Resolves with a runner of the owner, or with nothing once the job is to start one. */
  wait(owner: string): Promise<RunnerProcess | undefined> {
    if (!this.#timer) {
      this.#times = processorTimes()
      this.#timer = setInterval(() => this.#grow(), lookEveryMs)
    }
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(owner)
      if (waiting) waiting.jobs.push(resolve)
      else this.#waiting.set(owner, { jobs: [resolve], grownAt: performance.now() })
    })
  }

  /** Gives a runner, or the permission to start one, to the job of the owner that has waited longest. */
  hand(owner: string, runner: RunnerProcess | undefined): boolean {
    const waiting = this.#waiting.get(owner)
    const job = waiting?.jobs.shift()
    if (waiting?.jobs.length === 0) this.#waiting.delete(owner)
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    job?.(runner)
    return job !== undefined
  }

  /** Releases all waiting jobs. */
  end(): void {
    for (const owner of [...this.#waiting.keys()]) while (this.hand(owner, undefined));
  }

  #grow(): void {
    const before = this.#times
    this.#times = processorTimes()
    const passed = this.#times.all - before.all
    let idle = passed > 0 ? ((this.#times.idle - before.idle) / passed) * this.#times.count : 0
    for (const [owner, waiting] of [...this.#waiting]) {
      const now = performance.now()
      if (idle < idleMin && now - waiting.grownAt < waitMostMs) continue
      waiting.grownAt = now
      idle--
      this.hand(owner, undefined)
    }
  }
}

/** Milliseconds of all processors of the machine since it started. */
function processorTimes(): { readonly idle: number; readonly all: number; readonly count: number } {
  const each = cpus().map(({ times }) => times)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return {
    idle: sum(each.map(({ idle }) => idle)),
    all: sum(each.map(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq)),
    count: each.length,
  }
}
