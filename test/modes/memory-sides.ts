import {
  type Batch,
  type Cell,
  type Connector,
  ConnectorError,
  column,
  type DestinationWriter,
  defineConnector,
  definePlatform,
  type Json,
  type Rejection,
  type Row,
  select,
  text,
} from '@penstock/connector'
import type { Fuse } from './fuse.ts'

/** A source and a destination in memory, which keep to the contracts of connectors, and pass a fuse wherever they do something. */

const platform = definePlatform({ slug: 'memory', name: 'Memory', type: 'Data Provider' })
export const about = {
  platform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'In memory.',
  secrets: {},
} as const

/** A row of the source, and the number of its last change. */
export type SourceRow = { readonly id: number; readonly value: number | null; readonly change: number }

const columns = ['id', 'value']

/** @param reads `all` rows in their order, or `changes` after the cursor, in the order of changes */
export function sourceOf(rows: () => readonly SourceRow[], reads: 'all' | 'changes', fuse: () => Fuse): Connector {
  return defineConnector({
    ...about,
    slug: 'rows',
    name: 'Rows',
    source: {
      open: async ({ cursor }) => ({
        async *read(after) {
          const from = after === undefined ? ((cursor as number | undefined) ?? 0) : (after as number)
          const all =
            reads === 'all'
              ? rows()
              : [...rows()].sort((a, b) => a.change - b.change).filter(({ change }) => change > from)
          for (let at = reads === 'all' && after !== undefined ? (after as number) : 0; at < all.length; at += 3) {
            fuse().pass('read')
            const some = all.slice(at, at + 3)
            const placeAfter = (count: number): Json =>
              count === 0 ? (all[at - 1]?.change ?? from) : (some[count - 1]?.change ?? 0)
            yield {
              columns,
              rows: some.map(({ id, value }): Row => [id, value]),
              bytes: 10 * some.length,
              checkpoint: reads === 'all' ? at + some.length : placeAfter(some.length),
              ...(reads === 'changes' && { cursorAfter: placeAfter }),
            }
          }
        },
        close: async () => {},
      }),
    },
  })
}

export type WriteMode = 'Insert' | 'Replace' | 'Upsert'

/** The destination rejects rows with this value. A batch that contains the second value is refused as a whole. */
export const rejectedValue = 0
export const refusedValue = 9
/** The row with this key is never removed. */
export const keptKey = 8

const rejectionsIn = ({ rows, removed }: Batch): Rejection[] =>
  rows.flatMap(([id, value], index) => {
    if (removed?.has(index)) return id === keptKey ? [{ index, reason: 'It stays.' }] : []
    return value === rejectedValue || value === refusedValue ? [{ index, reason: 'It is not taken.' }] : []
  })

/** The content of a destination: rows that were added, in batches that come once, or rows by their key. */
export class Table {
  readonly byKey = new Map<Cell, Cell>()
  readonly added = new Map<string, readonly Row[]>()
  readonly #staged = new Map<string, Map<string, readonly Row[]>>()
  current: readonly Row[] = []

  /** Writes and removes the rows of a batch, except rows that `rejectionsIn` names. */
  write(mode: WriteMode, transferId: string, batch: Batch): void {
    const { key, rows, removed } = batch
    const rejected = new Set(rejectionsIn(batch).map(({ index }) => index))
    const taken = rows.filter((_, index) => !rejected.has(index))
    for (const [index, [id = null, value = null]] of rows.entries()) {
      if (mode !== 'Upsert' || rejected.has(index)) continue
      if (removed?.has(index)) this.byKey.delete(id)
      else this.byKey.set(id, value)
    }
    const place = `${batch.transferId ?? transferId}:${key}`
    if (mode === 'Insert' && !this.added.has(place)) this.added.set(place, taken)
    if (mode === 'Replace') {
      const staged = this.#staged.get(transferId) ?? new Map<string, readonly Row[]>()
      this.#staged.set(transferId, staged.set(key, taken))
    }
  }

  /** The rows of a transfer take the place of everything. Can be repeated. */
  replaceBy(transferId: string): void {
    this.current = [...(this.#staged.get(transferId) ?? new Map<string, readonly Row[]>()).values()].flat()
  }
}

/** How a destination confirms: each batch, each batch with a permit, or every second one. */
export type Confirming = 'each' | 'permit' | 'held'

/** A destination that writes to a table. */
export function destinationOf(table: Table, confirming: () => Confirming, fuse: () => Fuse): Connector {
  return defineConnector({
    ...about,
    slug: 'table',
    name: 'Table',
    destination: {
      records: {
        id: column({ description: 'Key', required: true }),
        value: column({ description: 'Value', required: true }),
      },
      fields: {
        writeMode: select({
          label: 'Mode',
          description: 'Mode',
          options: ['Insert', 'Replace', 'Upsert'],
          default: 'Insert',
        }),
        keyColumns: text({ label: 'Key', description: 'Key' }),
      },
      deliver: {
        batch: () => ({ rowsMax: 4, bytesMax: 1_000 }),
        replaces: ({ writeMode }) => writeMode === 'Replace',
        windowKeys: ({ writeMode }) => (writeMode === 'Upsert' ? ['id'] : undefined),
        removesBy: ({ writeMode }) => (writeMode === 'Upsert' ? ['id'] : undefined),
        open: async ({ settings, transferId }) => {
          const mode = settings.writeMode as WriteMode
          const held: Batch[] = []
          const write = (batches: readonly Batch[]) => {
            for (const batch of batches) table.write(mode, transferId, batch)
          }
          const writer: DestinationWriter = {
            async deliver(batch, permit) {
              fuse().pass('deliver')
              const isRefused = batch.rows.some(([, value]) => value === refusedValue)
              if (isRefused && batch.rows.length > 1) throw new ConnectorError('invalid_batch', 'A row is not taken.')
              const answer = { bytes: 1, rejected: rejectionsIn(batch) }
              held.push(batch)
              if (confirming() === 'held' && held.length < 2) return { ...answer, held: true }
              if (confirming() === 'permit') await permit
              fuse().signal.throwIfAborted()
              write(held.splice(0))
              fuse().pass(batch.removed ? 'removed' : 'delivered')
              return answer
            },
            async flush() {
              fuse().pass('flush')
              write(held.splice(0))
              fuse().pass('delivered')
              return { bytes: 0 }
            },
            async finish() {
              fuse().pass('finish')
              if (mode === 'Replace') table.replaceBy(transferId)
              fuse().pass('finished')
            },
          }
          return confirming() === 'permit' ? { ...writer, awaitsPermit: true } : writer
        },
      },
    },
  })
}
