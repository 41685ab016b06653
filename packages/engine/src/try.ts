import { ConnectorError, type Rejection } from '@penstock/connector'
import type { ShownTrial, TryJob } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { addressLengthMax, shownBody, shownReply, unsaved } from './shown-answer.ts'
import { withoutSecrets } from './side-secrets.ts'

/**
 * Has a destination deliver a few rows. Secrets are removed from all that is returned. Throws a `ConnectorError` if the destination
 * cannot be opened, or the signal's reason once that is aborted.
 */
export async function runTry(job: TryJob, runtime: JobRuntime, signal: AbortSignal): Promise<ShownTrial> {
  const connector = await runtime.loadConnector(job.connector.slug)
  const tries = connector.destination?.deliver?.try
  if (!tries) throw new Error('Rows cannot be tried at this destination')
  const { context, redact } = openContext(runtime, connector, 'Destination', job.connector, signal)
  const { columns, rows, startedTime } = job
  const saveSecret = async () => {
    throw new ConnectorError('invalid_credentials', unsaved)
  }
  const given = { ...context, ...(job.entered ? { saveSecret } : {}), columns, rows, startedTime }
  const { exchanges, rejected, error } = await withoutSecrets(
    redact,
    () => tries({ ...given, transferId: 'try', attempt: 1, test: true, deliveryStates: [], state: undefined }),
    'Destination',
  )
  return {
    exchanges: exchanges.map(({ request, answer }) => ({
      request: {
        method: request.method,
        url: redact(request.url).slice(0, addressLengthMax),
        text: request.text === '' ? '' : shownBody(request.text, redact).text,
      },
      answer: shownReply(answer, redact),
    })),
    rows: rows.map((_, index) => resultOf(index, rejected, error !== undefined, redact)),
    error: error ? { code: error.code, message: redact(error.message) } : null,
  }
}

function resultOf(
  index: number,
  rejected: readonly Rejection[],
  failed: boolean,
  redact: (text: string) => string,
): ShownTrial['rows'][number] {
  const own = rejected.find((one) => one.index === index)
  if (own) return { state: 'rejected', reason: redact(own.reason) }
  const counted = rejected.find((one) => one.index === undefined)
  if (failed || counted) return { state: 'unknown', reason: counted ? redact(counted.reason) : null }
  return { state: 'accepted', reason: null }
}
