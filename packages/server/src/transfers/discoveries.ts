import { createHash } from 'node:crypto'
import type { DiscoveredPage } from '@penstock/connector'

/** How long an answer of a platform is given again. */
const keptMs = 120_000
const keptMax = 500

/** The answer of a platform, and its time: Unix time in seconds. */
export type Discovered = { readonly page: DiscoveredPage; readonly time: number }

/** Answers of platforms that this process keeps for two minutes, by a digest of all that they depend on, secrets included. */
export class Discoveries {
  readonly #kept = new Map<string, Discovered & { readonly untilMs: number }>()

  find(asked: unknown): Discovered | undefined {
    const kept = this.#kept.get(keyOf(asked))
    return kept && kept.untilMs > performance.now() ? kept : undefined
  }

  keep(asked: unknown, found: Discovered): void {
    const key = keyOf(asked)
    this.#kept.delete(key)
    this.#kept.set(key, { ...found, untilMs: performance.now() + keptMs })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= keptMax) return
      this.#kept.delete(oldest)
    }
  }
}

const keyOf = (asked: unknown): string => createHash('sha256').update(JSON.stringify(asked)).digest('base64')
