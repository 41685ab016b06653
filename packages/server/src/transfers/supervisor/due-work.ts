import type { Logger } from '../../log.ts'
import type { SupervisorDeps } from './deps.ts'

const atOnce = 10

/** Work on connections that is due, in every worker, for up to ten at the same time. Nothing waits for it, not even other work. */
export abstract class DueWork<Row extends { readonly connectionId: string }> {
  protected readonly deps: SupervisorDeps
  protected readonly log: Logger
  protected readonly stopping: AbortSignal
  readonly #active = new Set<Promise<void>>()

  /** @param stopping ends what is being worked on */
  constructor(deps: SupervisorDeps, log: Logger, stopping: AbortSignal) {
    this.deps = deps
    this.log = log
    this.stopping = stopping
  }

  /** For the log, if work on a connection rejects. */
  protected abstract readonly failure: string
  /** Takes what is due, and puts each off. */
  protected abstract take(limit: number): Promise<Row[]>
  protected abstract work(row: Row): Promise<void>

  /** Begins with what is due, and waits for nothing. */
  begin = async (): Promise<void> => {
    const limit = atOnce - this.#active.size
    if (limit <= 0) return
    for (const row of await this.take(limit)) {
      const done = this.work(row)
        .catch((err) => this.log.warn({ err, connectionId: row.connectionId }, this.failure))
        .finally(() => this.#active.delete(done))
      this.#active.add(done)
    }
  }

  /** Resolves once nothing is being worked on. */
  async ended(): Promise<void> {
    await Promise.all(this.#active)
  }
}
