import type { StreamStart } from '@penstock/connector'
import type { EventHost } from '@penstock/engine'
import type { Database } from '../db/database.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type ConsumedStream, openConsumed } from '../streams/consume.ts'
import { membersOf } from './runner-messages.ts'
import type { ConfiguredSide } from './sides.ts'

/** Up to which number the events of a stream were delivered and confirmed. */
export type EventsRead = {
  readonly streamOf: string
  readonly streamRead: number
  /** Where reading without an earlier number began. */
  readonly begin: number
}

const timeMsMax = 8.64e15

/**
 * Answers what the runner of one job asks about events. Its calls are not trusted: they reach only the stream of the
 * configuration of a connector that reads events.
 */
export class JobEvents {
  readonly #deps: { readonly database: Database; readonly keyring: Keyring }
  /** Undefined if no connector of the job reads events. */
  readonly #side: ConfiguredSide | undefined
  #stream: ConsumedStream | undefined
  #begin = 0
  #read: EventsRead | undefined

  constructor(
    { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
    sides: readonly ConfiguredSide[],
  ) {
    this.#deps = { database, keyring }
    this.#side = sides.find(({ connector }) => connector.readsEvents)
  }

  /** The confirmed place; undefined if no batch with a cursor was confirmed. */
  get read(): EventsRead | undefined {
    return this.#read
  }

  /** Notes the cursor of a batch that is confirmed. */
  confirmed(cursor: unknown): void {
    const { of, after } = membersOf(cursor)
    if (of !== this.#side?.configurationId || !Number.isSafeInteger(after)) return
    this.#read = { streamOf: of as string, streamRead: after as number, begin: this.#begin }
  }

  /** Throws if no connector of the job reads events, a batch was altered, or the database is away. */
  async answer(method: keyof EventHost, argument: unknown): Promise<unknown> {
    const side = this.#side
    if (!side) throw notAllowed()
    switch (method) {
      case 'openStream':
        return this.#open(side, argument)
      case 'readEvents':
        return this.#readAfter(argument)
    }
  }

  async #open({ configurationId: id, accountId }: ConfiguredSide, argument: unknown) {
    const { opened, consumed } = await openConsumed(this.#deps, { id, accountId }, startOf(argument))
    this.#stream = consumed
    this.#begin = opened.begin
    return opened
  }

  async #readAfter(after: unknown) {
    if (after === null) return (await this.#stream?.newest(this.#deps.database)) ?? []
    if (!Number.isSafeInteger(after) || (after as number) < 0) throw notAllowed()
    return (await this.#stream?.after(this.#deps.database, after as number)) ?? []
  }
}

function startOf(value: unknown): StreamStart {
  const { at, ms } = membersOf(value)
  if (at === 'oldest' || at === 'newest') return { at }
  if (at === 'time' && typeof ms === 'number' && Math.abs(ms) <= timeMsMax) return { at, ms }
  throw notAllowed()
}

const notAllowed = (): Error => new Error('A runner asked for events that are not of its job, or not in its form')
