import type { Chunk, Json, SourceReader } from '@penstock/connector'
import type { RowMapping } from '../../map-rows.ts'
import type { Confirmation, TransferState } from '../../protocol.ts'
import type { Announcement } from '../batch-keys.ts'
import type { Rejected } from '../confirmation.ts'
import type { ChunkMapper, FilledBatch, MappedChunk } from '../filled-batch.ts'
import { stages } from './list.ts'
import type {
  AnnouncedBefore,
  RepeatTools,
  ReplacementJudge,
  RestTools,
  Stage,
  StageChunk,
  StageContext,
  StageKind,
  StageResult,
} from './stage.ts'

/** Why rows must pass a worker, as the end of a sentence; `undefined` if no stage reads their values. */
export const whyValues = (state: TransferState): string | undefined => firstOf(({ needsValues }) => needsValues(state))

/** Why one worker must see all rows, as the end of a sentence; `undefined` if no stage needs that. */
export const whyAllRows = (state: TransferState): string | undefined =>
  firstOf(({ needsAllRows }) => needsAllRows(state))

const firstOf = (why: (kind: StageKind) => string | undefined): string | undefined =>
  stages.map(why).find((reason) => reason !== undefined)

/** How a session finds the mapping of a chunk. */
type MappingFor = (chunk: Chunk) => Promise<RowMapping>

/** The stages of one session, in their order. The list is empty until `open`. */
export class Stages {
  readonly #context: Omit<StageContext, 'mapBefore'>
  readonly #mappingFor: MappingFor
  #opened: readonly Stage[] = []

  constructor(context: Omit<StageContext, 'mapBefore'>, mappingFor: MappingFor) {
    this.#context = context
    this.#mappingFor = mappingFor
  }

  /** Opens the stages that this transfer uses. They read in advance, and read again what another runner saw. */
  async open(): Promise<void> {
    for (const kind of stages) {
      const before = this.#opened
      const stage = await kind.open({ ...this.#context, mapBefore: (chunk) => this.#mapBefore(before, chunk) })
      if (stage) this.#opened = [...before, stage]
    }
    for (const stage of this.#opened) await stage.prepare?.()
    await this.#readAgain()
  }

  /** Sentences for the log of the transfer. */
  get sentences(): readonly string[] {
    return this.#opened.flatMap(({ sentence }) => sentence ?? [])
  }

  /** How the stages judge a replacement; none if nothing is judged. */
  judges(): readonly ReplacementJudge[] {
    return this.#opened.flatMap((stage) => stage.judgeReplacement?.() ?? [])
  }

  restart(): void {
    for (const stage of this.#opened) stage.restart?.()
  }

  opened(reader: SourceReader): void {
    for (const stage of this.#opened) stage.opened?.(reader)
  }

  /** The number of the last record that is sent; `null`: all are. */
  get lastNumber(): number | null {
    const numbers = this.#opened.flatMap(({ lastNumber }) => lastNumber ?? [])
    return numbers.length > 0 ? Math.min(...numbers) : null
  }

  async repeat(announced: AnnouncedBefore, tools: RepeatTools): Promise<AnnouncedBefore> {
    let left = announced
    for (const stage of this.#opened) if (stage.repeat) left = await stage.repeat(left, tools)
    return left
  }

  /** Begins a chunk. @returns what the stages make of its rows. @param first the number of its first record */
  async mapperOf(source: Chunk, first: number): Promise<ChunkMapper> {
    const mapping = await this.#mappingFor(source)
    await this.#context.sides.sample(source)
    const chunk = { source, mapping }
    for (const stage of this.#opened) await stage.begin?.(chunk)
    return () => this.pass(chunk, first)
  }

  /** Passes the rows of a chunk through all stages. */
  async pass(chunk: StageChunk, first: number): Promise<MappedChunk> {
    let mapped = unmapped(chunk.source)
    for (const stage of this.#opened) {
      if (stage.map) mapped = await stage.map(mapped, chunk)
      if (stage.mark) mapped = stage.mark(mapped, chunk, first)
    }
    return mapped
  }

  async check(batch: FilledBatch): Promise<void> {
    for (const stage of this.#opened) await stage.check?.(batch)
  }

  async beforeSending(batch: FilledBatch, settled: () => Promise<void>): Promise<void> {
    for (const stage of this.#opened) await stage.beforeSending?.(batch, settled)
  }

  announcing(announcement: Announcement | undefined): Announcement | undefined {
    return this.#opened.reduce((made, stage) => (stage.announcing ? stage.announcing(made) : made), announcement)
  }

  /** @returns what is stored with the checkpoint, by the names of the stages */
  added(result: StageResult): Readonly<Record<string, Json>> {
    const stored: Record<string, Json> = {}
    for (const stage of this.#opened) {
      const own = stage.added?.(result)
      if (own !== undefined && stage.checkpointKey !== undefined) stored[stage.checkpointKey] = own
    }
    return stored
  }

  async confirming(confirmation: Confirmation, rejects: readonly Rejected[]): Promise<Confirmation> {
    let completed = confirmation
    for (const stage of this.#opened) {
      if (stage.confirming) completed = await stage.confirming(completed, rejects)
    }
    return completed
  }

  get isUnsettled(): boolean {
    return this.#opened.some(({ isUnsettled }) => isUnsettled)
  }

  get holdsCursor(): boolean {
    return this.#opened.some(({ holdsCursor }) => holdsCursor)
  }

  end(): void {
    for (const stage of this.#opened) stage.end?.()
  }

  /** The batches of each stage that follow behind the records of the source, stage by stage. @param tools asked before each */
  *rest(tools: () => RestTools): Generator<AsyncIterable<FilledBatch>, void, undefined> {
    for (const stage of this.#opened) if (stage.rest) yield stage.rest(tools())
  }

  async finish(): Promise<void> {
    for (const stage of this.#opened) await stage.finish?.()
  }

  async #mapBefore(stages: readonly Stage[], source: Chunk): Promise<{ mapping: RowMapping; mapped: MappedChunk }> {
    const mapping = await this.#mappingFor(source)
    let mapped = unmapped(source)
    for (const stage of stages) if (stage.map) mapped = await stage.map(mapped, { source, mapping })
    return { mapping, mapped }
  }

  /** Reads the confirmed records once for all stages that must see them again. */
  async #readAgain(): Promise<void> {
    const seeing = this.#opened.filter(({ seesAgain }) => seesAgain)
    if (seeing.length === 0) return
    const { openReader, state } = this.#context
    const reader = await openReader()
    let records = 0
    try {
      for await (const source of reader.read()) {
        const mapping = await this.#mappingFor(source)
        const chunk = { source, mapping }
        let mapped = unmapped(source)
        for (const stage of this.#opened) {
          if (stage.map) mapped = await stage.map(mapped, chunk)
          if (stage.seeAgain && seeing.includes(stage)) mapped = stage.seeAgain(mapped, chunk, records + 1)
        }
        records += source.rows.length
        if (records >= state.read) break
      }
    } finally {
      await reader.close()
    }
    for (const stage of seeing) stage.endAgain?.(records)
  }
}

const nothing: MappedChunk['errors'] = new Map()

/** The rows of a chunk before the first stage. */
const unmapped = ({ rows }: Chunk): MappedChunk => ({ rows, errors: nothing })
