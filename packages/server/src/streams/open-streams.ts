import { createHmac } from 'node:crypto'
import type { Db } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import * as queries from './open-queries.ts'
import type { ReceivingStream } from './queries.ts'
import { SeenColumns } from './seen-columns.ts'

/** A stream with its key and its columns, as this process knows them. */
export type OpenStream = {
  readonly id: string
  readonly number: number
  readonly key: MasterKey
  readonly columns: SeenColumns
}

const streamsMax = 2_000

/** Streams whose keys were opened, so that a request does not read them again. */
export class OpenStreams {
  readonly #deps: { readonly database: Db; readonly keyring: Keyring }
  readonly #streams = new Map<string, Promise<OpenStream>>()

  constructor(deps: { readonly database: Db; readonly keyring: Keyring }) {
    this.#deps = deps
  }

  /** Refuses with `not_found` if the stream was deleted. */
  open(stream: ReceivingStream): Promise<OpenStream> {
    const { id, dataKeyId } = stream
    const name = `${id} ${dataKeyId}`
    const known = this.#streams.get(name)
    if (known) return known
    const opened = this.#load(stream)
    this.#streams.set(name, opened)
    opened.catch(() => this.#streams.delete(name))
    const [oldest] = this.#streams.keys()
    if (this.#streams.size > streamsMax && oldest !== undefined) this.#streams.delete(oldest)
    return opened
  }

  async #load({ id, number, dataKeyId }: ReceivingStream): Promise<OpenStream> {
    const { database, keyring } = this.#deps
    const key = await openDataKey(database, keyring, dataKeyId)
    if (!key) return refuse('not_found', [{ field: 'stream', message: 'was deleted' }])
    const rows = await queries.columnsOf.all(database, { stream: number })
    return { id, number, key, columns: new SeenColumns(new Map(rows.map(({ name, kinds }) => [name, kinds]))) }
  }
}

/** Hash of a message ID of a stream in the form of a UUID. Only processes with the key of the stream can compute it. */
export function digestOfMessage({ key }: Pick<OpenStream, 'key'>, messageId: string): string {
  const hex = createHmac('sha256', key.key).update('message').update(messageId).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
