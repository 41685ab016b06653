import assert from 'node:assert/strict'
import type { Account } from '@penstock/wire'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { openKeyring } from '../../packages/server/src/secrets/keyring.ts'
import { parseMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './configurations.ts'
import { destination, destinationSecrets, source, sourceSecrets } from './fixtures.ts'
import { http, type Served } from './process.ts'

/** Saves a secret of a source and a secret of a destination in a new account of a running service. Returns the account. */
export async function saveSecrets(served: Served, token: string): Promise<string> {
  const call = async (path: string, method: string, body: object) => {
    const { status, text, response } = await http(served.url, path, { method, token, body })
    assert(status < 300, text)
    return response
  }
  const { id } = (await call('/accounts', 'POST', { name: 'With secrets' })) as Account
  await call(`/connectors?accountId=${id}`, 'POST', { connectorIds: [source.id, destination.id] })
  for (const [connector, secretConfig] of [
    [source, sourceSecrets],
    [destination, destinationSecrets],
  ] as const) {
    await call(`/connectors/${connector.id}/configuration?accountId=${id}`, 'PUT', { secretConfig })
  }
  return id
}

/** Fails unless the key opens what `saveSecrets` saved in the accounts. */
export async function assertKeyOpens(databaseUrl: string, key: string, accountIds: readonly string[]): Promise<void> {
  const masterKey = parseMasterKey(key)
  assert(masterKey)
  const database = openDatabase({ url: databaseUrl, poolSize: 2 })
  try {
    const keyring = await openKeyring(database, masterKey)
    for (const accountId of accountIds) {
      assert.deepEqual(
        await openSecrets(database, keyring, await firstConfiguration(database, { accountId, connectorId: source.id })),
        {
          secretAccessKey: sourceSecrets.secretAccessKey,
        },
      )
      assert.deepEqual(
        await openSecrets(
          database,
          keyring,
          await firstConfiguration(database, { accountId, connectorId: destination.id }),
        ),
        {
          password: destinationSecrets.password,
        },
      )
    }
  } finally {
    await database.close()
  }
}
