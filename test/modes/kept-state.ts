import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Json, Values } from '@penstock/connector'
import type {
  BatchStart,
  Confirmation,
  DigestRecords,
  EventHost,
  IdentityHost,
  RejectHost,
  SecretHost,
  TransferHost,
  TransferState,
  UploadHost,
} from '../../packages/engine/src/protocol.ts'
import { recordBytes } from '../../packages/engine/src/protocol.ts'
import { sendsChangedRows } from '../../packages/engine/src/settings.ts'
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
  settings: Values
  #standing: Standing = nothingMoved
  #attempt = 0
  /** Of the connection. */
  #cursor: Json | null = null
  #unconfirmed: number | null = null
  #carried: { readonly from: string; readonly announced: NonNullable<TransferState['announced']> } | null = null
  #keysSalt: string | null = null
  #transferId = ''
  #pages: DigestRecords[] = []
  /** Counts of the current transfer. */
  readonly counts = { read: 0, sent: 0, removed: 0, rejected: 0, unchanged: 0, accepted: 0 }

  /** Whether the keys of rows are kept, too. */
  #keys: boolean
  readonly #destination: { readonly slug: string; readonly secrets: Values }

  /**
   * @param settings of the destination
   * @param destination its connector
   */
  constructor(settings: Values, destination = { slug: 'table', secrets: {} as Values }) {
    this.settings = settings
    this.#keys = settings.sendRows === 'Mirror'
    this.#destination = destination
  }

  /** Whether digests are kept: if only changed rows are sent, or a mirror has the table. */
  get #digests(): boolean {
    return sendsChangedRows(this.settings) || this.#keys
  }

  /** Whether the keys of rows are kept, too. */
  get keepsKeys(): boolean {
    return this.#keys
  }

  /** Begins another transfer. */
  begin(transferId: string): void {
    this.#transferId = transferId
    this.#standing = nothingMoved
    this.#attempt = 0
    Object.assign(this.counts, { read: 0, sent: 0, removed: 0, rejected: 0, unchanged: 0, accepted: 0 })
  }

  /**
   * The transfer ended: the database stores the state that `takeCursors` describes
   * (packages/server/src/transfers/ending-queries.ts).
   */
  end(succeeded: boolean): void {
    const { cursor, pending, announced, deliveryStates, read } = this.#standing
    const { rejected, accepted, unchanged } = this.counts
    const readsAgain = rejected > 0 && accepted === 0 && unchanged === 0 && announced === null
    const takes = cursor !== null && !readsAgain && (succeeded || deliveryStates.length === 0)
    const carries = !succeeded && announced !== null && (cursor === null || takes) && deliveryStates.length === 0
    if (takes) this.#cursor = cursor
    if (readsAgain) this.#keysSalt = this.#transferId
    const settles = carries || succeeded || read > 0
    if (carries || (takes && !succeeded)) this.#unconfirmed = pending
    else if (settles || takes) this.#unconfirmed = null
    if (settles) this.#carried = carries ? { from: this.#transferId, announced } : null
  }

  /** Where incremental reading continues. */
  get cursor(): Json | null {
    return this.#cursor
  }

  /** Whether the transfer failed with `nothing_accepted`. */
  get hasAcceptedNothing(): boolean {
    return this.counts.rejected > 0 && this.counts.accepted === 0 && this.counts.unchanged === 0
  }

  /** Sends other rows to the same table: the keys of a mirror stay. */
  use(settings: Values): void {
    this.settings = settings
  }

  /** Changes the settings of the destination. Digests belong to the earlier settings. */
  edit(settings: Values): void {
    this.settings = settings
    this.#keys = settings.sendRows === 'Mirror'
    this.#pages = []
  }

  /** The next transfer reads everything. */
  forgetCursor(): void {
    this.#cursor = null
    this.#keysSalt = `reset ${this.#transferId}`
    this.#forgetAnnounced()
  }

  #forgetAnnounced(): void {
    this.#unconfirmed = null
    this.#carried = null
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
    this.#forgetAnnounced()
  }

  #salt = 0

  /** The host of a runner. */
  host(fuse: Fuse): TransferHost & SecretHost & IdentityHost & UploadHost & RejectHost & EventHost {
    let isStoring = false
    /** Points where the runner can die before it changes something, and after that. */
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
      identityToken: () => assert.fail('no connector of these signs in by an identity'),
      open: () => between('open', undefined, () => this.#open()),
      beginBatch: (start) => between('begin batch', undefined, () => this.#announce(start)),
      confirm: async (confirmation, next) => {
        isStoring = true
        // A database takes longer, so the next batch can be in flight.
        await setImmediate()
        isStoring = false
        return between('confirm', 'confirmed', () => this.#confirm(confirmation, next))
      },
      reportRetry: () => reading(() => {}),
      reportColumns: async () => null,
      reportRules: async () => {},
      reportLine: () => reading(() => {}),
      divide: async () => {},
      readRejects: async () => [],
      rejectedKeys: async () => ({ key: '', open: [] }),
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
      destination: { ...this.#destination, settings: this.settings },
      replay: null,
      confirmed: true,
      testRows: null,
      attempt: this.#attempt,
      ...structuredClone(this.#standing),
      ...this.#repeated(),
      keysSalt: this.#keysSalt,
      unconfirmed: this.#standing.read === 0 ? this.#unconfirmed : null,
      startedTime: new Date(0).toISOString(),
      cursor: this.#cursor,
      range: null,
      reached: null,
      state: null,
      replaced: null,
      part: null,
      table: null,
      divides: null,
      drift: 'ignore',
      shape: null,
      rules: null,
      purposes: null,
      outcomes: null,
      rejectsLeft: 100,
      digests: this.#digests
        ? { key: Buffer.alloc(32, 7).toString('base64'), records, salt: String(this.#salt), keys: this.#keys }
        : null,
    }
  }

  /** The batch of the transfer before this one, until this one has announced or confirmed a batch. */
  #repeated(): Partial<TransferState> {
    const { read, pending } = this.#standing
    if (!this.#carried || read > 0 || pending !== null || this.#unconfirmed === null) return {}
    const { from, announced } = structuredClone(this.#carried)
    if (announced.settings === undefined && !announced.earlier) return {}
    const earlier = announced.earlier?.map((each) => ({ transferId: from, ...each }))
    return {
      pending: this.#unconfirmed,
      announced: { transferId: from, ...announced, first: 1, ...(earlier && { earlier }) },
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

  #confirm(
    { checkpoint, cursor, deliveryState, digests, ...confirmed }: Confirmation,
    next: BatchStart | undefined,
  ): boolean {
    const following = next?.columns ? undefined : next
    const { read, rejected, sent, removed, skipped } = confirmed
    const now = this.#standing
    this.#standing = {
      ...now,
      checkpoint: checkpoint ?? now.checkpoint,
      cursor: cursor ?? now.cursor,
      read: now.read + read,
      rejected: now.rejected + rejected,
      pending: following?.pending ?? null,
      announced: following?.announced ?? null,
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
    return following !== undefined
  }
}
