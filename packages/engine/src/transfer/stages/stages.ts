import {
  asConnectorError,
  type Chunk,
  type ConnectorError,
  type Finding,
  type Json,
  type SourceReader,
} from '@penstock/connector'
import type { RowMapping, SettingErrors } from '../../map-rows.ts'
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
  StagePlan,
  StageResult,
} from './stage.ts'

/** Why rows must pass through a worker, as the end of a sentence; `undefined` if no stage reads their values. */
export const whyValues = (state: TransferState): string | undefined =>
  firstOf(stages.map(({ needs }) => needs?.(state)?.values))

/** Why one worker must see all rows, as the end of a sentence; `undefined` if no stage needs that. */
export const whyAllRows = (state: TransferState): string | undefined =>
  firstOf(stages.map(({ needs }) => needs?.(state)?.allRows))

const firstOf = (reasons: readonly (string | undefined)[]): string | undefined =>
  reasons.find((reason) => reason !== undefined)

/** Errors of the settings of all stages that depend on the columns of the source. */
export const settingErrorsOf: SettingErrors = async (values, columns) => {
  const errors = await Promise.all(stages.map(({ settingErrors }) => settingErrors?.(values, columns) ?? []))
  return errors.flat()
}

/** How a session finds the mapping of a chunk. */
type MappingFor = (chunk: Chunk) => Promise<RowMapping> | RowMapping

/** The stages of one session or of a preview, in their order. The list is empty until `open`. */
export class Stages {
  readonly #context: Omit<StageContext, 'mapBefore'>
  readonly #mappingFor: MappingFor
  readonly #onRefusal: ((error: ConnectorError) => void) | undefined
  #opened: readonly Stage[] = []
  /** The names of the opened stages that read the values of all rows. */
  #readers: readonly string[] = []
  readonly #plans = new Map<Stage, StagePlan>()

  /**
   * @param onRefusal receives each error that would end a session; that stage is omitted, so that a preview shows the work of the
   * others
   */
  constructor(
    context: Omit<StageContext, 'mapBefore'>,
    mappingFor: MappingFor,
    onRefusal?: (error: ConnectorError) => void,
  ) {
    this.#context = context
    this.#mappingFor = mappingFor
    this.#onRefusal = onRefusal
  }

