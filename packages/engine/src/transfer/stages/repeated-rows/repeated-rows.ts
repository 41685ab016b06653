import type { SourceReader } from '@penstock/connector'
import type { Confirmation } from '../../../protocol.ts'
import type { Announcement } from '../../batch-keys.ts'
import type { MappedChunk } from '../../filled-batch.ts'
import type { AnnouncedBefore, RepeatTools, Stage, StageChunk, StageContext, StageResult } from '../stage.ts'
import { RecoveredRows } from './recovered-rows.ts'
import { type RowFinder, recoverable, sendAgain } from './send-again.ts'

/** Rows of announced batches, in one session: they are sent again first, and skipped when they are read. */
export class RepeatedRows implements Stage {
  readonly #context: StageContext
  readonly #finder: RowFinder
  /** Rows that the destination has from announced batches; absent if there were no such batches. */
  #recovered: RecoveredRows | undefined
  /** Records of rows that are confirmed next. */
  #delivered: readonly number[] = []
  #isUnsettled = false

  constructor(context: StageContext, finder: RowFinder) {
    this.#context = context
    this.#finder = finder
  }

  opened(reader: SourceReader): void {
    this.#finder.opened?.(reader)
  }

  /** Sends announced batches again. The other rows are filled into batches as usual. */
  async repeat(state: AnnouncedBefore, tools: RepeatTools): Promise<AnnouncedBefore> {
    const batches = recoverable(state)
    if (batches.length === 0) return state
    const recovered = new RecoveredRows(batches)
    this.#recovered = recovered
    this.#finder.recovered = recovered
    const deps = { ...this.#context, ...tools, finder: this.#finder }
    for (const announced of batches.toReversed()) await sendAgain(announced, recovered, deps)
    recovered.settle([])
    return state.announced?.rows ? { pending: null, announced: null } : state
  }

  mark(mapped: MappedChunk, chunk: StageChunk): MappedChunk {
    return this.#finder.skip?.(mapped, chunk) ?? mapped
  }

  announcing(announcement: Announcement | undefined): Announcement | undefined {
    const recovered = this.#recovered
    if (!announcement && !recovered?.isOutstanding) return undefined
    return recovered?.announcing(announcement ?? { pending: null }) ?? announcement
  }

  added({ batch }: StageResult): undefined {
    if (batch?.delivered) this.#delivered = this.#delivered.concat(batch.delivered.records)
  }

  get isUnsettled(): boolean {
    return this.#isUnsettled
  }

  confirming(confirmation: Confirmation): Confirmation {
    this.#recovered?.settle(this.#delivered)
    this.#delivered = []
    this.#isUnsettled = false
    return confirmation
  }

  /** Confirms rows that the destination has from announced batches, and that were not read again. */
  end(): void {
    const records = this.#recovered?.takeRest() ?? []
    if (records.length === 0) return
    this.#isUnsettled = true
    this.#finder.keep?.(records)
  }
}
