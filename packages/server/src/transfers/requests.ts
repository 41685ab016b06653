import { type Connector, ConnectorError } from '@penstock/connector'
import type { AskJob, OpenedSide, TryJob } from '@penstock/engine'
import type { Role } from '@penstock/wire'
import { requireScope } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { openEnteredSide } from './entered-side.ts'
import type { InteractiveFailure, InteractiveResult } from './interactive.ts'
import { JobHost } from './job-host.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

/** Single requests of one side, with the saved configuration and values that are not saved yet. */

export const requestTimeoutMs = 30_000

/** The side as a runner gets it. */
type Entered = { readonly connector: OpenedSide; readonly entered: boolean; readonly deadlineMs: number }

/** Has a runner send one request of a source. */
export async function askSource(call: Call<'askSource'>, deps: TransferDeps): Promise<Answer<'askSource'>> {
  const connector = requireReadable(call, deps)
  if (!connector.source?.ask) refuse('asking_not_supported')
  const askedTime = unixSeconds(await databaseNow(call.db))
  const { result, errorOf } = await runEntered(
    call,
    deps,
    connector,
    'Source',
    (side): AskJob => ({
      kind: 'ask',
      ...side,
      page: call.body.page ?? null,
    }),
  )
  if (!result.ok) {
    const error = errorOf(result.failure)
    return { reply: { request: null, answer: null, error, columns: [], rows: [], next: null, askedTime } }
  }
  const { request, answer, error, columns, rows, next } = result.value
  return {
    reply: {
      request,
      answer: { ...answer, headers: [...answer.headers] },
      error: error && errorOf(error),
      columns: [...columns],
      rows: rows.map((cells) => [...cells]),
      next,
      askedTime,
    },
    showsRecords: true,
  }
}

/** Has a runner deliver a few rows to a destination. */
export async function tryDestination(
  call: Call<'tryDestination'>,
  deps: TransferDeps,
): Promise<Answer<'tryDestination'>> {
  const { body } = call
  const connector = requireReadable(call, deps)
  requireScope(call.actor, 'transfers:run')
  if (!connector.destination?.deliver?.try) refuse('asking_not_supported')
  const now = await databaseNow(call.db)
  const triedTime = unixSeconds(now)
  const { result, errorOf } = await runEntered(
    call,
    deps,
    connector,
    'Destination',
    (side): TryJob => ({
      kind: 'try',
      ...side,
      ...rowsToTry(body.rows),
      startedTime: now.toISOString(),
    }),
  )
  if (!result.ok) {
    const rows = body.rows.map(() => ({ state: 'unknown' as const, reason: null }))
    return { reply: { exchanges: [], rows, error: errorOf(result.failure), triedTime } }
  }
  const { exchanges, rows, error } = result.value
  return {
    reply: {
      exchanges: exchanges.map(({ request, answer }) => ({
        request,
        answer: { ...answer, headers: [...answer.headers] },
      })),
      rows: rows.map((one) => ({ ...one })),
      error: error && errorOf(error),
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

/** The connector of a call by someone who can read its records. */
function requireReadable(
  { actor, id }: Call<'askSource' | 'tryDestination'>,
  { catalogue }: Pick<TransferDeps, 'catalogue'>,
): Connector {
  const connector = catalogue.find(id) ?? refuse('not_found')
  requireScope(actor, 'records:read')
  return connector
}

/** Runs a job with the side of a call. @returns its result, and how errors of it are shown */
async function runEntered<J extends AskJob | TryJob>(
  call: Call<'askSource' | 'tryDestination'>,
  deps: TransferDeps,
  connector: Connector,
  role: Role,
  jobOf: (side: Entered) => J,
) {
  const { db: database, account, id, signal } = call
  const { keyring, identityTokens, interactive } = deps
  const { opened, entered, side } = await openEnteredSide(call, deps, connector, role)
  const result: InteractiveResult<J> =
    opened instanceof ConnectorError
      ? { ok: false, failure: { code: opened.code, message: opened.message } }
      : await interactive.run(
          jobOf({ connector: opened, entered, deadlineMs: requestTimeoutMs }),
          account,
          signal,
          new JobHost({ database, keyring, identityTokens }, [side]),
        )
  const errorOf = ({ code, message, side = role }: InteractiveFailure) =>
    viewError({ code, message, side }, { srcConnectorId: id, destConnectorId: id })
  return { result, errorOf }
}
