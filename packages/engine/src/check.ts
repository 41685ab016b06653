import type { CheckStep } from '@penstock/connector'
import type { CheckJob } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'

/** Tries a connector's secrets against its platform. Throws a `ConnectorError`, or the signal's reason once that is aborted. */
export async function runCheck(job: CheckJob, runtime: JobRuntime, signal: AbortSignal): Promise<readonly CheckStep[]> {
  const connector = await runtime.loadConnector(job.connector.slug)
  if (!connector.check) throw new Error('This connector has no check')
  const { context, redact } = openContext(runtime, connector, undefined, job.connector, signal)
  const steps = await withoutSecrets(redact, () => connector.check?.(context))
  return (steps ?? []).map((step) => ({ ...step, message: redact(step.message) }))
}
