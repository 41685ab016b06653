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
import { seal, Unreadable, unseal } from './seal.ts'

/** Place that a secret is bound to: its account, connector, configuration and name. */
export const secretPlace = ({ accountId, connectorId, configurationId, name }: SecretKey) => [
  'secret',
  accountId,
  connectorId,
  configurationId,
  name,
]

/** A secret to store: its value, or a reference to a secret manager that has it. */
export type GivenSecret = { readonly value: string } | { readonly reference: string }

/** Seals and stores secrets, and deletes the cleared ones. */
export async function saveSecrets(
  tx: Transaction,
  keyring: Keyring,
  owner: SecretOwner,
  given: Readonly<Record<string, GivenSecret>>,
  cleared: readonly string[],
): Promise<void> {
  for (const name of cleared) await deleteSecret.run(tx, { ...owner, name })
  const names = Object.keys(given)
  if (names.length === 0) return
  const key = await keyring.forSealing(tx)
  for (const [name, secret] of Object.entries(given)) {
    const reference = 'reference' in secret ? secret.reference : null
    const sealed = seal(key, secretPlace({ ...owner, name }), 'reference' in secret ? secret.reference : secret.value)
    await putSecret.run(tx, { ...owner, name, keyId: key.id, sealed, reference })
  }
}

/** The secrets that are set; of a value only its name, of a reference also the reference. */
export const setSecrets = (db: Db, owner: SecretOwner): Promise<{ name: string; reference: string | null }[]> =>
  secretNames.all(db, owner)

/** The secrets of a configuration: values that are stored here, and references to values that a secret manager has. */
export type StoredSecrets = {
  readonly values: Readonly<Record<string, string>>
  readonly references: Readonly<Record<string, string>>
}

/** Opens the secrets of a configuration, only for the configuration itself. */
export async function openStoredSecrets(db: Db, keyring: Keyring, owner: SecretOwner): Promise<StoredSecrets> {
  const values: Record<string, string> = {}
  const references: Record<string, string> = {}
  for (const row of await secretsOfConfiguration.all(db, owner)) {
    const opened = unseal(await keyring.forOpening(db, row.keyId), secretPlace(row), row.sealed).toString('utf8')
    if (row.reference === null) values[row.name] = opened
    // Nobody who can only write the database leads a connector to another secret.
    else if (row.reference === opened) references[row.name] = opened
    else throw new Unreadable(`The reference of the secret ${row.name} was altered in the database.`)
  }
  return { values, references }
}

/** Opens the secrets that are stored here. Secrets of event streams cannot be references. */
export const openSecrets = async (
  db: Db,
  keyring: Keyring,
  owner: SecretOwner,
): Promise<Readonly<Record<string, string>>> => (await openStoredSecrets(db, keyring, owner)).values
