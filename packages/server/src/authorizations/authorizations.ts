import { limits } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { findConfiguration, lockConfiguration, requireConfiguration } from '../connectors/configuration.ts'
import type { ConnectorDeps } from '../connectors/connectors.ts'
import { refuse, requireEditable } from '../refusal.ts'
import { findOAuthClientId } from '../secrets/oauth-apps.ts'
import { unixSeconds } from '../time.ts'
import { dropOldAuthorizations, findLastAuthorization, insertAuthorization } from './queries.ts'
import { digestOf, newToken } from './tokens.ts'

/** Authorizing connectors with a click: the operations. `flow.ts` has the part in the browser. */

/** Limit of active authorizations of one connector. A new one replaces the oldest. */
const atOnceMax = 20

/** Whether a connector can be authorized with a click, and whether it works with such a grant. */
export async function getConnectorAuthorization(
  { db, actor, account, id: connectorId, query }: Call<'getConnectorAuthorization'>,
  { catalogue, config }: ConnectorDeps,
): Promise<Answer<'getConnectorAuthorization'>> {
  const { authorization } = catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, ...query, field: 'query.configurationId' }
  const row = await requireConfiguration(db, { configurationId: undefined, ...wanted }, findConfiguration)
  const owner = { accountId: account.id, connectorId, configurationId: row.configurationId }
  const last = await findLastAuthorization.first(db, { ...owner, actorKind: actor.kind, actorId: actor.id })
  const app = authorization && { env: config.environment.name, slug: authorization.server.slug }
  return {
    reply: {
      supported: authorization !== undefined,
      available: app !== undefined && (await findOAuthClientId(db, app)) !== undefined,
      authorized: row.oauthClientId !== null,
      attempt: last ? (last.outcome ?? 'pending') : null,
    },
  }
}

/** Creates a link that the person who consents can open one time. */
export async function authorizeConnector(
  { db: tx, actor, account, id: connectorId, query }: Call<'authorizeConnector'>,
  deps: ConnectorDeps,
): Promise<Answer<'authorizeConnector'>> {
  const { catalogue, config } = deps
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, ...query, field: 'query.configurationId' }
  const row = await requireConfiguration(tx, { configurationId: undefined, ...wanted }, lockConfiguration)
  const owner = { accountId: account.id, connectorId, configurationId: row.configurationId }
  requireEditable(row, deps)
  const { server } = connector.authorization ?? refuse('authorization_not_supported')
  const clientId = await findOAuthClientId(tx, { env: config.environment.name, slug: server.slug })
  if (clientId === undefined) {
    const message = `no app is registered with ${server.name}; the operator registers one with the command \`oauth-app set ${server.slug}\` of Penstock`
    refuse('authorization_not_available', [{ field: 'connector', message }])
  }
  await dropOldAuthorizations.run(tx, { ...owner, kept: atOnceMax - 1 })
  const link = newToken()
  const made = await insertAuthorization.first(tx, {
    linkDigest: digestOf(link),
    ...owner,
    clientId,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    minutes: limits.authorizationMinutes,
  })
  if (!made) throw new Error('The authorization was not stored')
  const url = `${config.publicUrl}/oauth/authorize/${link}`
  return { reply: { url, expiresTime: unixSeconds(made.expiresTime) } }
}
