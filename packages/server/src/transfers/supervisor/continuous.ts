import { setTimeout as delay } from 'node:timers/promises'
import { scheduleActor } from '../../audit/record.ts'
import type { Logger } from '../../log.ts'
import { blackoutEnd } from '../blackouts.ts'
import { noteStarts, takeContinuous } from './continuous-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { type StartDeps, startMany } from './start-many.ts'

/** Starts transfers of connections with a continuous schedule as soon as there are events for them; in every worker. */

/** Connections of one transaction, which holds them. */
const dueAtOnce = 100
/** After a transfer without success, which has tried for a while itself. */
const againSeconds = 60
/** Notices come with every commit of events; one look serves all of this time. */
const gatherMs = 50

type ContinuousDeps = Pick<SupervisorDeps, 'database'> & StartDeps

/** Starts what is due. @param streams of which there are new events; null: looks at all */
export async function startContinuous(
  { database, catalogue, settings }: ContinuousDeps,
  streams: readonly string[] | null,
  log: Logger,
): Promise<void> {
  for (let taken = dueAtOnce; taken === dueAtOnce; ) {
    taken = await database.transaction(async (tx) => {
      const rows = await takeContinuous.all(tx, { streams, limit: dueAtOnce, againSeconds })
      const due = rows.filter(({ blackout, now }) => !(blackout && blackoutEnd(blackout, now)))
      if (due.length === 0) return 0
      const actors = due.map((row) => ({ ...row, startedBy: scheduleActor(row.connectionId) }))
      const deps = settings ? { catalogue, settings } : { catalogue }
      await startMany(tx, deps, actors, { trigger: 'schedule', log, isAudited: false })
      await noteStarts.run(tx, { connectionIds: due.map(({ connectionId }) => connectionId) })
      return due.length === rows.length ? rows.length : 0
    })
  }
}

/** Looks after notices of new events, and after transfers that ended, once for all that come within a short time. */
export class ContinuousStarts {
  readonly #start: (streams: readonly string[]) => Promise<void>
  readonly #log: Logger
  readonly #signal: AbortSignal
  readonly #streams = new Set<string>()
  #running: Promise<void> | undefined

  constructor(deps: ContinuousDeps, log: Logger, signal: AbortSignal) {
    this.#start = (streams) => startContinuous(deps, streams, log)
    this.#log = log
    this.#signal = signal
  }

  /** There may be events of a stream for a connection without an active transfer. */
  readonly wake = (stream: string): void => {
    if (this.#signal.aborted) return
    this.#streams.add(stream)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves once nothing is started any more. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#streams.size > 0 && !this.#signal.aborted) {
      const streams = [...this.#streams]
      this.#streams.clear()
      // A failure is made up for by the next look of the upkeep.
      await this.#start(streams).catch((err) => this.#log.warn({ err }, 'continuous transfers could not be started'))
      await delay(gatherMs, undefined, { signal: this.#signal }).catch(() => {})
    }
  }
}
