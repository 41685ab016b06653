import type { Json, Row } from '@penstock/connector'
import { skipReasons } from '@penstock/wire/rules'
import { deliveredCode } from '../../../skipped.ts'
import type { Rejected } from '../../confirmation.ts'
import type { FilledBatch, MappedChunk } from '../../filled-batch.ts'
import type { StageResult } from '../stage.ts'

/** Outcomes of the rows of a transfer, from the chunk in which they are read to the confirmation. */

/** The outcome of a row. `uncertain`: the destination rejected some rows of the batch, and did not report which ones. */
export type Outcome =
  | 'accepted'
  | 'rejected'
  | 'removed'
  | 'uncertain'
  | 'filtered'
  | 'unchanged'
  | 'duplicate'
  | 'no_consent'
  | 'control_group'

/** Facts that few rows have. */
export type OutcomeDetails = {
  readonly reason?: string
  readonly field?: string
  /** The words of the platform about the row. */
  readonly answer?: Json
}

/** Outcomes of consecutive rows, as columns: a transfer has millions of them. */
export type OutcomeColumns = {
  /** Numbers in the transfer, or in its part; `null` for a row that is not a record of the source. */
  readonly rows: (number | null)[]
  readonly outcomes: Outcome[]
  /** The chosen columns and their values, as JSON. */
  readonly keys: string[]
  /** By index. */
  readonly details: Map<number, OutcomeDetails>
}

const skippedOutcomes: Record<(typeof skipReasons)[number], Outcome> = {
  filtered: 'filtered',
  unchanged: 'unchanged',
  duplicates: 'duplicate',
  noConsent: 'no_consent',
  controlGroup: 'control_group',
}

/** Maximum characters of the values of one row. */
const keyLengthMax = 2_000

/** Creates the JSON of the chosen columns of rows. Longer values are cut. @param columns of the rows */
export function keyReader(chosen: readonly string[], columns: readonly string[]): (row: Row) => string {
  const found = chosen.flatMap((name) => {
    const index = columns.indexOf(name)
    return index < 0 ? [] : [{ index, begin: `${JSON.stringify(name)}:` }]
  })
  const valueLengthMax = Math.floor(keyLengthMax / Math.max(1, found.length))
  return (row) => {
    let text = ''
    for (const { index, begin } of found) {
      text += (text === '' ? begin : `,${begin}`) + jsonOf(cut(row[index] ?? null, valueLengthMax))
    }
    return `{${text}}`
  }
}

/** Most keys are short and need no escapes: to find that out is quicker than to look for them. */
const plainText = /^[\w .:@/+-]{0,64}$/
const jsonOf = (cell: Row[number]): string =>
  typeof cell === 'string' && plainText.test(cell) ? `"${cell}"` : JSON.stringify(cell)

const cut = (cell: Row[number], lengthMax: number) =>
  typeof cell === 'string' && cell.length > lengthMax ? cell.slice(0, lengthMax).toWellFormed() : cell

const noOutcomes = (): OutcomeColumns => ({ rows: [], outcomes: [], keys: [], details: new Map() })

/** Collects the outcomes of rows until they are confirmed. */
export class OutcomeRows {
  /** The keys of skipped rows that are not in a batch yet, by number: a batch does not contain these rows. */
  readonly #skippedKeys = new Map<number, string>()
  #columns = noOutcomes()

  /** Notes the keys of skipped rows of a chunk. @param first number of its first record */
  read(
    { skipped }: Pick<MappedChunk, 'skipped'>,
    rows: readonly Row[],
    first: number,
    keyOf: (row: Row) => string,
  ): void {
    if (!skipped) return
    for (const [at, row] of rows.entries()) {
      if (skipped[at] !== 0) this.#skippedKeys.set(first + at, keyOf(row))
    }
  }

