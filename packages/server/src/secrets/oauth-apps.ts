import type { Db, Transaction } from '../db/database.ts'
import type { Keyring } from './keyring.ts'
import {
  deleteOAuthApp,
  findOAuthApp,
  type ListedOAuthApp,
  type OAuthAppRow,
  putOAuthApp,
  selectOAuthApps,
} from './queries.ts'
import { seal, unseal } from './seal.ts'

/**
 * The apps that the operator registered with platforms, so that their users can authorize connectors. An app is of a
 * deployment (`env`), and of the server that its users consent at (`slug`). Its secret leaves for the platform alone.
 */

/** Which app is meant. */
export type OAuthAppKey = { readonly env: string; readonly slug: string }

/** An app with its secret in the clear, on its way to a runner. */
export type OAuthApp = { readonly clientId: string; readonly clientSecret: string }

/** Place that the secret of an app is bound to. Replacing the client ID makes its secret useless. */
export const oauthAppPlace = ({ env, slug, clientId }: Pick<OAuthAppRow, 'env' | 'slug' | 'clientId'>) => [
  'OAuth app',
  env,
  slug,
  clientId,
]

/** Registers an app, in place of the one that was there. */
export async function setOAuthApp(
  tx: Transaction,
  keyring: Keyring,
  { env, slug }: OAuthAppKey,
  { clientId, clientSecret }: OAuthApp,
): Promise<void> {
  const key = await keyring.forSealing(tx)
  const sealed = seal(key, oauthAppPlace({ env, slug, clientId }), clientSecret)
  await putOAuthApp.run(tx, { env, slug, clientId, keyId: key.id, sealed })
}

/** The client ID of an app, which is no secret; `undefined` if none is registered. */
export const findOAuthClientId = async (db: Db, { env, slug }: OAuthAppKey): Promise<string | undefined> =>
  (await findOAuthApp.first(db, { env, slug }))?.clientId

/** Opens an app; `undefined` if none is registered. */
export async function openOAuthApp(
  db: Db,
  keyring: Keyring,
  { env, slug }: OAuthAppKey,
): Promise<OAuthApp | undefined> {
  const row = await findOAuthApp.first(db, { env, slug })
  if (!row) return undefined
  const plain = unseal(await keyring.forOpening(db, row.keyId), oauthAppPlace(row), row.sealed)
  return { clientId: row.clientId, clientSecret: plain.toString('utf8') }
}

/** The apps of a deployment, without their secrets. */
export const listOAuthApps = (db: Db, env: string): Promise<ListedOAuthApp[]> => selectOAuthApps.all(db, { env })

/** Removes an app. Resolves with whether there was one. */
export const removeOAuthApp = async (db: Db, { env, slug }: OAuthAppKey): Promise<boolean> =>
  (await deleteOAuthApp.run(db, { env, slug })) > 0
