import { asConnectorError, type ErasePerson, type PersonIdentifier } from '@penstock/connector'
import type { ErasedIdentifier, EraseJob } from './erase-job.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'
import { storable } from './storable.ts'

/**
 * Asks for one identifier after the other, and returns the outcome of each, in their order. An error concerns one identifier, unless
 * it is about the credentials. Throws a `ConnectorError` if the destination cannot be opened.
 */
export async function runErase(
  { connector: side, identifiers }: EraseJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<readonly ErasedIdentifier[]> {
  const connector = await runtime.loadConnector(side.slug)
  const { erasure } = connector.destination ?? {}
  if (!erasure) throw new Error('This destination erases nobody')
  const { context, redact } = openContext(runtime, connector, 'Destination', side, signal)
  const erase = await withoutSecrets(redact, () => erasure.open(context), 'Destination')
  const erased: ErasedIdentifier[] = []
  let ended: ErasedIdentifier | undefined
  for (const identifier of identifiers) {
    const asked = ended ? { ...ended, isLast: true } : await askFor(erase, identifier, signal)
    const { isLast, outcome, reason } = asked
    const one = { outcome, reason: reason === null ? null : storable(redact(reason)) }
    erased.push(one)
    if (isLast) ended = one
  }
  return erased
}

/** Asks for one identifier. `isLast`: it makes no sense to ask for another one. */
async function askFor(
  erase: ErasePerson,
  identifier: PersonIdentifier,
  signal: AbortSignal,
): Promise<ErasedIdentifier & { readonly isLast: boolean }> {
  try {
    const answer = await erase(identifier)
    return { outcome: answer.outcome, reason: answer.outcome === 'refused' ? answer.reason : null, isLast: false }
  } catch (error) {
    const connectorError = asConnectorError(error)
    if (!connectorError && !signal.aborted) throw error
    const isLast = signal.aborted || /^(reauthenticate|reconfigure)$/.test(connectorError?.action ?? '')
    return { outcome: 'unknown', reason: connectorError?.message ?? null, isLast }
  }
}
