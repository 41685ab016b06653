import { asConnectorError, ConnectorError } from '@penstock/connector'
import { requireScope } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { readFieldValues, requireToDirectSecrets } from '../connections/sides.ts'
import {
  currentValues,
  findConfiguration,
  readConfiguration,
  requireConfiguration,
  requireValid,
} from '../connectors/configuration.ts'
import { databaseNow } from '../db/clock.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { JobHost } from './job-host.ts'
import { openSide } from './sides.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

const askTimeoutMs = 30_000

/**
 * Has a runner send one request of a source, with the saved configuration and values that are not saved yet. A saved secret does not go to
 * a server that the values name: it must be entered again, as when they are saved.
 */
export async function askSource(
  { db: database, actor, account, id: connectorId, query: { configurationId }, body, signal }: Call<'askSource'>,
  { catalogue, config, keyring, interactive }: TransferDeps,
): Promise<Answer<'askSource'>> {
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  requireScope(actor, 'records:read')
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'query.configurationId' }
  const row = await requireConfiguration(database, wanted, findConfiguration)
  if (!connector.source?.ask) refuse('asking_not_supported')
  const current = await currentValues(database, account, row)
  const { set, cleared, fieldErrors } = readConfiguration(connector, current, body.secretConfig ?? {})
  const isSecret = (key: string) => connector.secrets[key]?.type === 'Password'
  const entered = [...Object.keys(set), ...cleared].some(isSecret)
  if (entered) requireScope(actor, 'secrets:write')
  const without = <V>(values: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(Object.entries(values).filter(([key]) => !cleared.includes(key)))
  requireValid(connector, fieldErrors, without({ ...current, ...set }), config)
  const settings = readFieldValues(connector, 'Source', body.settings ?? {}, 'body.settings')
  refuseFieldErrors(settings.fieldErrors)
  requireToDirectSecrets(actor, connector, 'Source', {}, settings.values)
  const side = { connector, accountId: account.id, configurationId: row.configurationId }
  const askedTime = unixSeconds(await databaseNow(database))
  const errorOf = (error: Parameters<typeof viewError>[0]) =>
    viewError(error, { srcConnectorId: connectorId, destConnectorId: connectorId })
  const unanswered = (error: Parameters<typeof viewError>[0]): Answer<'askSource'> => ({
    reply: { request: null, answer: null, error: errorOf(error), columns: [], rows: [], next: null, askedTime },
  })
  // A secret that is saved for another server from now on is not sent to the one that the values were read with.
  const frozen = { role: 'Source', settings: row.settings } as const
  const opened = await openSide({ database, keyring }, { ...side, frozen }, settings.values).catch(connectorErrorOf)
  if (opened instanceof ConnectorError)
    return unanswered({ code: opened.code, message: opened.message, side: 'Source' })
  const secrets = without({ ...opened.secrets, ...set })
  const result = await interactive.run(
    {
      kind: 'ask',
      connector: { ...opened, secrets },
      entered,
      page: body.page ?? null,
      deadlineMs: askTimeoutMs,
    },
    account,
    signal,
    new JobHost({ database, keyring }, [side]),
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

function connectorErrorOf(error: unknown): ConnectorError {
  const connectorError = asConnectorError(error)
  if (!connectorError) throw error
  return connectorError
}
