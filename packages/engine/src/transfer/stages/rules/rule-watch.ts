import { type Chunk, ConnectorError, type Json } from '@penstock/connector'
import type { ConnectionRule, RuleResult } from '@penstock/wire'
import type { TransferState } from '../../../protocol.ts'
import { countSkipped, totalSkipped } from '../../../skipped.ts'
import type { FilledBatch, MappedChunk } from '../../filled-batch.ts'
import type { ReplacementJudge, StageHost } from '../stage.ts'
import { countRows, type NumberedRow, noCounts, type RuleCount, sumOf } from './counts.ts'
import { brokenSoFar, type Judged, judgeAll } from './judge.ts'
import type { UniqueValues } from './unique-values.ts'

/**
 * Judges a transfer by the rules of its connection. Its counts are stored in the checkpoint, together with the confirmed batches,
 * so they cover the whole transfer in every attempt.
 */
export class RuleWatch {
  readonly #rules: readonly ConnectionRule[]
  readonly #usual: Judged['usual']
  readonly #isTest: boolean
  readonly #host: Pick<StageHost, 'reportRules'>
  readonly #unique: UniqueValues
  readonly #columns: () => readonly string[]
  readonly #counted = new WeakMap<FilledBatch, readonly RuleCount[]>()
  #read: number
  #rejected: number
  #skipped: number
  #counts: readonly RuleCount[]

