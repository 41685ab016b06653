import type { Chunk, SourceReader, Values } from '@penstock/connector'
import type { Preview } from '@penstock/wire'
import { limits } from '@penstock/wire/rules'
import type { RowMapping } from './map-rows.ts'
import type { PreviewJob, TransferState } from './protocol.ts'
import type { JobRuntime } from './runtime.ts'
import { mirrorsRows, sendsChangedRows } from './settings.ts'
import { fillBatches } from './transfer/batches.ts'
import { beginning, type MappedChunk } from './transfer/filled-batch.ts'
import { Sides } from './transfer/sides.ts'
import { RunnerMemory } from './transfer/stages/runner-memory.ts'
import type { StageHost } from './transfer/stages/stage.ts'
import { Stages, settingErrorsOf } from './transfer/stages/stages.ts'

type Findings = Preview['findings']
type RejectedRow = Preview['rejected'][number]

/** The rows of a preview after the stages of a transfer. */
export type StagedRows = {
  readonly mapped: MappedChunk
  /** Why a transfer would fail. Stages that fail are omitted from `mapped`. */
  readonly findings: Findings
  /** Has the stages judge the rows. @param rejected all rows that a transfer would reject */
  readonly judge: (rejected: readonly RejectedRow[]) => Promise<Findings>
}

/**
 * The state for a preview, which is like a test transfer of a few records that has sent nothing yet.
 * @param settings of the destination, with their defaults
 */
export const previewState = (
  { source, destination, rules, purposes }: PreviewJob,
  settings: Values,
): TransferState => ({
  source,
  destination,
  replay: null,
  confirmed: false,
  testRows: limits.previewRowsMax,
  range: null,
  attempt: 1,
  read: 0,
  rejected: 0,
  checkpoint: null,
  pending: null,
  announced: null,
  unconfirmed: null,
  columns: null,
  startedTime: new Date().toISOString(),
  cursor: null,
  reached: null,
  state: null,
  replaced: null,
  deliveryStates: [],
  part: null,
  table: null,
  plan: null,
  divides: null,
  drift: 'ignore',
  shape: null,
  rules: rules?.length ? { list: rules, usual: null } : null,
  purposes: purposes ?? null,
  outcomes: null,
  rejectsLeft: 0,
  digests: sendsChangedRows(settings) ? { key: '', records: 0, salt: null, keys: mirrorsRows(settings) } : null,
})

/** Passes the rows of a preview through the stages of a transfer, and stores nothing. @param source all rows of the preview */
export async function passStages(
  state: TransferState,
  runtime: JobRuntime,
  signal: AbortSignal,
  source: Chunk,
  mapping: RowMapping,
): Promise<StagedRows> {
  const findings: Findings = []
  const take = () => findings.splice(0)
  const sides = await Sides.load(runtime, { readRejects: async () => [] }, state, settingErrorsOf)
  sides.use(mapping, source.columns, source.types)
  const reader: SourceReader = {
    async *read() {
      yield source
    },
    close: async () => {},
  }
  const stages = new Stages(
    {
      host: hostOf(findings),
      job: { id: 'preview', connectionId: 'preview', replaceShareMin: 0 },
      state,
      sides,
      memory: new RunnerMemory(),
      signal,
      onProgress: () => {},
      openReader: async () => reader,
    },
    () => mapping,
    ({ code, message }) => {
      // Several stages can need the same setting.
      if (!findings.some((finding) => finding.message === message)) findings.push({ code, message, column: null })
    },
  )
  await stages.open()
  await stages.begin({ source, mapping })
  const mapped = await stages.pass({ source, mapping }, 1)
  const hints = await stages.hints({ source, mapping })
  findings.push(...hints.map(({ code, message, column }) => ({ code, message, column: column ?? null })))
  return {
    mapped,
    findings: take(),
    async judge(rejected) {
      const filling = { from: beginning, firstNumber: 1, pending: null, unconfirmed: null, testRows: null }
      const bounds = { rowsMax: limits.previewRowsMax, bytesMax: Number.MAX_SAFE_INTEGER }
      for await (const batch of fillBatches(reader, { ...filling, bounds, mapperFor: () => () => mapped })) {
        await stages.sending(batch, async () => {})
        const isOwn = ({ row }: RejectedRow) => row >= batch.first && row < batch.first + batch.covered
        const rejects = rejected.filter(isOwn).map((one) => ({ ...one, count: 1, raw: undefined }))
        stages.added({ batch, rejectedFrom: batch, rejects, isDelivered: false, sent: 0 })
      }
      await stages.finish()
      return take()
    },
  }
}

/** A host that stores nothing. The rules that are broken are findings. */
const hostOf = (findings: Findings): StageHost => ({
  async reportRules(results) {
    for (const { outcome, action, column, message } of results) {
      if (outcome !== 'broken') continue
      const what = action === 'stop' ? 'A rule would stop a transfer' : 'A rule is broken'
      findings.push({ code: 'rule_broken', message: `${what}: ${message}`, column })
    }
  },
  reportLine: async () => {},
  rejectedKeys: async () => ({ key: '', open: [] }),
  readDigests: async () => null,
  readKeys: async () => null,
  doubtRows: async () => {},
  replaceDigests: async () => {},
})
