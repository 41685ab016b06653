import type { ChangeLogMeasure, Connector } from '@penstock/connector'
import type { DroppedSlot, DropSlotJob, MeasureLogJob } from './background-jobs.ts'
import type { OpenedSide } from './opened-side.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'

/** Measures the log from which a source reads changes. Throws a `ConnectorError`, or the signal's reason once that is aborted. */
export async function runMeasureLog(
  { connector: side, slot, cursor }: MeasureLogJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<ChangeLogMeasure> {
  const { log, context, redact } = await open(side, runtime, signal)
  return withoutSecrets(redact, () => log.measure({ ...context, slot, cursor: cursor ?? undefined }), 'Source')
}

/** Drops a slot. Throws a `ConnectorError`, or the signal's reason once that is aborted. */
export async function runDropSlot(
  { connector: side, slot, confirmed }: DropSlotJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<DroppedSlot> {
  const { log, context, redact } = await open(side, runtime, signal)
  const { release } = log
  if (!release) throw new Error('This source has no slots')
  const of = { ...context, slot, cursor: undefined, confirmed: confirmed ?? undefined }
  return withoutSecrets(redact, () => release.drop(of), 'Source')
}

async function open(side: OpenedSide, runtime: JobRuntime, signal: AbortSignal) {
  const connector: Connector = await runtime.loadConnector(side.slug)
  const log = connector.source?.changeLog
  if (!log) throw new Error('This source reads no log')
  return { log, ...openContext(runtime, connector, 'Source', side, signal) }
}
