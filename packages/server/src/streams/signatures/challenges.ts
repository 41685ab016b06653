import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SignatureScheme } from '@penstock/connectors'
import { valueAt } from './adyen.ts'
import { checkSignature } from './check-signature.ts'
import { headerOf, jsonOf, type SignedRequest } from './signed-request.ts'

/**
 * The handshakes by which senders check an address before they use it, or while they do.
 *
 * Some handshakes ask the receiver to sign a text of the caller, with the secret of the webhooks. Only texts that cannot
 * be a webhook are signed. Otherwise anyone who knows the address could have webhooks signed.
 */

/** The answer to a handshake. */
export type ChallengeAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type ChallengeRequest = SignedRequest & {
  /** The text that a person has chosen at Meta, if the scheme needs one. */
  readonly verifyToken?: string | undefined
}

type Challenge = (request: ChallengeRequest) => ChallengeAnswer | undefined

/**
 * The answer to a handshake of a sender. `undefined` if the request is not a handshake. Check its signature then. A handshake
 * that senders sign is answered only if its signature is valid.
 */
export function challengeOf(scheme: SignatureScheme, request: ChallengeRequest): ChallengeAnswer | undefined {
  return challenges[scheme]?.(request)
}

const challenges: Partial<Record<SignatureScheme, Challenge>> = {
  /** PING of interactions and webhook events. */
  discord: (request) =>
    ifSigned('discord', request, (body) => (valueAt(body, ['type']) === 1 ? json({ type: 1 }) : undefined)),
  dropbox: ({ method, url }) => {
    const challenge = method === 'GET' ? queryOf(url).get('challenge') : null
    return isToken(challenge) ? plain(challenge) : undefined
  },
  github: (request) =>
    headerOf(request, 'x-github-event') === 'ping' ? ifSigned('github', request, () => plain('pong')) : undefined,
  intercom: (request) =>
    request.method === 'HEAD'
      ? plain('')
      : ifSigned('intercom', request, (body) => (valueAt(body, ['topic']) === 'ping' ? plain('pong') : undefined)),
  linkedin: ({ method, url, secrets }) => {
    const code = method === 'GET' ? queryOf(url).get('challengeCode') : null
    if (code === null || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(code)) return undefined
    const [secret] = secrets
    if (secret === undefined) return undefined
    return json({ challengeCode: code, challengeResponse: hmac(secret, code).digest('hex') })
  },
  mandrill: ({ method }) => (method === 'HEAD' ? plain('') : undefined),
  meta: ({ method, url, verifyToken }) => {
    const query = queryOf(url)
    const challenge = query.get('hub.challenge')
    if (method !== 'GET' || query.get('hub.mode') !== 'subscribe' || !isToken(challenge)) return undefined
    return verifyToken !== undefined && isEqualText(verifyToken, query.get('hub.verify_token') ?? '')
      ? plain(challenge)
      : { ...plain('The verify token is not valid.'), status: 403 }
  },
  slack: (request) =>
    ifSigned('slack', request, (body) => {
      const challenge = valueAt(body, ['challenge'])
      return valueAt(body, ['type']) === 'url_verification' && isToken(challenge) ? plain(challenge) : undefined
    }),
  /** The first message after a webhook is created is a form, which is not signed. */
  woocommerce: ({ method, body }) =>
    method === 'POST' && /^webhook_id=\d{1,20}$/.test(body.subarray(0, 40).toString('latin1')) ? plain('') : undefined,
  x: ({ method, url, secrets }) => {
    const token = method === 'GET' ? queryOf(url).get('crc_token') : null
    const [secret] = secrets
    if (!isToken(token) || secret === undefined) return undefined
    return json({ response_token: `sha256=${hmac(secret, token).digest('base64')}` })
  },
  zoom: (request) =>
    ifSigned('zoom', request, (body) => {
      const plainToken = valueAt(body, ['payload', 'plainToken'])
      if (valueAt(body, ['event']) !== 'endpoint.url_validation' || !isToken(plainToken)) return undefined
      const [secret = ''] = request.secrets.filter(
        (one) => checkSignature('zoom', { ...request, secrets: [one] }).isValid,
      )
      return json({ plainToken, encryptedToken: hmac(secret, plainToken).digest('hex') })
    }),
}

function ifSigned(
  scheme: SignatureScheme,
  request: SignedRequest,
  answer: (body: unknown) => ChallengeAnswer | undefined,
): ChallengeAnswer | undefined {
  if (request.method !== 'POST') return undefined
  const found = answer(jsonOf(request))
  return found !== undefined && checkSignature(scheme, request).isValid ? found : undefined
}

/** Texts that are repeated or signed: never a JSON object or list, never markup. */
const isToken = (text: unknown): text is string => typeof text === 'string' && /^[\w.~+/=-]{1,300}$/.test(text)

const queryOf = (url: string) => new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '')
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text)

function isEqualText(one: string, other: string): boolean {
  const digest = (text: string) => hmac('', text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

const answer = (type: string, body: string): ChallengeAnswer => ({
  status: 200,
  headers: { 'content-type': type, 'x-content-type-options': 'nosniff' },
  body,
})
const plain = (body: string) => answer('text/plain; charset=utf-8', body)
const json = (value: unknown) => answer('application/json', JSON.stringify(value))