  /**
   * Adds the rows of a batch, or the rejected rows of a flush.
   * @param keyOf reads the rows of the source, or rows that were removed from it
   * @param removes whether a row for the destination removes a person from an audience
   */
  add(
    { batch, rejects, answers }: Pick<StageResult, 'batch' | 'rejects' | 'answers'>,
    keyOf: (row: Row) => string,
    removes: (row: Row) => boolean = () => false,
  ): void {
    if (!batch) {
      this.#rejectHeld(rejects)
      return
    }
    if (rejects.length === 0 && !answers && isWhole(batch)) {
      this.#addAccepted(batch, keyOf, removes)
      return
    }
    const { rows, outcomes, keys, details } = this.#columns
    const rejected = byRow(rejects)
    const uncertain = uncertainReason(rejects, batch.rows.length)
    const delivered = new Map(batch.delivered?.numbers.map((number, at) => [number, batch.delivered?.raws[at]]))
    const invalid = new Map(batch.invalid.map(({ number, raw }) => [number, raw]))
    const { numbers, raws, removed, left, skipped } = batch
    const isRemoved = (at: number) => removed.has(at) || removes(batch.rows[at] ?? [])
    let [sent, run] = [0, 0]
    for (let number = batch.first; number < batch.first + batch.covered; number++) {
      const place = rows.length
      rows.push(left ? null : number)
      while (run < skipped.length && number >= (skipped[run]?.first ?? 0) + (skipped[run]?.codes.length ?? 0)) run++
      const code = skipped[run]?.codes[number - (skipped[run]?.first ?? 0)] ?? 0
      const reason = skipReasons[code - 1]
      if (reason) {
        outcomes.push(skippedOutcomes[reason])
        keys.push(this.#skippedKeys.get(number) ?? '{}')
        this.#skippedKeys.delete(number)
        continue
      }
      const isSent = code !== deliveredCode && numbers[sent] === number
      const raw = isSent ? raws[sent] : (invalid.get(number) ?? delivered.get(number))
      this.#skippedKeys.delete(number)
      keys.push(raw ? keyOf(raw) : '{}')
      const refusal = rejected?.get(number)
      const answer = isSent ? (answers?.[sent] ?? undefined) : undefined
      if (refusal) outcomes.push('rejected')
      else if (isSent && uncertain !== undefined) outcomes.push('uncertain')
      else outcomes.push(isSent && isRemoved(sent) ? 'removed' : 'accepted')
      if (refusal) details.set(place, { ...detailsOf(refusal), ...(answer !== undefined && { answer }) })
      else if (isSent && uncertain !== undefined) details.set(place, { reason: uncertain })
      else if (answer !== undefined) details.set(place, { answer })
      if (isSent) sent++
    }
  }

  /** Most batches are accepted as a whole. */
  #addAccepted(
    { numbers, raws, rows: sent }: FilledBatch,
    keyOf: (row: Row) => string,
    removes: (row: Row) => boolean,
  ): void {
    const { rows, outcomes, keys } = this.#columns
    for (let at = 0; at < numbers.length; at++) {
      rows.push(numbers[at] as number)
      outcomes.push(removes(sent[at] as Row) ? 'removed' : 'accepted')
      keys.push(keyOf(raws[at] as Row))
    }
  }

  /** The rows since the last call. */
  taken(): OutcomeColumns {
    const columns = this.#columns
    this.#columns = noOutcomes()
    return columns
  }

  /** A flush rejects rows of held batches, which are all still here. */
  #rejectHeld(rejects: readonly Rejected[]): void {
    if (rejects.length === 0) return
    const { rows, outcomes, details } = this.#columns
    const isSent = (outcome: Outcome | undefined) => outcome === 'accepted' || outcome === 'removed'
    const rejected = byRow(rejects)
    const uncertain = uncertainReason(rejects, outcomes.filter(isSent).length)
    for (const [at, row] of rows.entries()) {
      if (!isSent(outcomes[at])) continue
      const refusal = row === null ? undefined : rejected?.get(row)
      if (!refusal && uncertain === undefined) continue
      outcomes[at] = refusal ? 'rejected' : 'uncertain'
      details.set(at, { ...details.get(at), ...(refusal ? detailsOf(refusal) : { reason: uncertain ?? '' }) })
    }
  }
}

/** Whether a batch sends each record of the source that it covers, and removes none. */
const isWhole = ({ numbers, covered, removed, left }: FilledBatch): boolean =>
  numbers.length === covered && removed.size === 0 && !left

const detailsOf = ({ reason, field }: Rejected): OutcomeDetails => ({ reason, ...(field !== null && { field }) })

function byRow(rejects: readonly Rejected[]): ReadonlyMap<number, Rejected> | undefined {
  if (rejects.length === 0) return undefined
  return new Map(rejects.flatMap((one) => (one.row === null ? [] : [[one.row, one] as const])))
}

/** Why rows of a delivery are uncertain; `undefined` if the destination named all rows that it rejected. */
function uncertainReason(rejects: readonly Rejected[], sent: number): string | undefined {
  const unnamed = rejects.filter(({ row }) => row === null)
  if (unnamed.length === 0) return undefined
  const count = unnamed.reduce((sum, one) => sum + one.count, 0)
  return `The destination rejected ${count} of ${sent} rows and did not say which: ${unnamed[0]?.reason}`
}
