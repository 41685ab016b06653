import { setTimeout as delay } from 'node:timers/promises'
import { type Connector, ConnectorError } from '@penstock/connector'
import { limits } from '@penstock/wire/rules'
import type { SecretHost, SecretReference } from './protocol.ts'
import { pause } from './transfer/retries.ts'

/** A secret to replace, and the connector that it belongs to. */
export type SecretToSave = {
  readonly connector: Connector
  readonly reference: SecretReference
  /** Aborted when it is no longer waited for. */
  readonly signal: AbortSignal
  /** Called with each value that must not appear in reports. */
  readonly note: (secret: string) => void
}

/** Times in milliseconds. */
const usualBounds = {
  /** Maximum duration of creating a new value. The lease of the supervisor lasts longer. */
  renewMs: 30_000,
  /** How long to wait for another job that replaces the same secret: longer than a crashed job keeps its lease. */
  busyMs: 90_000,
}
const firstWaitMs = 20
const mostWaitMs = 1_000

/** Replaces saved secrets for one job, through its supervisor. Only one job at a time replaces a secret. */
export class SecretSaver {
  readonly #host: SecretHost
  readonly #bounds: typeof usualBounds
  readonly #saving = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(host: SecretHost, bounds = usualBounds) {
    this.#host = host
    this.#bounds = bounds
  }

  /** `saveSecret` of a connector's context. */
  async save(secret: SecretToSave, renew: (current: string) => Promise<string>): Promise<string> {
    const { type } = secret.connector.secrets[secret.reference.key] ?? {}
    if (type !== 'Password') throw new Error('A connector saves a secret that it does not have')
    const { leaseId, value } = await this.#lease(secret)
    const saving = this.#replace(secret, leaseId, value, renew)
    this.#saving.add(saving)
    try {
      return await saving
    } finally {
      this.#saving.delete(saving)
    }
  }

  /**
   * Waits until a value that is being replaced is saved, because the platform may no longer accept the old value. Afterwards
   * nothing is replaced.
   */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The job has ended'))
    while (this.#saving.size > 0) await Promise.allSettled(this.#saving)
  }

  /** Waits for the right to replace the secret. */
  async #lease(secret: SecretToSave): Promise<{ leaseId: string; value: string }> {
    const signal = AbortSignal.any([secret.signal, this.#closing.signal])
    const { busyMs } = this.#bounds
    const untilMs = performance.now() + busyMs
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(mostWaitMs, waitMs * 2)) {
      signal.throwIfAborted()
      const lease = await this.#host.leaseSecret(secret.reference)
      if (lease.state === 'leased') {
        secret.note(lease.value)
        if (!signal.aborted) return lease
        await this.#release(lease.leaseId)
        throw signal.reason
      }
      if (lease.state === 'missing') {
        throw new ConnectorError('invalid_credentials', `${labelOf(secret)} is not saved in the connector; save it.`)
      }
      if (lease.state === 'reference') {
        const message = `${labelOf(secret)} is a reference to a secret manager, and the platform issues a new value with each use, which cannot be saved there. Save the value itself in the connector.`
        throw new ConnectorError('invalid_setting', message)
      }
      if (performance.now() > untilMs) {
        const message = `Another transfer has been renewing ${labelOf(secret)} for ${busyMs / 1000} seconds.`
        throw new ConnectorError('conflict', message)
      }
      await pause(waitMs, signal)
    }
  }

  async #replace(
    secret: SecretToSave,
    leaseId: string,
    value: string,
    renew: (current: string) => Promise<string>,
  ): Promise<string> {
    let next: string
    try {
      next = await inTime(secret, renew(value), this.#bounds.renewMs)
      if (typeof next !== 'string' || next === '' || next.length > limits.secretLengthMax) {
        throw new ConnectorError('malformed_response', `The new value of ${labelOf(secret)} cannot be saved.`)
      }
    } catch (error) {
      await this.#release(leaseId)
      throw error
    }
    secret.note(next)
    if (next === value) {
      await this.#release(leaseId)
      return next
    }
    const saved = await this.#host.replaceSecret({ leaseId, value: next })
    if (saved === null) {
      const message = `${labelOf(secret)} was removed from the connector while it was renewed; save it again.`
      throw new ConnectorError('invalid_credentials', message)
    }
    secret.note(saved)
    return saved
  }

  /** A lease that cannot be released expires after a while. */
  #release(leaseId: string): Promise<void> {
    return this.#host.releaseSecret(leaseId).catch(() => {})
  }
}

const labelOf = ({ connector, reference: { key } }: SecretToSave): string => connector.secrets[key]?.label ?? key

async function inTime(secret: SecretToSave, renewing: Promise<string>, renewMs: number): Promise<string> {
  const done = new AbortController()
  const late = delay(renewMs, undefined, { signal: done.signal }).then(() => {
    throw new ConnectorError('timeout', `${labelOf(secret)} was not renewed within ${renewMs / 1000} seconds.`)
  })
  try {
    return await Promise.race([renewing, late])
  } finally {
    done.abort()
    late.catch(() => {})
  }
}
