import { ConnectorError } from '@penstock/connector'
import { requireScope } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { openEnteredSide } from './entered-side.ts'
import { JobHost } from './job-host.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

export const askTimeoutMs = 30_000

/** Has a runner send one request of a source, with the saved configuration and values that are not saved yet. */
export async function askSource(call: Call<'askSource'>, deps: TransferDeps): Promise<Answer<'askSource'>> {
  const { db: database, actor, account, id: connectorId, body, signal } = call
  const { catalogue, keyring, identityTokens, interactive } = deps
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  requireScope(actor, 'records:read')
  if (!connector.source?.ask) refuse('asking_not_supported')
  const { opened, entered, side } = await openEnteredSide(call, deps, connector, 'Source')
  const askedTime = unixSeconds(await databaseNow(database))
  const errorOf = (error: Parameters<typeof viewError>[0]) =>
    viewError(error, { srcConnectorId: connectorId, destConnectorId: connectorId })
  const unanswered = (error: Parameters<typeof viewError>[0]): Answer<'askSource'> => ({
    reply: { request: null, answer: null, error: errorOf(error), columns: [], rows: [], next: null, askedTime },
  })
  if (opened instanceof ConnectorError)
    return unanswered({ code: opened.code, message: opened.message, side: 'Source' })
  const result = await interactive.run(
    { kind: 'ask', connector: opened, entered, page: body.page ?? null, deadlineMs: askTimeoutMs },
    account,
    signal,
    new JobHost({ database, keyring, identityTokens }, [side]),
  )
  if (!result.ok) return unanswered({ side: 'Source', ...result.failure })
  const { request, answer, error, columns, rows, next } = result.value
  return {
    reply: {
      request,
      answer: { ...answer, headers: [...answer.headers] },
      error: error && errorOf({ ...error, side: 'Source' }),
      columns: [...columns],
      rows: rows.map((cells) => [...cells]),
      next,
      askedTime,
    },
    showsRecords: true,
  }
}
