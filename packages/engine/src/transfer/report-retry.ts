import { asConnectorError } from '@penstock/connector'
import type { TransferHost } from '../protocol.ts'
import { storable } from '../storable.ts'
import { codeOf, sideOf } from './connector-calls.ts'
import type { Retries } from './retries.ts'

/** Counts a transient error, and shows it to people who look while the transfer retries. @param waitMs until the next try */
export async function reportRetry(
  { host, retries }: { readonly host: Pick<TransferHost, 'reportRetry'>; readonly retries: Retries },
  error: unknown,
  waitMs: number,
): Promise<void> {
  retries.count(error)
  const message = `${storable(asConnectorError(error)?.message ?? 'The connector failed unexpectedly.')} Trying again.`
  await host.reportRetry({ code: codeOf(error), message, side: sideOf(error), waitMs })
}
