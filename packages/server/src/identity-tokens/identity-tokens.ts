import { databaseNow } from '../db/clock.ts'
import { newIdentifier } from '../identifiers.ts'
import type { PublicKey } from './queries.ts'
import { currentKeys, type KeyDeps, openSigningKey } from './signing-keys.ts'

/**
 * Identity tokens: this service as an issuer of OpenID Connect. A token states which sub-account a job is of. A cloud that
 * trusts the issuer lets the job sign in without a stored key.
 */

/** How long a token is valid, in seconds: for one sign-in. */
export const tokenSeconds = 300
/** The clock of a cloud may be behind. */
const earlySeconds = 60

/** A sub-account, whose jobs get tokens. */
export type Subject = { readonly organizationId: string; readonly accountId: string }

/** The subject of the tokens of a sub-account, which trust policies of clouds name. */
export const subjectOf = ({ organizationId, accountId }: Subject): string => `penstock:${organizationId}:${accountId}`

/** A public key with its identifier, as it is published. */
export type PublishedKey = PublicKey & { readonly kid: string; readonly use: 'sig'; readonly alg: 'RS256' }

/** The issuer of identity tokens. */
export type IdentityTokens = {
  /** The address of the issuer, as tokens contain it. */
  readonly issuer: string
  /**
   * Signs a token for a job of a sub-account.
   * @param audience whom the token is for, as a cloud expects it
   */
  issue(subject: Subject, audience: string): Promise<string>
  /** The keys that verify tokens. */
  keys(): Promise<readonly PublishedKey[]>
}

/** @param issuer the public address of the service, without a slash at its end */
export function createIdentityTokens(deps: KeyDeps, issuer: string): IdentityTokens {
  let reading: Promise<readonly PublishedKey[]> | undefined
  const readKeys = async (): Promise<readonly PublishedKey[]> =>
    (await currentKeys(deps)).map(({ id, publicKey }) => ({ ...publicKey, kid: id, use: 'sig', alg: 'RS256' }))
  return {
    issuer,
    async issue(subject, audience) {
      // Loaded when a job needs a token, since most deployments sign none.
      const { SignJWT } = await import('jose')
      const { id, key } = await openSigningKey(deps, await currentKeys(deps))
      const now = Math.floor((await databaseNow(deps.database)).getTime() / 1000)
      return new SignJWT()
        .setProtectedHeader({ alg: 'RS256', kid: id, typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(subjectOf(subject))
        .setAudience(audience)
        .setIssuedAt(now)
        .setNotBefore(now - earlySeconds)
        .setExpirationTime(now + tokenSeconds)
        .setJti(newIdentifier())
        .sign(key)
    },
    keys() {
      // Everybody may ask, so that requests at the same time have one statement. A cloud keeps what it reads, so nothing older
      // is served.
      reading ??= readKeys().finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}
