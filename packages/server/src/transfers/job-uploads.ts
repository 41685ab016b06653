import type { UploadHost } from '@penstock/engine'
import { limits } from '@penstock/wire'
import type { Database } from '../db/database.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { findUploads, openUpload, type UploadContent } from '../uploads/content.ts'
import { membersOf } from './runner-messages.ts'
import type { ConfiguredSide } from './sides.ts'

/** Files that one job may have open: it has one, or two if both sides read one. */
const openMax = 8
const offsetMax = 1_000_000

/**
 * Answers what the runner of one job asks about uploaded files. Its calls are not trusted: they reach only files of the
 * sub-account of a connector that reads uploads.
 */
export class JobUploads {
  readonly #deps: { readonly database: Database; readonly keyring: Keyring }
  /** Undefined if no connector of the job reads uploads. */
  readonly #accountId: string | undefined
  readonly #opened = new Map<string, UploadContent>()

  constructor(
    { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
    sides: readonly ConfiguredSide[],
  ) {
    this.#deps = { database, keyring }
    this.#accountId = sides.find(({ connector }) => connector.readsUploads)?.accountId
  }

  /** Throws if no connector of the job reads uploads, a file was altered, or the database is away. */
  async answer(method: keyof UploadHost, argument: unknown): Promise<unknown> {
    const accountId = this.#accountId ?? refuseJob()
    switch (method) {
      case 'findUploads':
        return this.#find(accountId, argument)
      case 'openUpload':
        return this.#open(accountId, argument)
      case 'readUpload':
        return this.#read(argument)
    }
  }

  async #find(accountId: string, argument: unknown) {
    const { search, size, offset } = membersOf(argument)
    if (typeof search !== 'string' || search.length > limits.discoverySearchLengthMax) throw notAllowed()
    if (!isCount(size, limits.discoverySizeMax + 1) || !isCount(offset, offsetMax)) throw notAllowed()
    return findUploads(this.#deps.database, { accountId, search, size, offset })
  }

  async #open(accountId: string, id: unknown) {
    if (typeof id !== 'string') throw notAllowed()
    const { database, keyring } = this.#deps
    const found = await openUpload(database, keyring, { accountId, id })
    if (!found) return null
    if (!this.#opened.has(id) && this.#opened.size >= openMax) throw notAllowed()
    this.#opened.set(id, found)
    const { name, sizeBytes, chunkBytes } = found
    return { id, name, sizeBytes, chunkBytes }
  }

  async #read(argument: unknown): Promise<string | null> {
    const { id, number } = membersOf(argument)
    const opened = typeof id === 'string' ? this.#opened.get(id) : undefined
    if (!opened || !isCount(number, Number.MAX_SAFE_INTEGER)) throw notAllowed()
    const bytes = await opened.read(this.#deps.database, number)
    return bytes?.toString('base64') ?? null
  }
}

const isCount = (value: unknown, max: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max

const refuseJob = (): never => {
  throw notAllowed()
}
const notAllowed = (): Error =>
  new Error('A runner asked for an uploaded file that is not of its job, or not in its form')
