import type { Connector } from '@penstock/connector'
import { type DiscoverValues, limits, type Role } from '@penstock/wire'
import { hasScope, showingTo } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { readFieldValues, requireToDirectSecrets } from '../connections/sides.ts'
import { findConfiguration, requireConfiguration } from '../connectors/configuration.ts'
import { databaseNow } from '../db/clock.ts'
import { Refusal, refuse, refuseFieldErrors } from '../refusal.ts'
import { withPresentSecrets } from '../secret-managers/outdated.ts'
import type { SecretManagers } from '../secret-managers/secret-managers.ts'
import { unixSeconds } from '../time.ts'
import type { Discovered } from './discoveries.ts'
import { codeOf } from './interactive.ts'
import { JobHost } from './job-host.ts'
import { openSide } from './sides.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

const discoveryTimeoutMs = 30_000

/** Has a runner list the values that a setting can have at the platform. */
export async function discoverValues(
  { db: database, actor, account, id: connectorId, query: { configurationId }, body, signal }: Call<'discoverValues'>,
  { catalogue, keyring, secretManagers, identityTokens, interactive, discoveries }: TransferDeps,
): Promise<Answer<'discoverValues'>> {
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'query.configurationId' }
  const row = await requireConfiguration(database, wanted, findConfiguration)
  const { field, q = '', size = limits.discoverySizeDefault, cursor = null, fresh = false } = body
  const role = roleOf(connector, body)
  if (!row.configured) refuse('connector_not_configured')
  const { values, fieldErrors } = readFieldValues(connector, role, body.settings ?? {}, 'body.settings')
  refuseFieldErrors(fieldErrors)
  requireToDirectSecrets(actor, connector, role, {}, values)
  const side = { connector, accountId: account.id, configurationId: row.configurationId }
  // Values are records: a kept answer is only for callers with the same right.
  const withSamples = role === 'Source' && field === 'columns' && hasScope(actor, 'records:read')
  const showing = showingTo(actor, body.view)
  const search = q.trim()
  const view = body.view === undefined ? undefined : { id: body.view, of: { ...side, connector: connectorId, values } }
  // This service knows its own files and events as they are now.
  const isLasting = !(connector.readsUploads || connector.readsRejects || connector.readsEvents)
  const ask = async (managers: SecretManagers) => {
    const opened = await openSide({ database, keyring, secretManagers: managers }, side, { job: 'discovery' }, values)
    const asked = {
      kind: 'discovery',
      connector: opened,
      role,
      field,
      search,
      cursor,
      size,
      withSamples,
      showing,
    } as const
    const kept = fresh || !isLasting ? undefined : discoveries.find([account.id, asked])
    if (kept) return { asked, kept, result: undefined }
    const host = new JobHost({ database, keyring, identityTokens }, [side])
    const result = await interactive.run({ ...asked, deadlineMs: discoveryTimeoutMs }, account, signal, host)
    return { asked, kept: undefined, result }
  }
  const { asked, kept, result } = await withPresentSecrets(secretManagers, ask, (one) => codeOf(one.result))
  if (kept) return answerOf(kept, view)
  if (!result.ok) {
    const { side: failed = role, ...failure } = result.failure
    const ids = { srcConnectorId: connectorId, destConnectorId: connectorId }
    const details = [{ field: `body.settings.${field}`, message: failure.message }]
    throw new Refusal('platform_refused', details, undefined, viewError({ ...failure, side: failed }, ids))
  }
  const found = { page: result.value, time: unixSeconds(await databaseNow(database)) }
  if (isLasting) discoveries.keep([account.id, asked], found)
  return answerOf(found, view)
}

/** The role whose setting is meant. Refuses with `discovery_not_supported` if none has it, and asks for the role if both have. */
function roleOf({ source, destination, roles }: Connector, { field, role }: DiscoverValues): Role {
  const has = (one: Role) => Object.hasOwn((one === 'Source' ? source : destination)?.discover ?? {}, field)
  const found = roles.filter((one) => has(one) && (role === undefined || one === role))
  const [first, second] = found
  if (!first) return refuse('discovery_not_supported')
  if (second) refuseFieldErrors([{ field: 'body.role', message: `must be set: both roles have the setting ${field}` }])
  return first
}

/** The answer, and whether it shows values of records, which the audit log records. */
function answerOf(found: Discovered, view: Answer<'discoverValues'>['view']): Answer<'discoverValues'> {
  const showsRecords = found.page.items.some(({ samples = [] }) => samples.length > 0)
  return { reply: viewDiscovery(found), showsRecords, ...(view !== undefined && { view }) }
}

const viewDiscovery = ({ page, time }: Discovered) => ({
  items: page.items.map(({ value, label, kind, type, key, required, rows, samples }) => ({
    value,
    label: label ?? null,
    kind,
    type: type ?? null,
    key: key ?? null,
    required: required ?? null,
    rows: rows ?? null,
    ...(samples ? { samples: samples.map(String) } : {}),
  })),
  next: page.next ?? null,
  discoveredTime: time,
})
