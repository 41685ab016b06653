import { setTimeout as delay } from 'node:timers/promises'
import type { SecretHost, SecretLease } from '@penstock/engine'
import { limits } from '@penstock/wire'
import type { Database } from '../db/database.ts'
import { isAway } from '../db/errors.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type HeldLease, leaseSecret, releaseSecret, replaceSecret } from '../secrets/leases.ts'
import { membersOf } from './runner-messages.ts'
import { type ConfiguredSide, requireSameDestination } from './sides.ts'

/** Rights that one job may have at once; a connector has a few secrets, and renews one. */
const leasesMax = 16
/** How often, and after how long, a new value is saved again while the database is away: the platform takes no other. */
const saveTries = 20
const saveAgainMs = 1_000

/**
 * Answers what the runner of one job asks about the secrets of its connectors. Its calls are not trusted: they reach
 * only the secrets of these configurations.
 */
export class JobSecrets {
  readonly #deps: { readonly database: Database; readonly keyring: Keyring }
  readonly #sides: readonly ConfiguredSide[]
  readonly #held = new Map<string, HeldLease>()
  #isClosed = false

  /** @param sides the configurations of the job's connectors; none, and the job has no secrets */
  constructor(
    { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
    sides: readonly ConfiguredSide[] = [],
  ) {
    this.#deps = { database, keyring }
    this.#sides = sides
  }

  /**
   * Throws if a runner asks for what no connector of the job can ask for, if the database is away, and a ConnectorError as
   * {@link requireSameDestination} does.
   */
  async answer(method: keyof SecretHost, argument: unknown): Promise<unknown> {
    switch (method) {
      case 'leaseSecret':
        return this.#lease(argument)
      case 'replaceSecret':
        return this.#replace(argument)
      case 'releaseSecret':
        return this.#release(argument)
    }
  }

  /** Gives back what the job still holds, however it ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    const held = [...this.#held.values()]
    this.#held.clear()
    // Leases that cannot be released while the database is unavailable expire.
    await Promise.all(held.map((lease) => releaseSecret(this.#deps.database, lease).catch(() => {})))
  }

  async #lease(argument: unknown): Promise<SecretLease> {
    const { slug, configurationId, key } = membersOf(argument)
    const side = this.#sides.find((one) => one.connector.slug === slug && one.configurationId === configurationId)
    const field = typeof key === 'string' && side && Object.hasOwn(side.connector.secrets, key)
    if (!field || side.connector.secrets[key]?.type !== 'Password') throw notAllowed()
    if (this.#held.size >= leasesMax) throw notAllowed()
    const { database, keyring } = this.#deps
    const { accountId, connector } = side
    const secret = { accountId, connectorId: connector.id, configurationId: side.configurationId, name: key }
    const lease = await leaseSecret(database, keyring, secret)
    if (typeof lease === 'string') return { state: lease }
    this.#held.set(lease.id, lease)
    // A runner that was killed asked for it.
    if (this.#isClosed) await this.close()
    await requireSameDestination(database, side)
    return { state: 'leased', leaseId: lease.id, value: lease.value }
  }

  async #replace(argument: unknown): Promise<string | null> {
    const { leaseId, value } = membersOf(argument)
    const isValid = typeof value === 'string' && value !== '' && value.length <= limits.secretLengthMax
    if (!isValid) throw notAllowed()
    const lease = this.#take(leaseId)
    const { database, keyring } = this.#deps
    for (let tries = 1; ; tries++) {
      try {
        return await replaceSecret(database, keyring, lease, value)
      } catch (error) {
        if (!isAway(error) || tries === saveTries) throw error
        await delay(saveAgainMs)
      }
    }
  }

  async #release(leaseId: unknown): Promise<null> {
    await releaseSecret(this.#deps.database, this.#take(leaseId))
    return null
  }

  #take(leaseId: unknown): HeldLease {
    const lease = typeof leaseId === 'string' ? this.#held.get(leaseId) : undefined
    if (!lease) throw notAllowed()
    this.#held.delete(lease.id)
    return lease
  }
}

const notAllowed = (): Error => new Error('A runner asked for a secret that is not of its job, or not in its form')
