import type { KeptSessions } from '@penstock/connector'

type Kept = Parameters<KeptSessions['keep']>[1]

/** How long a session waits for the next part, in milliseconds. */
const waitMs = 5_000
/** Most sessions that wait: more than a part uses concurrently. */
const keptMax = 4

/** The sessions with servers that the parts of one transfer leave open for each other in a runner. */
export class RunnerSessions {
  #transferId: string | undefined
  /** The job that keeps and takes sessions now. */
  #job: object | undefined
  #kept: { readonly key: string; readonly kept: Kept }[] = []
  #timer: NodeJS.Timeout | undefined

  /** For a part of this transfer. Closes the sessions of any other transfer. */
  of(transferId: string): KeptSessions {
    clearTimeout(this.#timer)
    if (transferId !== this.#transferId) this.#close()
    this.#transferId = transferId
    const job = {}
    this.#job = job
    return {
      take: (key) => {
        const at = this.#kept.findIndex((one) => one.key === key)
        return at < 0 ? undefined : this.#kept.splice(at, 1)[0]?.kept
      },
      keep: (key, kept) => {
        if (this.#job !== job || this.#kept.length >= keptMax) return false
        this.#kept.push({ key, kept })
        return true
      },
    }
  }

  /** The job has ended: closes the sessions soon, unless another part of the transfer uses them. */
  wait(): void {
    this.#job = undefined
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#close(), waitMs)
  }

  #close(): void {
    for (const { kept } of this.#kept.splice(0)) void kept.session.close()
  }
}