  /** Opens the stages that this transfer uses. They read in advance, and read records again that another runner read. */
  async open(): Promise<void> {
    for (const kind of stages) {
      const before = this.#opened
      const context = { ...this.#context, mapBefore: (chunk: Chunk) => this.#mapBefore(before, chunk) }
      const stage = await this.#try(undefined, async () => kind.open(context))
      if (!stage) continue
      this.#opened = [...before, stage]
      if (!kind.passesRaw) this.#readers = [...this.#readers, kind.name]
    }
    for (const stage of this.#opened) {
      const plan = await this.#try(stage, async () => stage.prepare?.())
      if (plan) this.#plans.set(stage, plan)
    }
    await this.#readAgain()
  }

  /** Sentences for the log of the transfer. */
  get sentences(): readonly string[] {
    return [...this.#plans.values()].flatMap(({ sentence }) => sentence ?? [])
  }

  /** The names of the stages that read the values of all rows. */
  get readers(): readonly string[] {
    return this.#readers
  }

  /** How the stages judge a replacement; empty if no stage judges it. */
  get judges(): readonly ReplacementJudge[] {
    return [...this.#plans.values()].flatMap(({ judge }) => judge ?? [])
  }

  /** The number of the last record to send; `null`: all records are sent. */
  get lastNumber(): number | null {
    const numbers = [...this.#plans.values()].flatMap(({ lastNumber }) => lastNumber ?? [])
    return numbers.length > 0 ? Math.min(...numbers) : null
  }

  /** The source is opened. @returns the announcement that is left after the stages have settled a part of it */
  async opened(reader: SourceReader, announced: AnnouncedBefore, tools: RepeatTools): Promise<AnnouncedBefore> {
    let left = announced
    for (const stage of this.#opened) left = (await stage.opened?.(reader, left, tools)) ?? left
    return left
  }

  /** Begins a chunk. @returns the mapper that applies the stages to its rows. @param first the number of its first record */
  async mapperOf(source: Chunk, first: number): Promise<ChunkMapper> {
    const mapping = await this.#mappingFor(source)
    await this.#context.sides.sample(source, async (some) => (await this.#mapBefore(this.#opened, some)).mapped)
    const chunk = { source, mapping }
    await this.begin(chunk)
    return () => this.pass(chunk, first)
  }

  async begin(chunk: StageChunk): Promise<void> {
    for (const stage of this.#opened) await this.#try(stage, async () => stage.begin?.(chunk))
  }

  /** Passes the rows of a chunk through all stages. */
  async pass(chunk: StageChunk, first: number): Promise<MappedChunk> {
    let mapped = unmapped(chunk.source)
    for (const stage of this.#opened) {
      const passed = await this.#try(stage, async () => {
        const own = stage.map ? await stage.map(mapped, chunk) : mapped
        return stage.mark ? stage.mark(own, chunk, first) : own
      })
      mapped = passed ?? mapped
    }
    return mapped
  }

  /** Findings of the stages about the records of a preview. */
  async hints(chunk: StageChunk): Promise<Finding[]> {
    const hints = await Promise.all(this.#opened.map((stage) => stage.hints?.(chunk) ?? []))
    return hints.flat()
  }

  /** Shows a batch to the stages before it is sent. */
  async sending(batch: FilledBatch, settled: () => Promise<void>): Promise<void> {
    for (const stage of this.#opened) await this.#try(stage, async () => stage.sending?.(batch, settled))
  }

  announcing(announcement: Announcement | undefined): Announcement | undefined {
    return this.#opened.reduce((made, stage) => (stage.announcing ? stage.announcing(made) : made), announcement)
  }

  /** @returns the values to store with the checkpoint */
  added(result: StageResult): Readonly<Record<string, Json>> {
    return Object.assign({}, ...this.#opened.map((stage) => stage.added?.(result)))
  }

  async confirming(confirmation: Confirmation, rejects: readonly Rejected[]): Promise<Confirmation> {
    let completed = confirmation
    for (const stage of this.#opened) {
      if (stage.confirming) completed = await stage.confirming(completed, rejects)
    }
    return completed
  }

  get holdsCursor(): boolean {
    return this.#opened.some(({ holdsCursor }) => holdsCursor)
  }

  end(): void {
    for (const stage of this.#opened) stage.end?.()
  }

  /**
   * The batches of each stage that follow after the records of the source, stage by stage. @param tools called before each stage
   */
  *rest(tools: () => RestTools): Generator<AsyncIterable<FilledBatch>, void, undefined> {
    for (const stage of this.#opened) if (stage.rest) yield stage.rest(tools())
  }

  async finish(): Promise<void> {
    for (const stage of this.#opened) await this.#try(stage, async () => stage.finish?.())
  }

  /** Calls a stage. In a preview, a stage that fails is omitted from then on. */
  async #try<Made>(stage: Stage | undefined, work: () => Promise<Made>): Promise<Made | undefined> {
    try {
      return await work()
    } catch (error) {
      const refusal = this.#onRefusal && asConnectorError(error)
      if (!refusal) throw error
      this.#onRefusal?.(refusal)
      this.#opened = this.#opened.filter((one) => one !== stage)
      return undefined
    }
  }

  async #mapBefore(stages: readonly Stage[], source: Chunk): Promise<{ mapping: RowMapping; mapped: MappedChunk }> {
    const mapping = await this.#mappingFor(source)
    let mapped = unmapped(source)
    for (const stage of stages) if (stage.map) mapped = await stage.map(mapped, { source, mapping })
    return { mapping, mapped }
  }

  /** Reads the confirmed records once for all stages that must see them again. */
  async #readAgain(): Promise<void> {
    if (![...this.#plans.values()].some(({ again }) => again)) return
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
          mapped = this.#plans.get(stage)?.again?.see(mapped, chunk, records + 1) ?? mapped
        }
        records += source.rows.length
        if (records >= state.read) break
      }
    } finally {
      await reader.close()
    }
    for (const { again } of this.#plans.values()) again?.end?.(records)
  }
}

const nothing: MappedChunk['errors'] = new Map()

/** The rows of a chunk before the first stage. */
const unmapped = ({ rows }: Chunk): MappedChunk => ({ rows, errors: nothing })
