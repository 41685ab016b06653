import type { Values } from '@penstock/connector'
import type { ConnectConfig } from 'ssh2'
import { readPrivateKey } from './private-key.ts'

/** The credentials of a user, from a connector's values. Throws `invalid_credentials` if the key is not a key. */
export async function signInOf(secrets: Values, signal: AbortSignal): Promise<ConnectConfig> {
  const username = String(secrets.username)
  if (secrets.authentication === 'password') return { username, password: String(secrets.password), tryKeyboard: true }
  const { passphrase } = secrets
  const given = passphrase === undefined ? undefined : String(passphrase)
  return { username, privateKey: await readPrivateKey(String(secrets.sshPrivateKey), given, signal) }
}
