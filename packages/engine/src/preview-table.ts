import type { PreviewJob } from './protocol.ts'
import type { JobRuntime } from './runtime.ts'
import { settingsForTable } from './settings.ts'
import { askForTables, settingsOfTable } from './transfer/tables.ts'

/**
 * A preview of a connection that moves many tables shows the first one.
 * @throws a `ConnectorError` if the settings are invalid for many tables, or select none
 */
export async function ofFirstTable(job: PreviewJob, runtime: JobRuntime, signal: AbortSignal): Promise<PreviewJob> {
  const asked = await askForTables(runtime, job, signal)
  const [first] = asked?.tables ?? []
  if (!asked || !first) return job
  const whole = { source: job.source.settings, destination: job.destination.settings }
  const { source, destination } = settingsForTable(whole, settingsOfTable(asked, first))
  return {
    ...job,
    source: { ...job.source, settings: source },
    destination: { ...job.destination, settings: destination },
  }
}
