import type { Db } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import type { StreamSettings } from '../stream-settings.ts'
import * as queries from './queries.ts'

/** How long sums are cached, and organizations with cached sums. */
const cachedMs = 2_000
const cachedMax = 5_000
const retrySeconds = 60
const mebibyte = 1024 ** 2

type Sums = { readonly ofAccount: number; readonly total: number }

type StreamOwner = { readonly accountId: string; readonly organizationId: string }

/** Limits the size of the stored events per sub-account and organization. */
export class KeptBytes {
  readonly #database: Db
  readonly #most: StreamSettings
  readonly #cached = new Map<string, { readonly sums: Sums; readonly untilMs: number }>()

  constructor(database: Db, most: StreamSettings) {
    this.#database = database
    this.#most = most
  }

  /** Refuses with `rate_limited`, for a minute, if the sub-account or the organization of a stream keeps too much. */
  async check(of: StreamOwner): Promise<void> {
    const message = await this.whyFull(of)
    if (message !== undefined) refuse('rate_limited', [{ field: 'storage', message }], retrySeconds)
  }

  /** Why nothing more is stored for the sub-account, as the end of a sentence. `undefined` if there is room. */
  async whyFull({ accountId, organizationId }: StreamOwner): Promise<string | undefined> {
    const { ofAccount, total } = await this.#sumsOf(accountId, organizationId)
    const { accountMb, organizationMb } = this.#most
    const full = (of: string, mb: number, setting: string) =>
      `the streams of the ${of} keep ${mb} MiB of events, the most that ${setting} allows`
    if (ofAccount >= accountMb * mebibyte) return full('sub-account', accountMb, 'PENSTOCK_STREAMS_MB')
    if (total >= organizationMb * mebibyte) return full('organization', organizationMb, 'PENSTOCK_QUOTA_STREAMS_MB')
    return undefined
  }

  async #sumsOf(accountId: string, organizationId: string): Promise<Sums> {
    const nowMs = performance.now()
    const known = this.#cached.get(accountId)
    if (known && known.untilMs > nowMs) return known.sums
    const found = await queries.keptBytes.first(this.#database, { accountId, organizationId })
    const sums = found ?? { ofAccount: 0, total: 0 }
    this.#cached.delete(accountId)
    this.#cached.set(accountId, { sums, untilMs: nowMs + cachedMs })
    const [oldest] = this.#cached.keys()
    if (this.#cached.size > cachedMax && oldest !== undefined) this.#cached.delete(oldest)
    return sums
  }
}
