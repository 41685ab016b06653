import assert from 'node:assert/strict'
import { endClient } from '../../packages/server/src/organizations/credentials.ts'
import type { Organization, TestService } from './service.ts'
import { until } from './until.ts'

/** Credentials that are no good, or no good any more. */

/** Invalid values of an Authorization header, by their defect. Undefined means no header. */
export async function badAuthorizations(
  service: TestService,
  { token }: Organization,
): Promise<Record<string, string | undefined>> {
  return {
    'no header': undefined,
    'an empty token': 'Bearer ',
    garbage: 'Bearer pst_garbage',
    'two tokens': `Bearer ${token} ${token}`,
    'another scheme': 'Basic dXNlcjpwYXNzd29yZA==',
    'a valid token without its scheme': token,
    'an expired token': `Bearer ${await expiredToken(service)}`,
    'the token of a revoked client': `Bearer ${await revokedToken(service)}`,
  }
}

/** An expired token. It was never used, so no process has cached it. */
async function expiredToken(service: TestService): Promise<string> {
  const { clientId, token } = await service.addOrganization()
  const sql = `update tokens set expires_time = now() - interval '1 second' where client_id = $1`
  assert.equal((await service.database.pool.query(sql, [clientId])).rowCount, 1)
  return token
}

/** A token that was in use when its client was revoked. */
async function revokedToken(service: TestService): Promise<string> {
  const { clientId, token } = await service.addOrganization()
  assert.equal((await service.call('listAccounts', { token })).status, 200)
  await service.database.transaction((tx) => endClient(tx, clientId))
  await untilRefused(service, token)
  return token
}

/** Waits, at most 5 seconds, until a service refuses the token. */
export async function untilRefused(service: TestService, token: string): Promise<void> {
  const isRefused = async () => (await service.call('listAccounts', { token })).status === 401
  await until('the token is refused', isRefused, 5_000)
}
