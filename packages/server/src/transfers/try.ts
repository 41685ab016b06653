import { ConnectorError } from '@penstock/connector'
import type { TryJob } from '@penstock/engine'
import { requireScope } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { askTimeoutMs } from './ask.ts'
import { openEnteredSide } from './entered-side.ts'
import { JobHost } from './job-host.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

/** Has a runner deliver a few rows to a destination, with the saved configuration and values that are not saved yet. */
export async function tryDestination(
  call: Call<'tryDestination'>,
  deps: TransferDeps,
): Promise<Answer<'tryDestination'>> {
  const { db: database, actor, account, id: connectorId, body, signal } = call
  const { catalogue, keyring, identityTokens, interactive } = deps
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  requireScope(actor, 'records:read')
  requireScope(actor, 'transfers:run')
  if (!connector.destination?.deliver?.try) refuse('asking_not_supported')
  const { opened, entered, side } = await openEnteredSide(call, deps, connector, 'Destination')
  const now = await databaseNow(database)
  const triedTime = unixSeconds(now)
  const errorOf = (error: Parameters<typeof viewError>[0]) =>
    viewError(error, { srcConnectorId: connectorId, destConnectorId: connectorId })
  const untried = (error: Parameters<typeof viewError>[0]): Answer<'tryDestination'> => ({
    reply: {
      exchanges: [],
      rows: body.rows.map(() => ({ state: 'unknown' as const, reason: null })),
      error: errorOf(error),
      triedTime,
    },
  })
  if (opened instanceof ConnectorError)
    return untried({ code: opened.code, message: opened.message, side: 'Destination' })
  const result = await interactive.run(
    {
      kind: 'try',
      connector: opened,
      entered,
      ...rowsToTry(body.rows),
      startedTime: now.toISOString(),
      deadlineMs: askTimeoutMs,
    },
    account,
    signal,
    new JobHost({ database, keyring, identityTokens }, [side]),
  )
  if (!result.ok) return untried({ side: 'Destination', ...result.failure })
  const { exchanges, rows: results, error } = result.value
  return {
    reply: {
      exchanges: exchanges.map(({ request, answer }) => ({
        request,
        answer: { ...answer, headers: [...answer.headers] },
      })),
      rows: results.map((one) => ({ ...one })),
      error: error && errorOf({ ...error, side: 'Destination' }),
      triedTime,
    },
    showsRecords: true,
  }
}

/** Rows by their columns, as a runner gets them: a missing value is null. */
export function rowsToTry(given: readonly Readonly<Record<string, string | null>>[]): Pick<TryJob, 'columns' | 'rows'> {
  const columns = [...new Set(given.flatMap((row) => Object.keys(row)))]
  const cellOf = (row: Readonly<Record<string, string | null>>) => (column: string) =>
    Object.hasOwn(row, column) ? (row[column] ?? null) : null
  return { columns, rows: given.map((row) => columns.map(cellOf(row))) }
}
