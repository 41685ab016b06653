import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '@penstock/wire'
import type { Database } from '../../db/database.ts'
import { saveAttempts } from './queries.ts'

/** How an attempt ended. */
export type AttemptResult = {
  readonly id: string
  readonly webhookId: string
  readonly number: number
  readonly outcome: 'delivered' | 'retried' | 'failed'
  readonly time: Date
  readonly durationMs: number
  readonly responseStatus: number | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  /** Sealed, in base64. */
  readonly answer: string | null
  readonly nextTime: Date | null
}

type Waiting = { readonly result: AttemptResult; resolve(failing: boolean): void; reject(error: unknown): void }

const atOnceMax = 500
const tries = 3
const retryMs = 500

/** Stores how attempts ended, many with one statement: while one is stored, the others collect. */
export class AttemptSaver {
  readonly #database: Database
  readonly #leaseId: string
  readonly #now: () => Date
  readonly #onFailure: (error: unknown) => void
  #waiting: Waiting[] = []
  #active = false

  constructor(database: Database, leaseId: string, now: () => Date, onFailure: (error: unknown) => void) {
    this.#database = database
    this.#leaseId = leaseId
    this.#now = now
    this.#onFailure = onFailure
  }

  /** Resolves when the result is stored, with whether the webhook has failed for so long that it must be disabled. */
  save(result: AttemptResult): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ result, resolve, reject })
      if (!this.#active) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#active = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, atOnceMax)
      try {
        const failing = await this.#store(batch.map(({ result }) => result))
        for (const { result, resolve } of batch) resolve(failing.has(result.webhookId))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#active = false
  }

  async #store(results: readonly AttemptResult[]): Promise<Set<string>> {
    const failedSince = new Date(this.#now().getTime() - limits.webhookFailureDays * 86_400_000)
    for (let tried = 1; ; tried++) {
      try {
        const rows = await saveAttempts.all(this.#database, {
          leaseId: this.#leaseId,
          results: JSON.stringify(results),
          failedSince,
          attemptsMax: limits.webhookAttemptsMax,
        })
        return new Set(rows.flatMap(({ id }) => (id === null ? [] : [id])))
      } catch (error) {
        this.#onFailure(error)
        if (tried === tries) throw error
        await delay(retryMs)
      }
    }
  }
}
