import type { Json } from '@penstock/connector'
import { objectIn, textIn } from '../json.ts'

/** How a platform finds and makes audiences. */
export type AudienceDirectory = {
  /** The identifier of the audience with this name; of several, always the same one. */
  find(name: string): Promise<string | undefined>
  /** Makes an audience and resolves with its identifier. */
  make(name: string): Promise<string>
  /** Whether a remembered audience is still there. */
  exists(id: string): Promise<boolean>
}

/** Beyond this many, audiences are looked up by name again: what a connection remembers stays small. */
const rememberedMax = 100

/**
 * The audiences that a transfer means by name. An audience is looked for before it is made, so that a crash between making
 * and remembering leaves no second one behind; what was found or made is remembered for the connection's next transfers,
 * so that it stays the same where it is renamed at the platform.
 */
export class NamedAudiences {
  readonly #directory: AudienceDirectory
  readonly #account: string
  readonly #ownName: string
  readonly #remembered: Map<string, string>
  /** Found out in this transfer. */
  readonly #known = new Map<string, string>()

  /**
   * @param memory what the connection remembers
   * @param account whose audiences they are; what is remembered of another account does not count
   * @param ownName the name of the audience that is made for rows which name none
   */
  constructor(state: Json | undefined, account: string, ownName: string, directory: AudienceDirectory) {
    const remembered = objectIn(state)
    const { audienceId, audiences } = remembered.account === account ? remembered : {}
    this.#account = account
    this.#directory = directory
    this.#ownName = ownName
    this.#remembered = new Map(
      Object.entries(objectIn(audiences)).flatMap(([name, id]) => (textIn(id) ? [[name, String(id)]] : [])),
    )
    const own = textIn(audienceId)
    if (own) this.#remembered.set('', own)
  }

  /**
   * The identifier of an audience.
   * @param name absent for the connection's own one
   * @param makes whether it is made where there is none
   */
  async idOf(name: string | undefined, makes: boolean): Promise<string | undefined> {
    const key = name ?? ''
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const remembered = this.#remembered.get(key)
    const lasting = remembered !== undefined && (await this.#directory.exists(remembered)) ? remembered : undefined
    const found = lasting ?? (await this.#directory.find(name ?? this.#ownName))
    const id = found ?? (makes ? await this.#directory.make(name ?? this.#ownName) : undefined)
    if (id !== undefined) this.#known.set(key, id)
    return id
  }

  /**
   * The identifiers of the audiences that rows mean by name, by that name. Only rows that add make an audience: one that
   * nobody is added to would stay empty.
   */
  async idsOf(
    rows: readonly { segmentId: string | undefined; segmentName: string | undefined; verb: 'add' | 'remove' }[],
  ): Promise<Map<string | undefined, string | undefined>> {
    const makes = new Map<string | undefined, boolean>()
    for (const { segmentId, segmentName, verb } of rows) {
      if (segmentId === undefined) makes.set(segmentName, makes.get(segmentName) || verb === 'add')
    }
    const ids = new Map<string | undefined, string | undefined>()
    for (const [name, made] of makes) ids.set(name, await this.idOf(name, made))
    return ids
  }

  /** What the connection is to remember, as part of a delivery; empty where nothing was found out. */
  delivered(): { state?: Json } {
    if (this.#known.size === 0) return {}
    const { '': audienceId, ...audiences } = Object.fromEntries([
      ...[...this.#remembered].filter(([name]) => !this.#known.has(name)),
      ...this.#known,
    ])
    const kept = Object.fromEntries(Object.entries(audiences).slice(-rememberedMax))
    return { state: { account: this.#account, ...(audienceId === undefined ? {} : { audienceId }), audiences: kept } }
  }
}
