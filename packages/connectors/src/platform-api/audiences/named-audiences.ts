import type { Json } from '@penstock/connector'
import { objectIn, textIn } from '../json.ts'

/** How a platform finds and makes audiences. */
export type AudienceDirectory = {
  /** The identifier of the audience with this name. If there are several, always the same one. */
  find(name: string): Promise<string | undefined>
  /** Creates an audience and resolves with its identifier. Absent if an audience can only be created with its first people. */
  make?: ((name: string) => Promise<string>) | undefined
  /** Whether the platform lists its audiences. If it does not, all created audiences are kept in the state. */
  isListed?: boolean
  /** Whether a cached audience still exists. */
  exists(id: string): Promise<boolean>
}

/** If there are more, audiences are looked up by name again, so that the state of a connection stays small. */
const cachedMax = 100
/** Maximum number of audiences in the state if the platform does not list its audiences. */
const unlistedMax = 1000

/**
 * The audiences that a transfer refers to by name. An audience is searched before it is created, so that a crash between
 * creating and storing it leads to no duplicate. A found or created audience is stored for the connection's next transfers, so
 * that it stays the same if it is renamed at the platform.
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
   * @param account the owner of the audiences; the state of another account is ignored
   * @param ownName the name of the audience that is created for rows without a name
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
   * @param name absent for the connection's own audience
   * @param makes whether it is created if it does not exist
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

  /** The key of an audience that does not exist yet. It is not an identifier. */
  #keyOf(name: string | undefined): string {
    return `\n${name === this.#ownName ? '' : (name ?? '')}`
  }

  /** The identifier of an audience, which can be a key. `undefined` if the audience does not exist yet. */
  madeOf(audience: string): string | undefined {
    return audience.startsWith('\n') ? this.#known.get(audience.slice(1)) : audience
  }

  /** The name of an audience in the rows of this transfer. `undefined` if they contain its identifier. */
  nameOf(audience: string): string | undefined {
    const key = audience.startsWith('\n') ? audience.slice(1) : [...this.#known].find(([, id]) => id === audience)?.[0]
    return key === undefined ? undefined : key || this.#ownName
  }

  /** An audience with a key was made. */
  made(key: string, id: string): void {
    this.#known.set(key.slice(1), id)
  }

  /** The state that the connection stores, as part of a delivery. Empty if nothing was found. */
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
