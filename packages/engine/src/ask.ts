import { ConnectorError, type Row } from '@penstock/connector'
import { limits } from '@penstock/wire/rules'
import { planUnmapped } from './map-rows.ts'
import { look } from './preview.ts'
import type { AskJob, ShownAnswer } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { addressLengthMax, shownReply, unsaved } from './shown-answer.ts'
import { type SideSecrets, withoutSecrets } from './side-secrets.ts'

/**
 * Lets a source send one request. Secrets are removed from the whole result, and rows are shortened as in a preview. Throws a
 * `ConnectorError` if there was no answer, or the signal's reason once the signal is aborted.
 */
export async function runAsk(job: AskJob, runtime: JobRuntime, signal: AbortSignal): Promise<ShownAnswer> {
  const connector = await runtime.loadConnector(job.connector.slug)
  const ask = connector.source?.ask
  if (!ask) throw new Error('This source has no single requests')
  const { context, redact } = openContext(runtime, connector, 'Source', job.connector, signal)
  const saveSecret = async () => {
    throw new ConnectorError('invalid_credentials', unsaved)
  }
  const given = { ...context, ...(job.entered ? { saveSecret } : {}), page: job.page ?? undefined }
  const {
    request,
    answer,
    error,
    columns = [],
    rows = [],
    next,
  } = await withoutSecrets(redact, () => ask(given), 'Source')
  const seen = columns.length === 0 ? undefined : await looked(columns, rows, redact)
  const preview = seen?.fieldErrors ? undefined : seen?.preview
  return {
    request: { method: request.method, url: redact(request.url).slice(0, addressLengthMax) },
    answer: shownReply(answer, redact),
    error: error ? { code: error.code, message: redact(error.message) } : null,
    // A server could also return a secret that it received, as the name of a value.
    columns: (preview?.columns ?? []).map((column) => redact(column)),
    rows: preview?.rows ?? [],
    next: next === undefined || next.length > limits.askPageLengthMax || redact(next) !== next ? null : next,
  }
}

/** The rows in the form in which a preview shows rows of a source. */
function looked(columns: readonly string[], rows: readonly Row[], redact: SideSecrets['redact']) {
  async function* chunks() {
    yield { columns, rows }
  }
  const nothing = { staysBy: () => undefined, rejectionsOf: () => [] }
  return look(chunks(), redact, { planFor: planUnmapped, ...nothing })
}
