import type { AudienceMeasure, Connector } from '@penstock/connector'
import type { MeasureAudiencesJob } from './background-jobs.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'
import { storable } from './storable.ts'

/** Reads the sizes of audiences. Throws a `ConnectorError`, or the signal's reason once that is aborted. */
export async function runMeasureAudiences(
  { connector: side, state }: MeasureAudiencesJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<readonly AudienceMeasure[]> {
  const connector: Connector = await runtime.loadConnector(side.slug)
  const measure = connector.destination?.deliver?.measureAudiences
  if (!measure) throw new Error('This destination has no audiences')
  const { context, redact } = openContext(runtime, connector, 'Destination', side, signal)
  const ask = () => measure({ ...context, state: state ?? undefined })
  const found = await withoutSecrets(redact, ask, 'Destination')
  const shown = (text: string | null) => (text === null ? null : storable(redact(text)))
  return found.map((one) => ({ ...one, name: shown(one.name), status: shown(one.status) }))
}
