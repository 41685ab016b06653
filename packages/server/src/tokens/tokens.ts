import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Scope, scopeNames } from '@penstock/wire'
import type { FailedSignIns } from '../audit/sign-ins.ts'
import type { Actor, Answer, Awaitable, Call } from '../call.ts'
import type { Config } from '../config.ts'
import { createCache } from '../db/cache.ts'
import type { Database, Db } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import { noteUse, revokedTopic, secretDigest } from '../organizations/credentials.ts'
import { refuse } from '../refusal.ts'
import type { Attempts, RequestLimit } from './attempts.ts'
import { findClient, findToken, insertSession, insertToken } from './queries.ts'

/**
 * Wrong secrets of a client are counted from all addresses together, and its secret is accepted from every address at any time: it cannot
 * be guessed, and a stranger must not stop a program.
 */
export const fromAnywhere = async (): Promise<readonly string[]> => []

/** Dependencies of the handler of the token. */
export type TokenDeps = {
  readonly config: Config
  readonly attempts: Attempts
  readonly requestLimit: RequestLimit
  readonly areCredentialsRight: ReturnType<typeof createCredentialCheck>
  readonly failedSignIns: FailedSignIns
}

const cachedTokensMax = 10_000
const cachedCredentialsMax = 1_000

/** Digest that the secret of an unknown client is compared with, and never equals. */
const noDigest = randomBytes(32)

const newToken = () => `pst_${randomBytes(32).toString('base64url')}`
const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer')

const recentDigestsMax = 256
const recentMs = 10_000

/** The digests of tokens, each computed once for a burst of requests. No token is kept in memory for longer than that. */
function createDigests(): (token: string) => string {
  const recent = new Map<string, string>()
  return (token) => {
    const known = recent.get(token)
    if (known !== undefined) return known
    const digest = hash('sha256', token, 'base64')
    if (recent.size === 0) setTimeout(() => recent.clear(), recentMs).unref()
    if (recent.size < recentDigestsMax) recent.set(token, digest)
    return digest
  }
}

/** A request for an access token of client credentials. */
export type TokenRequest = {
  readonly clientId: string
  readonly clientSecret: string
  /** Names of the scopes that the token is limited to, not yet validated. Null means the scopes of the client. */
  readonly scopes: readonly string[] | null
  /** The IP address that it comes from. */
  readonly address: string
  readonly requestId: string
}

/** The operation of the specification, section 4.1. It refuses as `issueToken` does. */
export async function createToken(
  { db, body, address, requestId }: Call<'createToken'>,
  deps: TokenDeps,
): Promise<Answer<'createToken'>> {
  const { accessToken, lifetimeSeconds } = await issueToken(db, { ...body, scopes: null, address, requestId }, deps)
  return { reply: { accessToken, tokenType: 'Bearer', expiry: lifetimeSeconds } }
}

/**
 * Issues an access token: 256 random bits, stored only as a digest. Refuses with `invalid_client` for unknown, wrong or revoked
 * credentials, with `rate_limited` after too many failures and if the client has sent too many requests, and with `forbidden`
 * scopes that the client does not have.
 * @returns the token, its lifetime in seconds, and its scopes; null: all, including scopes of later versions
 */
export async function issueToken(
  db: Database,
  { clientId, clientSecret, scopes, address, requestId }: TokenRequest,
  { config, attempts, requestLimit, areCredentialsRight, failedSignIns }: TokenDeps,
): Promise<{ accessToken: string; lifetimeSeconds: number; scopes: readonly Scope[] | null }> {
  await attempts.check(clientId, address)
  const right = await areCredentialsRight(clientId, clientSecret)
  if (right) {
    await attempts.check(clientId, address)
    // Each token is a row of the database, and only the client itself can spend its share.
    requestLimit(clientId)
  }
  const accessToken = newToken()
  const limitedTo = right && scopes ? requireScopes(scopes) : null
  const request = { action: 'createToken', address, requestId }
  const issued = right
    ? await insertToken.first(db, {
        digest: digestOf(accessToken),
        clientId,
        secretDigest: secretDigest(clientSecret),
        scopes: limitedTo,
        lifetimeSeconds: config.tokenLifetimeSeconds,
        ...request,
      })
    : undefined
  if (!issued) {
    failedSignIns.add({ kind: 'client', name: clientId, ...request })
    await attempts.failed(clientId, address, fromAnywhere)
    refuse('invalid_client')
  }
  const { lifetimeSeconds } = issued
  if (lifetimeSeconds === null) return refuseScopes()
  if (issued.lastUseIsOld) await noteUse(db, clientId)
  return { accessToken, lifetimeSeconds, scopes: limitedTo ?? issued.scopes }
}

