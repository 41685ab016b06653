import { generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import type http from 'node:http'

/** Where Google gives tokens, as far as service accounts ask for them: it verifies their assertions. */
export type GoogleAccounts = {
  readonly email: string
  /** The key file of a service account, and one of it that was deleted. */
  readonly jsonKey: string
  readonly deletedKey: string
  readonly tokensGiven: number
  /** Answers a request for a token. */
  give(request: http.IncomingMessage, body: Buffer): Reply
  accepts(token: string): boolean
  /** From now on, no token that was given before is accepted. */
  expireTokens(): void
}

type Reply = { status: number; headers: Record<string, string>; body: string }

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const email = 'mover@example-project.iam.gserviceaccount.com'
const knownKey = 'b1a2c3d4e5f60718293a4b5c6d7e8f9001122334'
const keyFile = (id: string): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'example-project',
    private_key_id: id,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: email,
    client_id: '1',
    token_uri: 'https://oauth2.googleapis.com/token',
  })

/** @param scopes which of Google's, by the last part of their names, a token may be asked for */
export function makeGoogleAccounts(scopes: readonly string[]): GoogleAccounts {
  let tokens = new Set<string>()
  let tokensGiven = 0
  return {
    email,
    jsonKey: keyFile(knownKey),
    deletedKey: keyFile('00000000000000000000000000000000deadbeef'),
    get tokensGiven() {
      return tokensGiven
    },
    accepts: (token) => tokens.has(token),
    expireTokens() {
      tokens = new Set()
    },
    give(request, body) {
      const form = new URLSearchParams(String(body))
      const isForm = /^application\/x-www-form-urlencoded(;|$)/.test(request.headers['content-type'] ?? '')
      if (
        request.method !== 'POST' ||
        !isForm ||
        form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer'
      ) {
        return reply(400, { error: 'unsupported_grant_type' })
      }
      const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
      // Google's own clients do not name the key.
      const { alg, kid = knownKey } = decode(header)
      const { iss, aud, scope, iat, exp } = decode(claims)
      const signed = verify(
        'sha256',
        Buffer.from(`${header}.${claims}`),
        publicKey,
        Buffer.from(signature, 'base64url'),
      )
      const now = Date.now() / 1000
      const times = Number(iat) <= now + 1 && Number(exp) > now && Number(exp) - Number(iat) <= 3600
      if (!signed || alg !== 'RS256' || kid !== knownKey || iss !== email || !times) {
        return reply(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
      }
      const known = scopes.some((name) => scope === `https://www.googleapis.com/auth/${name}`)
      if (aud !== 'https://oauth2.googleapis.com/token' || !known) return reply(400, { error: 'invalid_scope' })
      const token = `ya29.${randomBytes(16).toString('hex')}`
      tokens.add(token)
      tokensGiven++
      return reply(200, { access_token: token, expires_in: 3599, token_type: 'Bearer' })
    },
  }
}

function decode(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

const reply = (status: number, body: object): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8' },
  body: JSON.stringify(body),
})
