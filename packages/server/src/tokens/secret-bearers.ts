import { limits } from '@penstock/wire'
import type { FailedSignIns } from '../audit/sign-ins.ts'
import type { Actor, Awaitable } from '../call.ts'
import type { Database } from '../db/database.ts'
import { noteUse, secretDigest } from '../organizations/credentials.ts'
import type { Attempts, RequestLimit } from './attempts.ts'
import { findClientBySecret } from './queries.ts'
import { type createCredentialCheck, fromAnywhere } from './tokens.ts'

/** Requests of programs that can send one lasting bearer token only, such as the SCIM clients of identity providers. */

/** Dependencies of the authentication by a secret. */
export type SecretBearerDeps = {
  readonly attempts: Attempts
  readonly requestLimit: RequestLimit
  readonly areCredentialsRight: ReturnType<typeof createCredentialCheck>
  readonly failedSignIns: FailedSignIns
  readonly tokens: { authenticate(token: string): Awaitable<Actor | undefined> }
}

/** A bearer token as a request has it. */
export type SecretBearer = {
  readonly token: string
  /** The IP address that it comes from. */
  readonly address: string
  readonly requestId: string
}

/**
 * Finds the actor of a bearer token: an access token, or `clientId.clientSecret`, which is valid as long as the secret. A
 * secret is compared as in a token request, with the same work for every kind of failure. Refuses with `rate_limited` after too
 * many failures, and if the client has sent too many requests.
 * @returns undefined if the token is not valid
 */
export async function authenticateBySecret(
  db: Database,
  { token, address, requestId }: SecretBearer,
  { attempts, requestLimit, areCredentialsRight, failedSignIns, tokens }: SecretBearerDeps,
): Promise<Actor | undefined> {
  const [clientId = '', clientSecret, ...more] = token.split('.')
  if (clientSecret === undefined) {
    const actor = await tokens.authenticate(token)
    if (actor) requestLimit(actor.id, actor.organizationId)
    return actor
  }
  const isPossible = more.length === 0 && [clientId, clientSecret].every(isCredential)
  if (!isPossible) return undefined
  await attempts.check(clientId, address)
  if (await areCredentialsRight(clientId, clientSecret)) {
    await attempts.check(clientId, address)
    // The check is cached, but an expiry is not announced to the cache.
    const row = await findClientBySecret.first(db, { id: clientId, secretDigest: secretDigest(clientSecret) })
    if (row) {
      requestLimit(clientId, row.organizationId)
      const { lastUseIsOld, ...grants } = row
      if (lastUseIsOld) await noteUse(db, clientId)
      return { kind: 'client', id: clientId, clientId, ...grants }
    }
  }
  failedSignIns.add({ kind: 'client', name: clientId, action: 'scim', address, requestId })
  await attempts.failed(clientId, address, fromAnywhere)
  return undefined
}

const isCredential = (text: string) => text.length <= limits.credentialLengthMax && /^[\w-]+$/.test(text)
