import type { Db } from '../db/database.ts'
import { dataKeyPlace } from './data-keys.ts'
import type { Keyring } from './keyring.ts'
import { oauthAppPlace } from './oauth-apps.ts'
import { allOAuthApps, dataKeysAfter, secretsAfter } from './queries.ts'
import { unseal } from './seal.ts'
import { secretPlace } from './secrets.ts'

const pageRows = 1_000

/**
 * Opens every secret, every app and every data key, and keeps none of them.
 * @returns their number
 * @throws MasterKeyMismatch if one is sealed under an unknown key, and an error if one was altered
 */
export async function verifySecrets(db: Db, keyring: Keyring): Promise<number> {
  let opened = 0
  for (let last = { accountId: '', connectorId: '', configurationId: '', name: '' }; ; ) {
    const rows = await secretsAfter.all(db, { ...last, limit: pageRows })
    for (const row of rows) unseal(await keyring.forOpening(db, row.keyId), secretPlace(row), row.sealed)
    opened += rows.length
    const end = rows.at(-1)
    if (!end || rows.length < pageRows) break
    last = end
  }
  const apps = await allOAuthApps.all(db, {})
  for (const row of apps) unseal(await keyring.forOpening(db, row.keyId), oauthAppPlace(row), row.sealed)
  opened += apps.length
  for (let id = ''; ; ) {
    const rows = await dataKeysAfter.all(db, { id, limit: pageRows })
    for (const row of rows) unseal(await keyring.forOpening(db, row.keyId), dataKeyPlace(row.id), row.sealed)
    opened += rows.length
    id = rows.at(-1)?.id ?? id
    if (rows.length < pageRows) return opened
  }
}
