import { generateKeyPairSync } from 'node:crypto'
import { limits, type Passkey } from '@penstock/wire'
import type { Actor, Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import type { Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { type ChallengePurpose, newChallenge, openChallenge, type ValidChallenge } from './challenges.ts'
import type { UserDeps } from './deps.ts'
import * as queries from './passkey-queries.ts'
import { answerSelf, findSelf } from './self.ts'
import { beginSession, endSession } from './sessions.ts'
import { completeSignIn, failSignIn, methodOf } from './sign-ins.ts'
import { hasSingleSignOn } from './single-sign-on-queries.ts'

/**
 * Passkeys (WebAuthn): discoverable credentials that verify their user. So one passkey is enough to sign in, without an e-mail
 * address, and nobody can find out who has a passkey.
 */

/** COSE algorithms: Ed25519, ES256, RS256. */
const algorithms = [-8, -7, -257]
const timeoutMs = limits.passkeyChallengeMinutes * 60_000
/** Failures are counted for all passkeys together, because people do not name a passkey when they sign in. */
const attemptsKey = 'passkey'

/** Public key for the check of an answer if there is no such passkey: a key that no one has, ES256 as most are. */
const noPasskey = { publicKey: someCoseKey(), counter: 0 }

function someCoseKey(): Buffer {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const [kindAndX, beforeY] = [Buffer.from('a5010203262001215820', 'hex'), Buffer.from('225820', 'hex')]
  return Buffer.concat([kindAndX, Buffer.from(x, 'base64url'), beforeY, Buffer.from(y, 'base64url')])
}

/** Where passkeys are valid: on the host of the service, and on pages of its origin. */
function relyingParty({ publicUrl }: Pick<Config, 'publicUrl'>): { id: string; origin: string } {
  const { hostname, origin } = new URL(publicUrl)
  return { id: hostname, origin }
}

const viewPasskey = ({ id, name, backedUp, createdTime, lastUsedTime }: queries.PasskeyRow): Passkey => ({
  id,
  name,
  backedUp,
  createdTime: unixSeconds(createdTime),
  lastUsedTime: lastUsedTime === null ? null : unixSeconds(lastUsedTime),
})

const signInPurpose: ChallengePurpose = ['passkey sign-in']
const registrationIn = ({ person }: Actor): ChallengePurpose => [
  'passkey registration',
  person?.sessionId ?? refuse('unauthorized'),
]

export async function startPasskeyRegistration(
  { db, actor }: Call<'startPasskeyRegistration'>,
  { config, keyring }: UserDeps,
): Promise<Answer<'startPasskeyRegistration'>> {
  const { id, email, name, organizationName } = await findSelf(db, actor.id)
  const credentials = await queries.listCredentials.all(db, { userId: id })
  return {
    reply: {
      rp: { id: relyingParty(config).id, name: 'Penstock' },
      // The authenticator shows these if it has passkeys of several organizations.
      user: {
        id: Buffer.from(id).toString('base64url'),
        name: email,
        displayName: `${name ?? email} (${organizationName})`,
      },
      challenge: await newChallenge(db, keyring, registrationIn(actor), limits.passkeyChallengeMinutes),
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: timeoutMs,
      excludeCredentials: credentials.map(({ credentialId, transports }) => ({
        type: 'public-key',
        id: credentialId.toString('base64url'),
        transports,
      })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    },
  }
}

/** Refuses with `passkey_invalid` whatever is wrong with the answer of the authenticator. */
export async function registerPasskey(
  call: Call<'registerPasskey'>,
  { config, keyring, userSessions }: UserDeps,
): Promise<Answer<'registerPasskey'>> {
  const { db: tx, actor, body } = call
  const { id: userId, person } = actor
  const registered = await verifyRegistration(tx, registrationIn(actor), body.response, { config, keyring })
  const { challenge, credential, backedUp } = registered ?? refuse('passkey_invalid')
  await queries.lockPerson.first(tx, { userId })
  const present = await queries.listCredentials.all(tx, { userId })
  // Meanwhile, someone else who knows the password may have registered a passkey, or the person may have, elsewhere.
  if (person?.mustRegisterPasskey && present.length > 0) refuse('second_factor_required')
  if (present.length >= limits.passkeysMax) {
    refuse('quota_exceeded', [{ field: 'passkeys', message: `at most ${limits.passkeysMax}: remove one first` }])
  }
  if (!(await challenge.use(tx))) refuse('passkey_invalid')
  const row = await queries.insertPasskey.first(tx, {
    id: newIdentifier(),
    userId,
    name: body.name.trim(),
    backedUp,
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: body.response.response.transports ?? [],
  })
  const reply = viewPasskey(row ?? refuse('passkey_invalid'))
  if (!person?.mustRegisterPasskey) return { reply }
  // A session that gains permissions gets a new token.
  await endSession(tx, { userId, id: person.sessionId }, userSessions)
  const session = (await beginSession(tx, { userId, method: 'passkey' }, call)) ?? refuse('unauthorized')
  return { reply, session }
}

async function verifyRegistration(
  tx: Transaction,
  purpose: ChallengePurpose,
  response: Call<'registerPasskey'>['body']['response'],
  { config, keyring }: Pick<UserDeps, 'config' | 'keyring'>,
) {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const { id, origin } = relyingParty(config)
  const expected = createExpected((text) => openChallenge(tx, keyring, purpose, text))
  const { id: credentialId, response: made } = response
  const verified = await expected.verify(async (isExpected) => {
    // Verifying a statement about the authenticator would fetch addresses that its certificates name. So the service requests
    // no such statement.
    const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(made.attestationObject, 'base64url')))
    const isPlain = attestation.get('fmt') === 'none' || attestation.get('fmt') === 'packed'
    if (!isPlain || attestation.get('attStmt').get('x5c') !== undefined) return undefined
    return verifyRegistrationResponse({
      response: {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: made.clientDataJSON, attestationObject: made.attestationObject },
      },
      expectedChallenge: isExpected,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
  })
  const { challenge } = expected
  if (!challenge || !verified?.verified) return undefined
  const { credential, credentialBackedUp: backedUp } = verified.registrationInfo
  return { challenge, credential, backedUp }
}

/**
 * Says what fails at the service itself from an answer that is not valid: the library throws for the latter, whatever is
 * wrong with it, and its errors quote the answer.
 */
function createExpected(open: (text: string) => Promise<ValidChallenge | undefined>) {
  let failure: unknown
  const expected = {
    /** The challenge that was signed. */
    challenge: undefined as ValidChallenge | undefined,
    async verify<T>(work: (isExpected: (text: string) => Promise<boolean>) => Promise<T>): Promise<T | undefined> {
      const isExpected = async (text: string) => {
        try {
          expected.challenge = typeof text === 'string' ? await open(text) : undefined
          return expected.challenge !== undefined
        } catch (error) {
          failure = error
          throw error
        }
      }
      try {
        return await work(isExpected)
      } catch {
        if (failure !== undefined) throw failure
        return undefined
      }
    },
  }
  return expected
}

export async function listMyPasskeys({ db, actor }: Call<'listMyPasskeys'>): Promise<Answer<'listMyPasskeys'>> {
  return { reply: (await queries.listPasskeys.all(db, { userId: actor.id })).map(viewPasskey) }
}

/** Refuses with `last_credential` what would leave the person without a way to sign in that their organization accepts. */
export async function removePasskey({
  db: tx,
  actor: { id: userId },
  id,
}: Call<'removePasskey'>): Promise<Answer<'removePasskey'>> {
  const person = (await queries.lockPerson.first(tx, { userId })) ?? refuse('unauthorized')
  const removed = (await queries.deletePasskey.first(tx, { userId, id })) ?? refuse('not_found')
  if (!person.signsInByPassword && !(await hasSingleSignOn.first(tx, { userId }))?.exists) {
    const left = await queries.listPasskeys.all(tx, { userId })
    if (left.length === 0) refuse('last_credential')
  }
  return { reply: { done: true }, audited: { before: viewPasskey(removed), after: null } }
}

/** Says the same to everyone: the authenticator finds its passkey without a list. */
export async function startPasskeySignIn(
  { db, address }: Call<'startPasskeySignIn'>,
  { attempts, config, keyring }: UserDeps,
): Promise<Answer<'startPasskeySignIn'>> {
  await attempts.check(attemptsKey, address)
  return {
    reply: {
      challenge: await newChallenge(db, keyring, signInPurpose, limits.passkeyChallengeMinutes),
      rpId: relyingParty(config).id,
      timeout: timeoutMs,
      userVerification: 'required',
    },
  }
}

export async function signInWithPasskey(
  call: Call<'signInWithPasskey'>,
  deps: UserDeps,
): Promise<Answer<'signInWithPasskey'>> {
  const { db, address, body } = call
  const { attempts, config, keyring, requestLimit } = deps
  const fail = () => failSignIn({ method: 'passkey', email: attemptsKey, organizationId: undefined }, call, deps)
  await attempts.check(attemptsKey, address)
  const { id: credentialId, response } = body.response
  const userId = Buffer.from(response.userHandle, 'base64url').toString()
  const credential = { userId, credentialId: Buffer.from(credentialId, 'base64url') }
  const passkey = /^[0-9a-f]{16}$/.test(userId) ? await queries.findCredential.first(db, credential) : undefined
  // The work is the same whether the passkey exists or not.
  const { publicKey, counter: counterBefore } = passkey ?? noPasskey
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { id: rpId, origin } = relyingParty(config)
  const expected = createExpected((text) => openChallenge(db, keyring, signInPurpose, text))
  const verified = await expected.verify((isExpected) =>
    verifyAuthenticationResponse({
      response: { id: credentialId, rawId: credentialId, type: 'public-key', clientExtensionResults: {}, response },
      expectedChallenge: isExpected,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter: counterBefore },
    }),
  )
  const { challenge } = expected
  if (!passkey || !verified?.verified || !challenge) return fail()
  const { newCounter: counter, credentialBackedUp: backedUp } = verified.authenticationInfo
  // Concurrent guesses are limited in the same way as sequential ones.
  await attempts.check(attemptsKey, address)
  await requestLimit(userId)
  const session = await db.transaction(async (tx) => {
    if (!(await challenge.use(tx)) || (await queries.saveUse.run(tx, { id: passkey.id, counter, backedUp })) === 0) {
      return undefined
    }
    const proven = { userId, method: 'passkey', action: 'signInWithPasskey' } as const
    return completeSignIn(tx, proven, call, { keyring, token: body.link })
  })
  return session ? answerSelf(db, userId, methodOf('passkey', body.link), session, deps) : fail()
}
