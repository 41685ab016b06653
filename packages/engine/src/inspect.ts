import { asConnectorError, type Connector, type Finding, type InspectionContext } from '@penstock/connector'
import type { Preview } from '@penstock/wire'
import { limits } from '@penstock/wire/rules'
import type { SideSecrets } from './side-secrets.ts'

/**
 * Asks a destination what would make a transfer of these columns fail, or reject records. If the destination cannot be asked, the
 * reason is a finding, too. Throws only the context's reason, once its signal is aborted.
 * @param redact removes the secrets of the destination from its reports
 * @param boundMs maximum duration
 */
export async function inspectDestination(
  { destination }: Connector,
  context: InspectionContext,
  redact: SideSecrets['redact'],
  boundMs: number,
): Promise<Preview['findings']> {
  const inspect = destination?.deliver?.inspect
  if (!inspect) return []
  const late = AbortSignal.timeout(Math.max(0, Math.floor(boundMs)))
  const signal = AbortSignal.any([context.signal, late])
  let findings: readonly Finding[]
  try {
    findings = await Promise.race([inspect({ ...context, signal }), rejectedAt(signal)])
  } catch (error) {
    context.signal.throwIfAborted()
    findings = [late.aborted ? noAnswer(boundMs) : findingOf(error)]
  }
  return findings
    .slice(0, limits.previewFindingsMax)
    .map(({ code, message, column }) => ({ code, message: redact(message), column: column ?? null }))
}

/** A name lookup cannot be aborted, so this does not wait for the connector. */
const rejectedAt = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

const noAnswer = (boundMs: number): Finding => ({
  code: 'timeout',
  message: `The destination did not answer within ${Math.max(0, Math.round(boundMs / 1000))} seconds. Check its address and that it is up, then preview again.`,
})

function findingOf(error: unknown): Finding {
  const connectorError = asConnectorError(error)
  if (connectorError) return { code: connectorError.code, message: connectorError.message }
  return {
    code: 'connector_failed',
    message: 'The connector failed on the response of the destination. Check its address, then preview again.',
  }
}
