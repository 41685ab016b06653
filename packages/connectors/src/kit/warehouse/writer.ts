import type { Batch, DestinationContext, DestinationWriter, Json } from '@penstock/connector'
import { inOrder } from '../../databases/rejections.ts'
import { divideRemovals } from '../../databases/removals.ts'
import { numberIn, objectIn } from '../../platform-api/json.ts'
import { sendInHalves, type Taken } from '../../platform-api/rows/halving.ts'
import { Refusals } from '../../platform-api/rows/refusals.ts'
import { type JudgedColumn, type JudgedRow, judgeRows, keyTextBy } from './rows.ts'
import { StagedWindows, type WindowStore } from './windows.ts'

/** How a store accepts the judged rows of a batch, and how it is emptied. */
export type Loading<Stage> = {
  /** The store, for messages. */
  readonly name: string
  /** The columns of the table, in the order of the delivered ones. */
  readonly columns: readonly JudgedColumn[]
  /** Whether the rows of the transfer replace the content of the table. */
  readonly replaces: boolean
  /** Empties the table. Called once for a transfer, and again by an attempt that does not know of it. */
  readonly empty: () => Promise<unknown>
  /** Whether `empty` itself finds out that the transfer has emptied the table before. */
  readonly emptiesOnce?: true
  /** Loads rows. The same rows under the same name must make no difference. */
  readonly load: (rows: readonly JudgedRow[], name: BatchName) => Promise<Loaded<Stage>>
  /**
   * Removes rows by their keys. Rows that do not exist are treated as removed. Called after `load` with rows of other keys, and
   * after a refusal again with some of the rows. Absent if `load` also removes rows, or if no rows to remove can occur.
   */
  readonly remove?: (rows: readonly JudgedRow[]) => Promise<Taken<JudgedRow>>
  /** Absent if rows are not removed. */
  readonly nameKeys?: DestinationWriter['nameKeys']
  /** Called when all batches are confirmed. */
  readonly finish?: () => Promise<unknown>
  /** Set if rows are found again by their key. */
  readonly windows?: WindowStore<Stage> | undefined
}

/** How a batch is recognised. */
export type BatchName = {
  readonly batch: Batch
  /** The transfer that recorded the batch: this transfer, or an earlier one that may have delivered it. */
  readonly transferId: string
  /** Of transfer and batch. If the table was emptied again in between, the key is another one. */
  readonly key: string
}

/** Rows that were loaded. With `stage`, it has the keys of all rows of the batch, or `replaced` if the rows are a window that took its place. */
export type Loaded<Stage> = Taken<JudgedRow> & { readonly stage?: Stage | 'replaced' }

/**
 * A writer that loads each batch immediately, and finds the rows that the store refuses by halving the batch. A test transfer
 * does not empty the table.
 */
export function openLoadingWriter<Stage extends object = never>(
  { transferId, attempt, deliveryStates, signal, test }: DestinationContext,
  { name, columns, replaces, empty, emptiesOnce, load, remove, finish, ...loading }: Loading<Stage>,
): DestinationWriter {
  const refusals = new Refusals(name)
  const windows = loading.windows && new StagedWindows(loading.windows)
  const isEmptied = replaces && test !== true
  /** The attempt of the transfer that emptied the table. Undefined until one has. */
  let emptied = isEmptied ? emptiedIn(deliveryStates) : 0
  const emptyOnce = async (): Promise<number> => {
    if (emptied === undefined) {
      await empty()
      emptied = attempt
    }
    return emptied
  }
  return {
    async deliver(batch) {
      signal.throwIfAborted()
      const by = await emptyOnce()
      const { items, doubtful } = judgeRows(columns, batch)
      const { transferId: recordedBy = transferId } = batch
      const key = `${recordedBy}:${emptiesOnce ? '' : `${by}:`}${batch.key}`
      let whole: Stage | 'replaced' | undefined
      const { written, removed } =
        remove && batch.removed ? divideJudged(columns, items) : { written: items, removed: [] }
      const sent = await sendInHalves(written, refusals, async (part) => {
        const { stage, ...taken } = await load(part, { batch, transferId: recordedBy, key })
        whole = stage
        return taken
      })
      const gone = await sendInHalves(removed, refusals, async (part) => remove?.(part) ?? { bytes: 0 })
      const all = inOrder([...doubtful, ...sent.rejected, ...gone.rejected])
      if (whole === 'replaced') await windows?.forget()
      else await windows?.settle(batch, whole)
      return {
        bytes: sent.bytes + gone.bytes,
        ...(all.length > 0 && { rejected: all }),
        ...(isEmptied && !emptiesOnce && { deliveryState: { emptied: by } }),
      }
    },
    ...(loading.nameKeys && { nameKeys: loading.nameKeys }),
    async finish() {
      await emptyOnce()
      await finish?.()
    },
    async close() {
      await windows?.forget().catch(() => {})
    },
  }
}

/** The rows to write and to remove, by what becomes of their keys in the end. */
function divideJudged(columns: readonly JudgedColumn[], rows: readonly JudgedRow[]) {
  const gone = new Set(rows.flatMap(({ isRemoved }, at) => (isRemoved ? [at] : [])))
  const { written, removed } = divideRemovals({ rows, removed: gone }, keyTextBy(columns))
  const pick = (places: readonly number[]) => places.flatMap((at) => rows[at] ?? [])
  return { written: pick(written), removed: pick(removed) }
}

const emptiedIn = (deliveryStates: readonly Json[]): number | undefined =>
  deliveryStates.map((state) => numberIn(objectIn(state).emptied)).find((attempt) => attempt !== undefined)
