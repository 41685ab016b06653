import type { ErasedIdentifier } from '@penstock/engine'
import { record } from '../../audit/record.ts'
import { auditActorOf } from '../../audit/requests.ts'
import type { Answer, Call } from '../../call.ts'
import { findConfiguration, requireConfiguration } from '../../connectors/configuration.ts'
import { databaseNow } from '../../db/clock.ts'
import { refuse, refuseFieldErrors } from '../../refusal.ts'
import { unixSeconds } from '../../time.ts'
import type { InteractiveFailure } from '../interactive.ts'
import { JobHost } from '../job-host.ts'
import { openSide } from '../sides.ts'
import type { TransferDeps } from '../transfers.ts'
import { viewError } from '../view.ts'
import * as queries from './queries.ts'

/** The erasure of a person at the platforms of destinations. */

const erasureTimeoutMs = 60_000

/** Lists configured destinations, and how their platforms erase a person. */
export async function listErasureDestinations(
  { db, account, query: { size, offset } }: Call<'listErasureDestinations'>,
  { catalogue }: TransferDeps,
): Promise<Answer<'listErasureDestinations'>> {
  const destinations = catalogue.all.filter(({ destination }) => destination?.deliver)
  const filter = { accountId: account.id, connectorIds: destinations.map(({ id }) => id) }
  const [rows, count] = await Promise.all([
    queries.configuredDestinations.all(db, { ...filter, size, offset }),
    queries.countConfiguredDestinations.first(db, filter),
  ])
  const reply = rows.map(({ connectorId, configurationId, name, settings }) => {
    const connector = catalogue.known(connectorId)
    const { erasure } = connector.destination ?? {}
    const kinds = [...(erasure?.by(settings) ?? [])]
    return {
      connectorId,
      connectorName: connector.name,
      configurationId,
      configurationName: name,
      kinds,
      deletes: kinds.length > 0 && erasure ? erasure.what : null,
    }
  })
  return { reply, total: count?.total ?? 0 }
}

/**
 * Asks the platform of one destination to erase a person. The audit log has an event before the platform is asked, so that an erasure
 * is recorded even if this process is killed meanwhile, and one with the outcomes.
 */
export async function eraseAtDestination(
  call: Call<'eraseAtDestination'>,
  { catalogue, keyring, secretManagers, identityTokens, interactive }: TransferDeps,
): Promise<Answer<'eraseAtDestination'>> {
  const { db: database, actor, account, id: connectorId, query, body, signal, address, requestId } = call
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, field: 'query.configurationId' }
  const row = await requireConfiguration(
    database,
    { ...wanted, configurationId: query.configurationId },
    findConfiguration,
  )
  const { configurationId } = row
  const kinds = connector.destination?.erasure?.by(row.settings) ?? []
  if (!row.configured) refuse('connector_not_configured')
  // Spaces around an identifier are not part of it: no platform would find it.
  const identifiers = body.identifiers.map(({ kind, value }) => ({ kind, value: value.trim() }))
  const accepted =
    kinds.length > 0
      ? `must be one of ${kinds.join(', ')}`
      : 'cannot be erased by this platform: erase the person there yourself'
  const wrong = identifiers.flatMap(({ kind }, i) => (kinds.includes(kind) ? [] : [`body.identifiers.${i}.kind`]))
  refuseFieldErrors(wrong.map((field) => ({ field, message: accepted })))
  const note = (details: object) =>
    database.transaction(async (tx) =>
      record(tx, {
        organizationId: actor.organizationId,
        actor: auditActorOf(actor),
        action: 'eraseAtDestination',
        accountId: account.id,
        targetId: connectorId,
        address,
        requestId,
        details: { configurationId, ...details },
      }),
    )
  await note({ asked: countsOf(identifiers.map(({ kind }) => kind)) })
  const erasedTime = unixSeconds(await databaseNow(database))
  const side = { connector, accountId: account.id, configurationId }
  const opened = await openSide({ database, keyring, secretManagers }, side, { job: 'erasure', fresh: true })
  const job = { kind: 'erase', connector: opened, identifiers, deadlineMs: erasureTimeoutMs } as const
  const result = await interactive.run(job, account, signal, new JobHost({ database, keyring, identityTokens }, [side]))
  const erased: readonly ErasedIdentifier[] = result.ok ? result.value : []
  const results = identifiers.map((identifier, i) => ({
    ...identifier,
    ...(erased[i] ?? { outcome: 'unknown' as const, reason: null }),
  }))
  await note({ outcomes: countsOf(results.map(({ outcome }) => outcome)) })
  const errorOf = ({ code, message, side = 'Destination' }: InteractiveFailure) =>
    viewError({ code, message, side }, { srcConnectorId: connectorId, destConnectorId: connectorId })
  return { reply: { results, error: result.ok ? null : errorOf(result.failure), erasedTime } }
}

/** How often each word is there. */
const countsOf = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))