/** Scopes by their names. Refuses if one does not exist, as if the client did not have it. */
function requireScopes(wanted: readonly string[]): readonly Scope[] {
  const known = scopeNames.filter((scope) => wanted.includes(scope))
  return wanted.every((name) => known.some((scope) => scope === name)) ? known : refuseScopes()
}

const refuseScopes = (): never =>
  refuse('forbidden', [{ field: 'scope', message: 'the client does not have each of these scopes' }])

/**
 * Issues the token of a session, which has some scopes in some sub-accounts, and ends with its client at the latest.
 * Refuses with `unauthorized` where the client was revoked in between.
 */
export async function issueSession(
  db: Db,
  session: {
    clientId: string
    sessionId: string
    scopes: readonly Scope[]
    accountIds: readonly string[]
    lifetimeSeconds: number
  },
): Promise<{ accessToken: string; lifetimeSeconds: number }> {
  const accessToken = newToken()
  const issued = await insertSession.first(db, { digest: digestOf(accessToken), ...session })
  return { accessToken, lifetimeSeconds: (issued ?? refuse('unauthorized')).lifetimeSeconds }
}

/**
 * Checks credentials and caches only valid ones. The statement that stores a token checks them again. Every refusal takes the
 * same work, one statement and two comparisons, so that its duration does not reveal which clients exist.
 */
export function createCredentialCheck(
  database: Database,
  notices: Notices,
): (clientId: string, clientSecret: string) => Promise<boolean> {
  type Right = { readonly clientId: string }
  const cached = createCache<Right>(notices, revokedTopic, cachedCredentialsMax, (right) => right.clientId)
  return async (clientId, clientSecret) => {
    const given = secretDigest(clientSecret)
    const credentials = digestOf(`${given.toString('hex')} ${clientId}`).toString('base64')
    const found = await cached.get(credentials, async () => {
      const client = await findClient.first(database, { id: clientId, none: noDigest })
      if (!client) return undefined
      const isPresent = timingSafeEqual(given, client.secretDigest)
      const isPrevious = timingSafeEqual(given, client.previousSecretDigest)
      return isPresent || isPrevious ? { clientId } : undefined
    })
    return found !== undefined
  }
}

/** Finds the actor of a token, and caches it until the token expires or its client is revoked. */
export function createAuthenticator(
  database: Database,
  notices: Notices,
): { authenticate(token: string): Awaitable<Actor | undefined>; forget(clientId: string): void } {
  /** `untilMs` is a time of `performance.now()`, since the clocks of this process and the database can differ. */
  type Found = { actor: Actor; untilMs: number }
  const cached = createCache<Found>(notices, revokedTopic, cachedTokensMax, ({ actor }) => actor.clientId)
  const load = async (digest: string): Promise<Found | undefined> => {
    const askedMs = performance.now()
    const row = await findToken.first(database, { digest: Buffer.from(digest, 'base64') })
    if (!row) return undefined
    const { clientId, sessionId, validMs, ...rest } = row
    const who = sessionId ? ({ kind: 'session', id: sessionId } as const) : ({ kind: 'client', id: clientId } as const)
    return { actor: { ...rest, ...who, clientId }, untilMs: askedMs + validMs }
  }
  const unexpired = (found: Found | undefined) => (found && found.untilMs > performance.now() ? found.actor : undefined)
  const digestOfRecent = createDigests()
  const authenticate = (token: string) => {
    const digest = digestOfRecent(token)
    const found = cached.get(digest, () => load(digest))
    return found instanceof Promise ? found.then(unexpired) : unexpired(found)
  }
  return { authenticate, forget: cached.forget }
}
