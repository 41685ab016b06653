import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { exactly, flag, identifier, name, text, unixSeconds } from './kinds.ts'
import { singleSignOnLink } from './single-sign-on-link.ts'

/** Passkeys of people, in the JSON forms of WebAuthn Level 3, which browsers read and write. Not in the specification. */

const shown = {
  passkeyId: '5d3c91e07ab2f846',
  credentialId: 'pVnM3b0xQ0qHkD2yJ8f1Tg',
  challenge: 'h0Zx2bq5V7…',
  rpId: 'penstock.example.com',
}

const encoded = (description: string, lengthMax: number) =>
  Type.String({
    minLength: 1,
    maxLength: lengthMax,
    pattern: '^[A-Za-z0-9_-]+$',
    description: `${description}, base64url`,
    examples: ['eyJ0eXAiOi'],
  })
const credentialId = encoded('Identifier of the credential', limits.credentialIdLengthMax)
const publicKey = (description: string) => Type.Literal('public-key', { description, examples: ['public-key'] })

/** A passkey without its key. */
export const Passkey = exactly(
  {
    id: identifier('the passkey', shown.passkeyId),
    name: text('Name', 'Laptop'),
    backedUp: flag('Whether the passkey is synchronized to other devices of the person'),
    createdTime: unixSeconds('When it was registered', example.createdTime),
    lastUsedTime: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'When it was last used to sign in; null: never, Unix time in seconds',
      examples: [example.updatedTime],
    }),
  },
  { description: 'Passkey' },
)
export type Passkey = Static<typeof Passkey>

const challenge = text(
  `Challenge that the authenticator signs; valid once, for ${limits.passkeyChallengeMinutes} minutes`,
  shown.challenge,
)
const timeout = Type.Integer({ minimum: 1, description: 'How long it is valid, in milliseconds', examples: [300_000] })

/** Options for creating a passkey in a browser. */
export const PasskeyRegistration = exactly(
  {
    rp: exactly(
      { id: text('Host for which the passkey is valid', shown.rpId), name: text('Name', 'Penstock') },
      { description: 'The service' },
    ),
    user: exactly(
      {
        id: text('Identifier of the person, base64url', 'MmY2YjhkMGM0ZTkxN2EzNQ'),
        name: text('E-mail address', 'ada@example.com'),
        displayName: text('Name, and the organization', 'Ada Lopez (Acme)'),
      },
      { description: 'The person' },
    ),
    challenge,
    pubKeyCredParams: Type.Array(
      exactly(
        {
          type: publicKey('Kind of credential'),
          alg: Type.Integer({ description: 'COSE algorithm', examples: [-7] }),
        },
        { description: 'Algorithm' },
      ),
      { description: 'Algorithms, the preferred one first', examples: [[{ type: 'public-key', alg: -7 }]] },
    ),
    timeout,
    excludeCredentials: Type.Array(
      exactly(
        {
          type: publicKey('Kind of credential'),
          id: text('Identifier of the credential, base64url', shown.credentialId),
          transports: Type.Array(Type.String(), {
            description: 'Transports of the authenticator',
            examples: [['internal']],
          }),
        },
        { description: 'Credential' },
      ),
      { description: 'Existing passkeys of the person', examples: [[]] },
    ),
    authenticatorSelection: exactly(
      {
        residentKey: text('Always `required`: it is found without an e-mail address', 'required'),
        requireResidentKey: flag('Always true'),
        userVerification: text('Always `required`', 'required'),
      },
      { description: 'Requirements for the authenticator' },
    ),
    attestation: text('Always `none`', 'none'),
  },
  { description: 'Options for `navigator.credentials.create`, as `parseCreationOptionsFromJSON` reads them' },
)
export type PasskeyRegistration = Static<typeof PasskeyRegistration>

/** Additional properties of the browser's answer are ignored: later versions add more. */
const answered = { description: 'Answer of the authenticator', additionalProperties: true }
export const RegisterPasskey = exactly(
  {
    name: name('Laptop'),
    response: Type.Object(
      {
        id: credentialId,
        response: Type.Object(
          {
            clientDataJSON: encoded('Client data of the browser', limits.passkeyAnswerLengthMax),
            attestationObject: encoded('The new credential', limits.passkeyAnswerLengthMax),
            transports: Type.Optional(
              Type.Array(Type.String({ pattern: '^[a-z-]{1,32}$' }), {
                maxItems: 10,
                description: 'Transports of the authenticator',
                examples: [['internal']],
              }),
            ),
          },
          answered,
        ),
      },
      { ...answered, description: 'The credential, as `toJSON` of the browser writes it; other keys are ignored' },
    ),
  },
  { description: 'Passkey to register' },
)

/** Options for signing in with a passkey. */
export const PasskeySignIn = exactly(
  {
    challenge,
    rpId: text('Host for which the passkey is valid', shown.rpId),
    timeout,
    userVerification: text('Always `required`', 'required'),
  },
  { description: 'Options for `navigator.credentials.get`, as `parseRequestOptionsFromJSON` reads them' },
)
export type PasskeySignIn = Static<typeof PasskeySignIn>

export const SignInWithPasskey = exactly(
  {
    response: Type.Object(
      {
        id: credentialId,
        response: Type.Object(
          {
            clientDataJSON: encoded('Client data of the browser', limits.passkeyAnswerLengthMax),
            authenticatorData: encoded('Data of the authenticator', limits.passkeyAnswerLengthMax),
            signature: encoded('Signature', limits.passkeyAnswerLengthMax),
            userHandle: encoded('Identifier of the person', 100),
          },
          answered,
        ),
      },
      { ...answered, description: 'The credential, as `toJSON` of the browser writes it; other keys are ignored' },
    ),
    link: singleSignOnLink,
  },
  { description: 'Answer of a passkey' },
)
