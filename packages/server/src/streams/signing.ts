import { presetOf, type SignatureScheme, signatureSchemeIds } from '@penstock/connectors'
import type { Db } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openSecrets } from '../secrets/secrets.ts'
import type { FoundStream } from './find-streams.ts'
import { type ChallengeAnswer, challengeOf } from './signatures/challenges.ts'
import { checkSignature } from './signatures/check-signature.ts'
import { eventIdOf } from './signatures/message-ids.ts'
import type { SignedRequest } from './signatures/signed-request.ts'

/** A request to check: the current time and the secrets are added. */
export type UncheckedRequest = Omit<SignedRequest, 'secrets' | 'nowMs'>

/** The ID of an event of a signed request, by the event and its place. */
export type SignedIds = (event: unknown, index: number, count: number) => string | undefined

type SigningSecrets = { readonly secrets: readonly string[]; readonly verifyToken: string | undefined }
type CachedSecrets = { readonly version: number; readonly opened: Promise<SigningSecrets> }

const cachedMax = 2_000

/** Checks the signatures that streams require. */
export class StreamSigning {
  readonly #deps: { readonly database: Db; readonly keyring: Keyring }
  /** Opened secrets, by stream. A change of the configuration has another version. */
  readonly #cached = new Map<string, CachedSecrets>()

  constructor(deps: { readonly database: Db; readonly keyring: Keyring }) {
    this.#deps = deps
  }

  /** The answer to a handshake of the sender, if the request is one. */
  async challenge(stream: FoundStream, request: UncheckedRequest): Promise<ChallengeAnswer | undefined> {
    const scheme = schemeOf(stream)
    if (!scheme) return undefined
    const { secrets, verifyToken } = await this.#secretsOf(stream)
    return challengeOf(scheme, { ...request, secrets, verifyToken, nowMs: Date.now() })
  }

  /**
   * Refuses with `unauthorized` a request without the signature that the stream requires.
   * @returns the IDs of its events, or `undefined` if the stream requires no signature
   */
  async check(stream: FoundStream, request: UncheckedRequest): Promise<SignedIds | undefined> {
    const scheme = schemeOf(stream)
    if (!scheme) return undefined
    const { secrets } = await this.#secretsOf(stream)
    const result = checkSignature(scheme, { ...request, secrets, nowMs: Date.now() })
    if (!result.isValid) return refuse('unauthorized', [{ field: 'signature', message: result.reason }])
    const { messageId } = result
    return (event, index, count) => {
      if (messageId === undefined) return eventIdOf(scheme, event)
      return count === 1 ? messageId : `${messageId} ${index}`
    }
  }

  #secretsOf({ id, accountId, connectorId, version }: FoundStream): Promise<SigningSecrets> {
    const known = this.#cached.get(id)
    if (known?.version === version) return known.opened
    const opened = this.#open({ accountId, connectorId, configurationId: id })
    this.#cached.delete(id)
    this.#cached.set(id, { version, opened })
    opened.catch(() => this.#cached.delete(id))
    const [oldest] = this.#cached.keys()
    if (this.#cached.size > cachedMax && oldest !== undefined) this.#cached.delete(oldest)
    return opened
  }

  async #open(owner: Parameters<typeof openSecrets>[2]): Promise<SigningSecrets> {
    const { database, keyring } = this.#deps
    const { signingSecret, nextSigningSecret, verifyToken } = await openSecrets(database, keyring, owner)
    return { secrets: [signingSecret, nextSigningSecret].filter((secret) => secret !== undefined), verifyToken }
  }
}

/** The scheme of a stream. A scheme that this version does not have is refused, not ignored. */
export function schemeOf({ connectorId, settings }: FoundStream): SignatureScheme | undefined {
  const { sender = 'anyone' } = presetOf(connectorId) ?? settings
  if (sender === 'anyone') return undefined
  const scheme = signatureSchemeIds.find((id) => id === sender)
  return scheme ?? refuse('unauthorized', [{ field: 'signature', message: 'The sender of the stream is not known.' }])
}
