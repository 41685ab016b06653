import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { BodyOf } from '@penstock/wire'
import type { TestService } from './service.ts'
import type { Person } from './users.ts'

/**
 * A browser with an authenticator, in software: ES256, discoverable credentials, attestation `none` (WebAuthn Level 3). It does
 * everything that a test tells it to do, including things that no browser would do.
 */

type Cbor = number | string | Buffer | Map<Cbor, Cbor>

/** CBOR in its deterministic form, as far as the tests need it. */
function cbor(value: Cbor): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.of((major << 5) | length)
    if (length < 256) return Buffer.of((major << 5) | 24, length)
    return Buffer.of((major << 5) | 25, length >> 8, length & 255)
  }
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])])
}

const flags = { present: 0x01, verified: 0x04, attested: 0x40 }

/** Deviations that a test can choose. */
export type Deviation = {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly challenge?: string
  readonly counter?: number
  /** Whether the authenticator has verified its user. By default true. */
  readonly verified?: boolean
  readonly userHandle?: string
  /** Signs with another key. */
  readonly key?: KeyObject
  /** The statement of the attestation, and its format. */
  readonly attestation?: { readonly fmt: string; readonly attStmt: Map<Cbor, Cbor> }
}

/** A credential of an authenticator, with what it has for one person. */
export type Credential = { readonly id: string; readonly key: KeyObject; readonly userHandle: string; counter: number }

const origin = 'http://penstock.test'
const encode = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64url')
const clientDataOf = (type: string, challenge: string, given: Deviation) =>
  Buffer.from(
    JSON.stringify({
      type: given.type ?? type,
      challenge: given.challenge ?? challenge,
      origin: given.origin ?? origin,
      crossOrigin: false,
    }),
  )

function authenticatorData(rpId: string, counter: number, bits: number, attested = Buffer.alloc(0)): Buffer {
  const written = Buffer.alloc(5)
  written.writeUInt8(bits, 0)
  written.writeUInt32BE(counter, 1)
  return Buffer.concat([hash('sha256', rpId, 'buffer'), written, attested])
}

/** Makes a credential, and the answer that registers it. */
export function createCredential(
  options: { rp: { id: string }; user: { id: string }; challenge: string },
  given: Deviation = {},
  id: Buffer = randomBytes(16),
): { credential: Credential; response: BodyOf<'registerPasskey'>['response'] } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const cose = new Map<Cbor, Cbor>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ])
  const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(id.length >> 8, id.length & 255), id, cbor(cose)])
  const bits = flags.present | flags.attested | (given.verified === false ? 0 : flags.verified)
  const counter = given.counter ?? 0
  const { fmt, attStmt } = given.attestation ?? { fmt: 'none', attStmt: new Map() }
  const attestationObject = cbor(
    new Map<Cbor, Cbor>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', authenticatorData(given.rpId ?? options.rp.id, counter, bits, attested)],
    ]),
  )
  const answer = {
    clientDataJSON: encode(clientDataOf('webauthn.create', options.challenge, given)),
    attestationObject: encode(attestationObject),
    transports: ['internal'],
  }
  return {
    credential: { id: encode(id), key: privateKey, userHandle: options.user.id, counter },
    response: { id: encode(id), response: answer },
  }
}

/** The answer that signs in. The counter increases like the counter of a security key. */
export function answerWith(
  credential: Credential,
  options: { rpId: string; challenge: string },
  given: Deviation = {},
): BodyOf<'signInWithPasskey'> {
  const counter = given.counter ?? (credential.counter === 0 ? 0 : ++credential.counter)
  const bits = flags.present | (given.verified === false ? 0 : flags.verified)
  const data = authenticatorData(given.rpId ?? options.rpId, counter, bits)
  const clientData = clientDataOf('webauthn.get', options.challenge, given)
  const signature = sign(
    'sha256',
    Buffer.concat([data, hash('sha256', clientData, 'buffer')]),
    given.key ?? credential.key,
  )
  return {
    response: {
      id: credential.id,
      response: {
        clientDataJSON: encode(clientData),
        authenticatorData: encode(data),
        signature: encode(signature),
        userHandle: given.userHandle ?? credential.userHandle,
      },
    },
  }
}

type Service = Pick<TestService, 'call'>
type Headers = Pick<Person, 'headers'>

/** Has a person register a passkey. */
export async function addPasskey(
  service: Service,
  { headers }: Headers,
  given: Deviation = {},
): Promise<{ id: string; credential: Credential }> {
  const { credential, body } = await preparePasskey(service, { headers }, given)
  const reply = await service.call('registerPasskey', { headers: { ...headers }, body })
  assert.equal(reply.status, 201, reply.text)
  return { id: reply.response.id, credential }
}

/** A passkey that the browser has made, and that is not registered yet. */
export async function preparePasskey(
  service: Service,
  { headers }: Headers,
  given: Deviation = {},
): Promise<{ credential: Credential; body: BodyOf<'registerPasskey'> }> {
  const options = await service.call('startPasskeyRegistration', { headers: { ...headers } })
  assert.equal(options.status, 200, options.text)
  const { credential, response } = createCredential(options.response, given)
  return { credential, body: { name: 'Laptop', response } }
}

/** The body that signs in with a passkey. */
export async function preparePasskeySignIn(service: Service, credential: Credential, given: Deviation = {}) {
  const options = await service.call('startPasskeySignIn')
  assert.equal(options.status, 200, options.text)
  return answerWith(credential, options.response, given)
}
