import type { Db, Transaction } from '../db/database.ts'
import type { Keyring } from './keyring.ts'
import {
  deleteSecret,
  putSecret,
  type SecretKey,
  type SecretOwner,
  secretNames,
  secretsOfConfiguration,
} from './queries.ts'
import { seal, unseal } from './seal.ts'

/** Place that a secret is bound to: its account, connector, configuration and name. */
export const secretPlace = ({ accountId, connectorId, configurationId, name }: SecretKey) => [
  'secret',
  accountId,
  connectorId,
  configurationId,
  name,
]

/** Seals and stores secret values, and deletes the cleared ones. */
export async function saveSecrets(
  tx: Transaction,
  keyring: Keyring,
  owner: SecretOwner,
  values: Readonly<Record<string, string>>,
  cleared: readonly string[],
): Promise<void> {
  for (const name of cleared) await deleteSecret.run(tx, { ...owner, name })
  const names = Object.keys(values)
  if (names.length === 0) return
  const key = await keyring.forSealing(tx)
  for (const name of names) {
    const place = secretPlace({ ...owner, name })
    await putSecret.run(tx, { ...owner, name, keyId: key.id, sealed: seal(key, place, values[name] ?? '') })
  }
}

/** The names of the secrets that are set; what a form needs to know of them. */
export async function namesOfSecrets(db: Db, owner: SecretOwner): Promise<string[]> {
  return (await secretNames.all(db, owner)).map(({ name }) => name)
}

/** Opens the secrets of a configuration, only for the configuration itself. */
export async function openSecrets(db: Db, keyring: Keyring, owner: SecretOwner): Promise<Record<string, string>> {
  const opened: Record<string, string> = {}
  for (const row of await secretsOfConfiguration.all(db, owner)) {
    opened[row.name] = unseal(await keyring.forOpening(db, row.keyId), secretPlace(row), row.sealed).toString('utf8')
  }
  return opened
}
