import assert from 'node:assert/strict'
import type { Connector } from '@penstock/connector'
import { type OAuthApp, removeOAuthApp, setOAuthApp } from '../../packages/server/src/secrets/oauth-apps.ts'
import { connectorBySlug } from './fixtures.ts'
import type { TestService } from './service.ts'

/** A connector that can be authorized with a click. */
export const authorizable = connectorBySlug('google-ads-customer-match')

/** The operator's app of the tests. */
export const appOfTests: OAuthApp = { clientId: 'client-of-operator', clientSecret: 'canary-secret-of-operator' }

/** Registers an app with the platform of a connector, as `penstock oauth-app set` does. */
export async function registerApp(
  { database, service }: Pick<TestService, 'database' | 'service'>,
  { authorization }: Connector,
  app: OAuthApp = appOfTests,
): Promise<void> {
  assert(authorization)
  const { config, keyring } = service.deps
  const key = { env: config.environment.name, slug: authorization.server.slug }
  await database.transaction((tx) => setOAuthApp(tx, keyring, key, app))
}

/** Removes it, as `penstock oauth-app remove` does. */
export async function removeApp(
  { database, config }: Pick<TestService, 'database' | 'config'>,
  { authorization }: Connector,
): Promise<void> {
  assert(authorization)
  await removeOAuthApp(database, { env: config.environment.name, slug: authorization.server.slug })
}
