import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Json, Values } from '@penstock/connector'
import type {
  BatchStart,
  Confirmation,
  DigestRecords,
  RejectHost,
  SecretHost,
  TransferHost,
  TransferState,
  UploadHost,
} from '../../packages/engine/src/protocol.ts'
import { recordBytes } from '../../packages/engine/src/protocol.ts'
import { noUploads } from '../harness/no-uploads.ts'
import type { Fuse, Place } from './fuse.ts'

type Standing = Pick<
  TransferState,
  'checkpoint' | 'read' | 'rejected' | 'columns' | 'pending' | 'announced' | 'plan' | 'cursor' | 'deliveryStates'
>

const nothingMoved: Standing = {
  checkpoint: null,
  read: 0,
  rejected: 0,
  columns: null,
  pending: null,
  announced: null,
  plan: null,
  cursor: null,
  deliveryStates: [],
}

/** The state of a connection and its transfers, as the supervisor keeps it in the database. */
export class KeptState {
  readonly #settings: Values
  readonly #digests: boolean
  #standing: Standing = nothingMoved
  #attempt = 0
  /** Of the connection. */
  #cursor: Json | null = null
  #unconfirmed: number | null = null
  #pages: DigestRecords[] = []
  /** Counts of the current transfer. */
  readonly counts = { read: 0, sent: 0, removed: 0, rejected: 0, unchanged: 0, accepted: 0 }

  /** @param settings of the destination @param digests whether only changed rows are sent */
  constructor(settings: Values, digests: boolean) {
    this.#settings = settings
    this.#digests = digests
  }

  /** Begins another transfer. */
  begin(): void {
    this.#standing = nothingMoved
    this.#attempt = 0
    Object.assign(this.counts, { read: 0, sent: 0, removed: 0, rejected: 0, unchanged: 0, accepted: 0 })
  }

  /** The transfer ended. */
  end(): void {
    const { cursor, pending, deliveryStates } = this.#standing
    if (cursor !== null && deliveryStates.length === 0) {
      this.#cursor = cursor
      this.#unconfirmed = pending
    }
  }

  /** Bytes of the state: of records, and of keys. */
  get bytes(): { readonly records: number; readonly keys: number } {
    const bytesOf = (text: string | null) => Buffer.from(text ?? '', 'base64').length
    return {
      records: this.#pages.reduce((sum, { records }) => sum + bytesOf(records), 0),
      keys: this.#pages.reduce((sum, { keys }) => sum + bytesOf(keys), 0),
    }
  }

  /** A full refresh: every row is another one, and the keys of a mirror stay. */
  reset(): void {
    this.#salt += 1
  }

  #salt = 0

  /** The host of a runner. */
  host(fuse: Fuse): TransferHost & SecretHost & UploadHost & RejectHost {
    let isStoring = false
    /** Where the runner can die before it changes something, and after that. */
    const between = async <T>(before: Place, after: Place | undefined, act: () => T): Promise<T> => {
      fuse.pass(before)
      const answer = act()
      if (after) fuse.pass(after)
      return answer
    }
    const reading = async <T>(act: () => T): Promise<T> => {
      fuse.signal.throwIfAborted()
      return act()
    }
    return {
      ...noUploads,
      leaseSecret: async () => ({ state: 'missing' }),
      replaceSecret: async () => null,
      releaseSecret: async () => {},
      open: () => between('open', undefined, () => this.#open()),
      beginBatch: (start) => between('begin batch', undefined, () => this.#announce(start)),
      confirm: async (confirmation) => {
        isStoring = true
        // A database takes longer: the next batch can be on its way.
        await setImmediate()
        isStoring = false
        return between('confirm', 'confirmed', () => this.#confirm(confirmation))
      },
      reportRetry: () => reading(() => {}),
      reportColumns: async () => null,
      reportRules: async () => {},
      note: () => reading(() => {}),
      reportLine: async () => {},
      divide: async () => {},
      readRejects: async () => [],
      readDigests: (after) =>
        reading(() => {
          const page = this.#pages[after]
          return page ? { digests: page.records, last: after + 1, pages: 1 } : null
        }),
      readKeys: (after) =>
        reading(() => {
          const at = this.#pages.findIndex(({ keys }, i) => i >= after && keys !== null)
          const { records, keys } = this.#pages[at] ?? {}
          return records !== undefined && keys ? { pages: [{ records, keys }], last: at + 1 } : null
        }),
      doubtRows: (rows) => {
        // Two pages would get the same number.
        assert.ok(!isStoring, 'pages are stored one after the other')
        return between('doubt rows', 'doubted rows', () => void this.#pages.push(rows))
      },
      replaceDigests: async (pages) => {
        const staged: DigestRecords[] = []
        for await (const page of pages) staged.push(page)
        await between('replace digests', 'replaced digests', () => {
          this.#pages = staged
        })
      },
    }
  }

  #open(): TransferState {
    this.#attempt += 1
    const records = this.bytes.records / recordBytes
    return {
      source: { slug: 'rows', secrets: {}, settings: {} },
      destination: { slug: 'table', secrets: {}, settings: this.#settings },
      replay: null,
      confirmed: true,
      testRows: null,
      attempt: this.#attempt,
      ...structuredClone(this.#standing),
      unconfirmed: this.#standing.read === 0 ? this.#unconfirmed : null,
      startedTime: new Date(0).toISOString(),
      cursor: this.#cursor,
      range: null,
      reached: null,
      state: null,
      replaced: null,
      part: null,
      divides: null,
      drift: 'ignore',
      shape: null,
      rules: null,
      rejectsLeft: 100,
      digests: this.#digests
        ? { key: Buffer.alloc(32, 7).toString('base64'), records, salt: String(this.#salt) }
        : null,
    }
  }

  #announce({ pending, announced, columns, plan }: BatchStart): void {
    if (plan !== undefined) this.#standing = { ...this.#standing, plan }
    this.#standing = {
      ...this.#standing,
      pending,
      announced: announced ?? null,
      ...(columns && { columns: columns.destination }),
    }
  }

  #confirm({ checkpoint, cursor, deliveryState, digests, ...confirmed }: Confirmation): boolean {
    const { read, rejected, sent, removed, skipped } = confirmed
    const now = this.#standing
    this.#standing = {
      ...now,
      checkpoint: checkpoint ?? now.checkpoint,
      cursor: cursor ?? now.cursor,
      read: now.read + read,
      rejected: now.rejected + rejected,
      pending: null,
      announced: null,
      deliveryStates: deliveryState === null ? now.deliveryStates : [...now.deliveryStates, deliveryState],
    }
    if (digests !== null) this.#pages.push({ records: digests, keys: null })
    const { counts } = this
    counts.read += read
    counts.sent += sent
    counts.removed += removed
    counts.rejected += rejected
    counts.unchanged += skipped.unchanged
    counts.accepted += read - rejected - skipped.unchanged - skipped.filtered - skipped.duplicates
    return false
  }
}
