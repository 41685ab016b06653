import { ConnectorError } from '@penstock/connector'
import type { FilledBatch } from './filled-batch.ts'

/**
 * Maximum rows that are refused one by one for the same reason, with none accepted, until the cause is something other than the
 * rows.
 */
const rowsAlikeMax = 100

/**
 * The search for bad rows in a batch that a destination refused as a whole. If single rows are refused for the same reason and
 * none is accepted, the cause is the account, the list or a setting. The search then ends, and no row is counted as bad.
 */
export class SplitBudget {
  readonly #whole: FilledBatch
  #accepted: boolean
  #rowsAlike = 0
  #last: string | undefined
  #searches = false

  /** @param whole the batch that came from the source */
  constructor(whole: FilledBatch) {
    this.#whole = whole
    this.#accepted = whole.delivered !== undefined
  }

  /**
   * The batch to announce before a part of it is sent, whose rows are read again after a crash. Usually this is the part, which
   * is then repeated under its key although it contains other rows. It is the whole batch if refused rows before the part are not
   * confirmed yet.
   */
  announced(part: FilledBatch): FilledBatch {
    return this.#searches && !this.#accepted && part.first > this.#whole.first ? this.#whole : part
  }

  /** The destination took some of its rows. */
  accept(): void {
    this.#accepted = true
  }

  /**
   * Records that the destination refused a part of the batch.
   * @throws ConnectorError `everything_refused` if the cause is not the rows
   */
  refuse(error: ConnectorError, rows: number): void {
    this.#searches = true
    const said = `${error.code} ${error.message}`
    if (this.#last !== said) this.#rowsAlike = 0
    this.#last = said
    if (rows > 1 || this.#accepted) return
    this.#rowsAlike++
    if (this.#rowsAlike < rowsAlikeMax) return
    throw new ConnectorError(
      'everything_refused',
      `${error.message} The destination refused ${rowsAlikeMax} rows one by one with the same answer and accepted none, so the rows are not the cause: check the account, the list and the settings of the destination.`,
      { cause: error, side: error.side },
    )
  }

  /** Whether refused rows can be counted as bad: nothing was refused, or another row of the batch was accepted. */
  get isSettled(): boolean {
    return !this.#searches || this.#accepted
  }
}
