import assert from 'node:assert/strict'
import {
  type Batch,
  type Chunk,
  type Connector,
  ConnectorError,
  column,
  type Delivery,
  defineConnector,
  type Rejection,
  type Row,
  select,
  text,
  type Values,
} from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { runJob } from '../../packages/engine/src/jobs.ts'
import { Fuse, type Incident } from './fuse.ts'
import { KeptState } from './kept-state.ts'
import { about } from './memory-sides.ts'

/** A connection over many transfers: its source, its destination, and all rows that ever arrived. The engine is the real one. */

/**
 * How the source is read. `places`: a whole table, in which places can be found again. `pages`: all rows, by their number.
 * `stream`: all changes since the cursor, in their order, including rows that changed again.
 */
export type Reads = 'changes' | 'places' | 'pages' | 'stream'
/** Whether a transfer continues after the previous one. */
export const isIncremental = (reads: Reads): boolean => reads === 'changes' || reads === 'stream'
/**
 * `log` remembers the batches of each transfer, and `receiver` only the keys of batches. Both add rows. `table` writes by key.
 */
export type Writes = 'log' | 'receiver' | 'table'
export type SendRows = 'All' | 'Changed' | 'Mirror'
export type Kind = {
  readonly reads: Reads
  readonly writes: Writes
  readonly sendRows: SendRows
  /** Whether the source has each row twice. */
  readonly twins?: true
  /** Whether a batch with a spoiled row is refused as a whole, instead of only the row. */
  readonly refuses?: true
}

/** Each change of a row has another number, so that no two rows that were sent are equal. A spoiled row is rejected. */
type SourceRow = { readonly id: number; readonly change: number; readonly spoiled: boolean }
export type Edit = { readonly id: number; readonly does: 'put' | 'spoil' | 'delete' }

/** An attempt that ends at an incident, what changes in the source before the next one, and how often a commit is not answered. */
export type Attempt = { readonly incident: Incident; readonly edits: readonly Edit[] }
export type Step = {
  readonly edits: readonly Edit[]
  readonly attempts: readonly Attempt[]
  /** How the transfer ends after its attempts, if it does not succeed. */
  readonly givesUp: boolean
  /** The act of a person before it. */
  readonly does: 'nothing' | 'reset' | 'edit settings' | 'correct rows' | 'send others'
}

/** A row as it arrived, in which transfer, and under which settings, counted anew by each reset. */
type Arrived = {
  readonly id: number
  readonly change: number
  readonly era: number
  readonly transfer: number
  readonly sendRows: SendRows
}

const columns = ['id', 'change', 'spoiled']
const batchRows = 4
const chunkRows = 3

export class SequenceWorld {
  readonly kind: Kind
  /** The rows that are sent now, at first as the kind says. */
  sendRows: SendRows
  readonly kept: KeptState
  readonly source = new Map<number, SourceRow>()
  /** All changes of rows, in their order. */
  readonly #stream: SourceRow[] = []
  readonly arrived: Arrived[] = []
  /** Keys that a mirror has from transfers under other settings. */
  strangers: ReadonlySet<number> = new Set()
  /** Of a destination that writes by key: the last change of each. */
  readonly table = new Map<number, number>()
  era = 0
  /** Transfers in which rows moved to other pages: some are read twice, and others never. */
  readonly moved = new Set<number>()
  readonly #known = new Map<string, readonly Rejection[]>()
  #change = 0
  #transfers = 0
  #fuse = new Fuse(undefined)

  constructor(kind: Kind) {
    this.kind = kind
    this.sendRows = kind.sendRows
    this.kept = new KeptState(this.#settings())
  }

  /** The number of the last transfer, from 1. */
  get transfers(): number {
    return this.#transfers
  }

  #settings(): Values {
    const { writes } = this.kind
    const { sendRows } = this
    const by = writes === 'table' ? { writeMode: 'Upsert', keyColumns: 'id' } : { writeMode: 'Insert', rowKey: 'id' }
    return { ...by, sendRows, note: String(this.era) }
  }