  private constructor(
    state: TransferState,
    host: Pick<StageHost, 'reportRules'>,
    unique: UniqueValues,
    columns: () => readonly string[],
  ) {
    this.#rules = state.rules?.list ?? []
    this.#usual = state.rules?.usual ?? null
    this.#isTest = state.testRows !== null
    this.#host = host
    this.#unique = unique
    unique.share(this.#rules.filter(({ check }) => check === 'unique').length)
    this.#columns = columns
    this.#read = state.read
    this.#rejected = state.rejected
    const stored = storedIn(state.checkpoint)
    this.#counts = stored?.counts ?? noCounts(this.#rules)
    this.#skipped = stored?.skipped ?? 0
  }

  /** @param columns returns the columns of the source; `undefined` if the transfer has no rules */
  static of(
    state: TransferState,
    host: Pick<StageHost, 'reportRules'>,
    unique: UniqueValues,
    columns: () => readonly string[],
  ): RuleWatch | undefined {
    return state.rules && state.rules.list.length > 0 ? new RuleWatch(state, host, unique, columns) : undefined
  }

  /** Whether a broken rule ends the transfer. */
  get stops(): boolean {
    return !this.#isTest && this.#rules.some(({ action }) => action === 'stop')
  }

  /** Whether the records that another runner confirmed must be counted again. */
  get needsAgain(): boolean {
    return this.#rules.some(({ check }) => check === 'unique') && this.#unique.lacks(this.#read)
  }

  /**
   * Counts the confirmed records of a chunk again, if that is needed. Chunks come in their order.
   * @param first the number of its first record
   */
  countAgain({ columns, rows }: Chunk, { skipped }: Pick<MappedChunk, 'skipped'>, first: number): void {
    if (!this.needsAgain) return
    const confirmed = numbered(rows.slice(0, this.#read - first + 1), first).filter((_, at) => !skipped?.[at])
    countRows(this.#rules, columns, confirmed, this.#unique)
    if (first + rows.length > this.#read) this.#unique.count(this.#read)
  }

  /** Throws `rule_broken` before a batch is delivered that breaks a rule which stops. */
  async check(batch: FilledBatch): Promise<void> {
    if (!this.stops) return
    const judged = this.#judged({
      read: this.#read + batch.covered,
      skipped: this.#skipped + skippedIn(batch),
      rejected: this.#rejected + batch.invalid.length,
      counts: sumOf(this.#counts, this.#countsOf(batch)),
    })
    const results = brokenSoFar(this.#rules, judged)
    if (results.some(({ action }) => action === 'stop')) await this.#end(results)
  }

  /** Adds the result of a batch, or later rejections. @returns the counts, to be stored with the result */
  add(batch: FilledBatch | undefined, rejected: number): Json {
    this.#rejected += rejected
    if (batch) {
      this.#read += batch.covered
      this.#skipped += skippedIn(batch)
      this.#counts = sumOf(this.#counts, this.#countsOf(batch))
    }
    return { counts: this.#counts, skipped: this.#skipped }
  }

  /** Judges all records that were confirmed, before they become visible if the destination waits for that. Throws `rule_broken`. */
  async end(): Promise<void> {
    await this.#end(judgeAll(this.#rules, this.#judged({})))
  }

  /** Counts a source that is read in advance, before everything at the destination is replaced. */
  inAdvance(): ReplacementJudge {
    let counts = noCounts(this.#rules)
    let read = 0
    let rejected = 0
    let skipped = 0
    return {
      add: ({ columns, rows }, invalid, isSkipped) => {
        const judged = numbered(rows, read + 1).filter((_, at) => !isSkipped(at))
        counts = sumOf(counts, countRows(this.#rules, columns, judged, this.#unique))
        read += rows.length
        rejected += invalid
        skipped += rows.length - judged.length
      },
      end: async () => {
        const results = judgeAll(this.#rules, this.#judged({ read, rejected, skipped, counts }))
        if (results.some(isStopped)) await this.#end(results)
      },
    }
  }

  #countsOf(batch: FilledBatch): readonly RuleCount[] {
    const known = this.#counted.get(batch)
    if (known) return known
    const { invalid, delivered } = batch
    const rows = [batch, ...(delivered ? [delivered] : [])].flatMap(({ numbers, raws }): NumberedRow[] =>
      numbers.map((number, i) => ({ number, raw: raws[i] ?? [] })),
    )
    rows.push(...invalid)
    // These records are between the others.
    if (invalid.length > 0 || delivered) rows.sort((a, b) => a.number - b.number)
    const counts = countRows(this.#rules, this.#columns(), rows, this.#unique)
    this.#counted.set(batch, counts)
    return counts
  }

  #judged(now: Partial<Pick<Judged, 'read' | 'rejected' | 'skipped' | 'counts'>>): Judged {
    return {
      read: this.#read,
      rejected: this.#rejected,
      skipped: this.#skipped,
      counts: this.#counts,
      uniqueRowsMax: this.#unique.rowsMax,
      isBeyondUnique: this.#unique.isFull,
      usual: this.#usual,
      nowMs: Date.now(),
      isSample: this.#isTest,
      ...now,
    }
  }

  async #end(results: readonly RuleResult[]): Promise<void> {
    await this.#host.reportRules(results)
    const stopped = this.#isTest ? [] : results.filter(isStopped)
    if (stopped.length === 0) return
    const delivered = this.#read - this.#rejected - this.#skipped
    const before =
      delivered === 0
        ? 'Nothing was delivered.'
        : `${delivered.toLocaleString('en')} records had been delivered before; check the destination.`
    const found = stopped.map(({ message }) => message).join(' ')
    throw new ConnectorError('rule_broken', `A rule of the connection stopped the transfer: ${found} ${before}`)
  }
}

const isStopped = ({ action, outcome }: RuleResult): boolean => action === 'stop' && outcome === 'broken'

const numbered = (rows: Chunk['rows'], first: number): readonly NumberedRow[] =>
  rows.map((raw, i) => ({ number: first + i, raw }))

const skippedIn = ({ skipped }: FilledBatch): number => totalSkipped(countSkipped(skipped))

/** The counts that were stored with a checkpoint. */
const storedIn = (checkpoint: Json | null): { counts: readonly RuleCount[]; skipped: number } | undefined =>
  (checkpoint as { rules?: { counts: readonly RuleCount[]; skipped: number } } | null)?.rules
