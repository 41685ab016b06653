import type { Json } from '@penstock/connector'
import { objectIn, textIn } from '../json.ts'

/** How a platform finds and makes audiences. */
export type AudienceDirectory = {
  /** The identifier of the audience with this name; of several, always the same one. */
  find(name: string): Promise<string | undefined>
  /** Makes an audience and resolves with its identifier. Absent if one is made with its first people alone. */
  make?: ((name: string) => Promise<string>) | undefined
  /** Whether the platform lists its audiences; without it, all that were made are kept in the state. */
  isListed?: boolean
  /** Whether a cached audience still exists. */
  exists(id: string): Promise<boolean>
}

/** If there are more, audiences are looked up by name again, so that the state of a connection stays small. */
const cachedMax = 100
/** So many are kept of a platform that lists none. */
const unlistedMax = 1000

/**
 * The audiences that a transfer means by name. An audience is looked for before it is made, so that a crash between making
 * and storing it leaves no second one behind; what was found or made is stored for the connection's next transfers,
 * so that it stays the same where it is renamed at the platform.
 */
export class NamedAudiences {
  readonly #directory: AudienceDirectory
  readonly #account: string
  readonly #ownName: string
  readonly #cached: Map<string, string>
  /** Found out in this transfer. */
  readonly #known = new Map<string, string>()

  /**
   * @param state the state of the connection
   * @param account whose audiences they are; the state of another account does not count
   * @param ownName the name of the audience that is made for rows which name none
   */
  constructor(state: Json | undefined, account: string, ownName: string, directory: AudienceDirectory) {
    const cached = objectIn(state)
    const { audienceId, audiences } = cached.account === account ? cached : {}
    this.#account = account
    this.#directory = directory
    this.#ownName = ownName
    this.#cached = new Map(
      Object.entries(objectIn(audiences)).flatMap(([name, id]) => (textIn(id) ? [[name, String(id)]] : [])),
    )
    const own = textIn(audienceId)
    if (own) this.#cached.set('', own)
  }

  /**
   * The identifier of an audience.
   * @param name absent for the connection's own one
   * @param makes whether it is made if there is none
   */
  async idOf(name: string | undefined, makes: boolean): Promise<string | undefined> {
    const key = name ?? ''
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const cached = this.#cached.get(key)
    const lasting = cached !== undefined && (await this.#directory.exists(cached)) ? cached : undefined
    const found = lasting ?? (await this.#directory.find(name ?? this.#ownName))
    const id = found ?? (makes ? await this.#directory.make?.(name ?? this.#ownName) : undefined)
    if (id !== undefined) this.#known.set(key, id)
    return id
  }

  /**
   * The identifiers of the audiences that rows mean by name, by that name. Only rows that add create an audience: one
   * without members would be useless. One that its first people make has a key until `made`.
   */
  async idsOf(
    rows: readonly { segmentId: string | undefined; segmentName: string | undefined; verb: 'add' | 'remove' }[],
  ): Promise<Map<string | undefined, string | undefined>> {
    const makes = new Map<string | undefined, boolean>()
    for (const { segmentId, segmentName, verb } of rows) {
      if (segmentId === undefined) makes.set(segmentName, makes.get(segmentName) || verb === 'add')
    }
    const ids = new Map<string | undefined, string | undefined>()
    for (const [name, made] of makes) {
      const id = await this.idOf(name, made)
      ids.set(name, id ?? (made && !this.#directory.make ? this.#keyOf(name) : undefined))
    }
    return ids
  }

  /** The key of an audience that there is not yet; it is no identifier. */
  #keyOf(name: string | undefined): string {
    return `\n${name === this.#ownName ? '' : (name ?? '')}`
  }

  /** The identifier of an audience, which may have a key; `undefined` if there is none yet. */
  madeOf(audience: string): string | undefined {
    return audience.startsWith('\n') ? this.#known.get(audience.slice(1)) : audience
  }

  /** The name by which the rows of this transfer mean an audience; `undefined` if they give its identifier. */
  nameOf(audience: string): string | undefined {
    const key = audience.startsWith('\n') ? audience.slice(1) : [...this.#known].find(([, id]) => id === audience)?.[0]
    return key === undefined ? undefined : key || this.#ownName
  }

  /** An audience with a key was made. */
  made(key: string, id: string): void {
    this.#known.set(key.slice(1), id)
  }

  /** What the connection stores, as part of a delivery; empty if nothing was found. */
  delivered(): { state?: Json } {
    if (this.#known.size === 0) return {}
    const { '': audienceId, ...audiences } = Object.fromEntries([
      ...[...this.#cached].filter(([name]) => !this.#known.has(name)),
      ...this.#known,
    ])
    const keptMax = this.#directory.isListed === false ? unlistedMax : cachedMax
    const kept = Object.fromEntries(Object.entries(audiences).slice(-keptMax))
    return { state: { account: this.#account, ...(audienceId === undefined ? {} : { audienceId }), audiences: kept } }
  }
}