  edit({ id, does }: Edit): void {
    this.#change += 1
    if (this.kind.reads === 'pages' && this.source.has(id) === (does === 'delete')) this.moved.add(this.#transfers)
    if (does === 'delete') this.source.delete(id)
    else {
      // A receiver does not tell of which rows it speaks.
      const isRejecting = this.kind.writes !== 'receiver' || this.kind.refuses === true
      const row = { id, change: this.#change, spoiled: does === 'spoil' && isRejecting }
      this.source.set(id, row)
      this.#stream.push(row)
    }
  }

  /** The act of a person between two transfers. */
  act(does: Step['does']): void {
    if (does === 'nothing') return
    if (does === 'correct rows') {
      // The change of a row stays, unless reading has passed it: then it was rejected, and a replay would send it.
      const passed = this.kind.reads === 'changes' ? Number(this.kept.cursor ?? 0) / 2 : 0
      for (const [id, { change, spoiled }] of this.source) {
        // A change in a stream stays as it was.
        const isRejected =
          this.kind.reads === 'stream' || (this.kind.reads === 'changes' && !this.kept.hasAcceptedNothing)
        if (spoiled && (isRejected || change <= passed)) this.edit({ id, does: 'put' })
        else if (spoiled) this.source.set(id, { id, change, spoiled: false })
      }
      return
    }
    this.era += 1
    if (does === 'send others') this.sendRows = this.#others()
    if (does === 'send others' && this.kept.keepsKeys) this.kept.use(this.#settings())
    else if (does !== 'reset') {
      this.kept.edit(this.#settings())
      this.strangers = new Set(this.table.keys())
    } else {
      this.kept.forgetCursor()
      this.kept.reset()
    }
  }

  /** Another way to choose rows, as far as this source and this destination have one. */
  #others(): SendRows {
    const ways: readonly SendRows[] =
      this.kind.sendRows === 'Mirror' ? ['All', 'Changed', 'Mirror'] : ['All', 'Changed']
    return ways[(ways.indexOf(this.sendRows) + 1) % ways.length] ?? 'All'
  }

  /** Runs one transfer with all of its attempts. @returns whether it succeeded */
  async transfer({ attempts, givesUp }: Pick<Step, 'attempts' | 'givesUp'>): Promise<boolean> {
    this.#transfers += 1
    const id = String(this.#transfers).padStart(16, '0')
    this.kept.begin(id)
    for (const attempt of [...attempts, undefined]) {
      if (!attempt && givesUp && attempts.length > 0) break
      if (await this.#attempt(id, new Fuse(attempt?.incident))) {
        this.kept.end(true)
        return !this.kept.hasAcceptedNothing
      }
      for (const edit of attempt?.edits ?? []) this.edit(edit)
    }
    this.kept.end(false)
    return false
  }

  async #attempt(id: string, fuse: Fuse): Promise<boolean> {
    this.#fuse = fuse
    const egress = createEgress({ networkPolicy: 'public' })
    const sides = { rows: this.#source(), table: this.#destination() }
    const job = {
      kind: 'transfer',
      id,
      connectionId: '0f1e2d3c4b5a6979',
      connectors: [],
      // An error of the destination that does not pass ends the transfer.
      retry: { firstMs: 0, mostMs: 0, totalMs: 10_000 },
      replaceShareMin: 0,
    } as const
    const result = await runJob(job, {
      runtime: {
        loadConnector: async (slug) => sides[slug as keyof typeof sides],
        egress,
        plainHttp: { loopback: false, allow: [] },
        localFolders: [],
      },
      host: this.kept.host(fuse),
      signal: fuse.signal,
      onProgress: () => {},
    })
    await egress.close()
    if (!result.ok) assert.equal(result.error.kind, 'ended', JSON.stringify(result.error))
    return result.ok
  }

  #source(): Connector {
    const { reads, twins } = this.kind
    const follows = isIncremental(reads)
    const placeOf = ({ id, change, twin = 0 }: SourceRow & { twin?: number }) => 2 * (follows ? change : id) + twin
    return defineConnector({
      ...about,
      slug: 'rows',
      name: 'Rows',
      source: {
        open: async ({ cursor }) => {
          const fuse = this.#fuse
          const rows = () =>
            (reads === 'stream' ? this.#stream : [...this.source.values()])
              .flatMap((row) => (twins ? [row, { ...row, twin: 1 }] : [row]))
              .sort((a, b) => placeOf(a) - placeOf(b))
          const behind = (after: unknown, until: unknown) => {
            const from = Number(after ?? (follows ? cursor : undefined) ?? 0)
            if (reads === 'pages') return rows().slice(from)
            return rows().filter(
              (row) => placeOf(row) > from && placeOf(row) <= Number(until ?? Number.POSITIVE_INFINITY),
            )
          }
          return {
            async *read(after, until): AsyncGenerator<Chunk> {
              const all = behind(after, until)
              const from = Number(after ?? (follows ? cursor : undefined) ?? 0)
              for (let at = 0; at < all.length; at += chunkRows) {
                fuse.pass('read')
                const some = all.slice(at, at + chunkRows)
                const before = at === 0 ? from : placeOf(all[at - 1] as SourceRow)
                const placeAfter = (count: number) => (count === 0 ? before : placeOf(some[count - 1] as SourceRow))
                yield {
                  columns,
                  rows: some.map(({ id, change, spoiled }): Row => [id, change, spoiled]),
                  bytes: 10 * some.length,
                  checkpoint: reads === 'pages' ? from + at + some.length : placeAfter(some.length),
                  ...((reads === 'places' || reads === 'changes') && { checkpointAfter: placeAfter }),
                  ...(reads === 'changes' && { cursorAfter: placeAfter }),
                  ...(reads === 'stream' && { cursor: placeAfter(some.length), cursorAfter: placeAfter }),
                }
              }
            },
            close: async () => {},
          }
        },
      },
    })
  }

  #destination(): Connector {
    const fuse = this.#fuse
    const isTable = this.kind.writes === 'table'
    return defineConnector({
      ...about,
      slug: 'table',
      name: 'Table',
      destination: {
        records: {
          id: column({ description: 'Key', required: true }),
          change: column({ description: 'Number of the change', required: true }),
          spoiled: column({ description: 'Whether it is rejected', required: true }),
        },
        fields: {
          writeMode: select({ label: 'Mode', description: 'Mode', options: ['Insert', 'Upsert'], default: 'Insert' }),
          keyColumns: text({ label: 'Key', description: 'Key' }),
          note: text({ label: 'Note', description: 'Any text' }),
        },
        deliver: {
          batch: () => ({ rowsMax: batchRows, bytesMax: 1_000 }),
          windowKeys: () => (isTable ? ['id'] : undefined),
          removesBy: () => (isTable ? ['id'] : undefined),
          ...(this.kind.writes === 'log' && { notesBatches: true }),
          ...(this.kind.writes === 'receiver' && { recognisesKeys: true }),
          open: async ({ transferId }) => ({
            awaitsPermit: true,
            deliver: async (batch, permit) => {
              fuse.pass('deliver')
              await permit
              fuse.signal.throwIfAborted()
              const rejected = this.#write(batch, batch.transferId ?? transferId)
              fuse.pass('delivered')
              return { bytes: 1, ...rejected }
            },
            finish: async () => fuse.pass('finish'),
          }),
        },
      },
    })
  }

  /** Writes a batch, unless the destination recognises it. */
  #write(batch: Batch, transferId: string): Pick<Delivery, 'rejected' | 'recalled'> {
    const name = this.kind.writes === 'receiver' ? batch.key : `${transferId} ${batch.key}`
    const known = this.kind.writes === 'table' ? undefined : this.#known.get(name)
    if (known) return { rejected: known, recalled: true }
    const isSpoiled = batch.rows.some(([, , spoiled]) => spoiled === true || spoiled === 'true')
    if (this.kind.refuses && isSpoiled) throw new ConnectorError('invalid_batch', 'A row is not taken.')
    const rejected: Rejection[] = []
    for (const [index, [id, change, spoiled]] of batch.rows.entries()) {
      if (batch.removed?.has(index)) this.table.delete(Number(id))
      else if (spoiled === true || spoiled === 'true') rejected.push({ index, reason: 'It is not taken.' })
      else {
        this.table.set(Number(id), Number(change))
        this.arrived.push({
          id: Number(id),
          change: Number(change),
          era: this.era,
          transfer: this.#transfers,
          sendRows: this.sendRows,
        })
      }
    }
    this.#known.set(name, rejected)
    return { rejected, recalled: false }
  }
}
