import type { SourceReader } from '@penstock/connector'
import type { Confirmation } from '../../../protocol.ts'
import type { Announcement } from '../../batch-keys.ts'
import type { MappedChunk } from '../../filled-batch.ts'
import type { AnnouncedBefore, RepeatTools, Stage, StageChunk, StageContext, StageResult } from '../stage.ts'
import { RecoveredRows } from './recovered-rows.ts'
import { type RowFinder, recoverable, sendAgain, uncounted } from './send-again.ts'

/** Rows of announced batches, in one session. They are sent again first, and skipped when they are read. */
export class RepeatedRows implements Stage {
  readonly #context: StageContext
  readonly #finder: RowFinder
  /** Rows that the destination has from announced batches; absent if there were no such batches. */
  #recovered: RecoveredRows | undefined
  /** Records of rows that are confirmed next. */
  #delivered: readonly number[] = []
  #tools: RepeatTools | undefined

  constructor(context: StageContext, finder: RowFinder) {
    this.#context = context
    this.#finder = finder
  }

  /** Sends announced batches again. The other rows are filled into batches as usual. */
  async opened(reader: SourceReader, state: AnnouncedBefore, tools: RepeatTools): Promise<AnnouncedBefore> {
    this.#finder.opened?.(reader)
    this.#tools = tools
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

  confirming(confirmation: Confirmation): Confirmation {
    this.#recovered?.settle(this.#delivered)
    this.#delivered = []
    return confirmation
  }

  /** Confirms rows that the destination has from announced batches, and that were not read again. */
  end(): void {
    const records = this.#recovered?.takeRest() ?? []
    if (records.length === 0) return
    this.#finder.keep?.(records)
    // They are stored with a confirmation, even if there is nothing else to confirm.
    this.#tools?.add({ ...uncounted, bytes: 0, deliveryState: undefined, state: undefined })
  }
}
