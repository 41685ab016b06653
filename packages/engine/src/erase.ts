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
  const erased = await eraseEach(erase, identifiers, signal)
  return erased.map(({ outcome, reason }) => ({ outcome, reason: reason === null ? null : storable(redact(reason)) }))
}

/** Asks for each identifier, until the job must end or the credentials are refused. Throws what is no connector error. */
export async function eraseEach(
  erase: ErasePerson,
  identifiers: readonly PersonIdentifier[],
  signal: AbortSignal,
): Promise<readonly ErasedIdentifier[]> {
  const erased: ErasedIdentifier[] = []
  let last: ErasedIdentifier | undefined
  for (const identifier of identifiers) {
    const { isLast, ...one } = last ? { ...last, isLast: true } : await askFor(erase, identifier, signal)
    erased.push(one)
    if (isLast) last = one
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
    const isRefused = connectorError?.action === 'reauthenticate' || connectorError?.code === 'permission_denied'
    const isLast = signal.aborted || isRefused
    return { outcome: 'unknown', reason: connectorError?.message ?? null, isLast }
  }
}
