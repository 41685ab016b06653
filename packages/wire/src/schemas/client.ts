import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type SessionScope, scopeNames, sessionScopes } from '../scopes.ts'
import { type Static, Type } from '../type.ts'
import { exactly, Identifier, identifier, name, oneOf, secret, text, unixSeconds } from './kinds.ts'

/** Client credentials and session tokens. Not in the specification. */

const oneScope = oneOf(scopeNames, { description: 'Scope', examples: ['connections:read'] })
/** Scopes of a credential. `null` means everything, including scopes of later versions. */
export const grantedScopes = Type.Union([Type.Array(oneScope), Type.Null()], {
  description: 'Scopes; null: all',
  examples: [['connections:read', 'transfers:run']],
})
/** The sub-accounts that a credential is limited to. `null` means all sub-accounts. */
export const grantedAccounts = Type.Union([Type.Array(Identifier), Type.Null()], {
  description: 'Sub-accounts to which it is limited; null: all',
  examples: [[example.accountId]],
})
/** The same as a caller sends them. */
export const askedScopes = Type.Union([Type.Array(oneScope, { minItems: 1, uniqueItems: true }), Type.Null()], {
  description: 'Scopes, at least one, and only scopes that you have; null or omitted: all',
  examples: [['connections:read', 'transfers:run']],
})
export const askedAccounts = Type.Union(
  [Type.Array(Identifier, { minItems: 1, maxItems: limits.grantedAccountsMax, uniqueItems: true }), Type.Null()],
  {
    description: `Sub-accounts to which it is limited, at most ${limits.grantedAccountsMax}; null or omitted: all, including later ones`,
    examples: [[example.accountId]],
  },
)
const optionalTime = (description: string, shown: number | null) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${description}, Unix time in seconds`,
    examples: [shown],
  })

const clientFields = {
  id: text(
    'Identifier of the client, its `clientId`: 16 lowercase hexadecimal characters, or an identifier that the operator chose',
    example.clientId,
  ),
  name: Type.Union([Type.String(), Type.Null()], { description: 'Name', examples: ['Nightly jobs'] }),
  scopes: grantedScopes,
  accountIds: grantedAccounts,
  createdTime: unixSeconds('When it was created', example.createdTime),
  expiresTime: optionalTime('When it expires; null: never', null),
  lastUsedTime: optionalTime('When a token was last issued to it, to the minute; null: never', example.updatedTime),
  previousSecretExpiresTime: optionalTime(
    'Time until which the secret before the last rotation is accepted; null: no earlier secret is accepted',
    null,
  ),
  revokedTime: optionalTime('When it was revoked; null: not revoked', null),
}

/** Client credentials without their secret. */
export const Client = exactly(clientFields, { description: 'Client credentials, without the secret' })
export type Client = Static<typeof Client>

/** Client credentials with their secret, which no later answer contains. */
export const ClientWithSecret = exactly(
  { ...clientFields, clientSecret: secret('The secret. Store it now: no later answer contains it', 'pss_…') },
  { description: 'Client credentials with a new secret' },
)
export type ClientWithSecret = Static<typeof ClientWithSecret>

export const CreateClient = exactly(
  {
    name: name('Nightly jobs'),
    scopes: Type.Optional(askedScopes),
    accountIds: Type.Optional(askedAccounts),
    expiresTime: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: limits.unixSecondsMax }), Type.Null()], {
        description: 'When it expires, in the future, Unix time in seconds; null or omitted: never',
        examples: [example.createdTime + 31_536_000],
      }),
    ),
  },
  { description: 'Client credentials to create' },
)
export const RenameClient = exactly({ name: name('Nightly jobs') }, { description: 'New name of client credentials' })
export const RotateClient = exactly(
  {
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.rotationOverlapHoursMax,
        default: limits.rotationOverlapHoursDefault,
        description:
          'Hours for which the current secret is still accepted. 0: the secret and its tokens are refused immediately',
        examples: [limits.rotationOverlapHoursDefault],
      }),
    ),
  },
  { description: 'Options of the rotation' },
)

export const CreateSession = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    scopes: Type.Unsafe<SessionScope[]>(
      Type.Array(oneOf(sessionScopes, { description: 'Scope', examples: ['connections:read'] }), {
        minItems: 1,
        uniqueItems: true,
        description: 'Scopes of the session, at least one, and only scopes that you have',
        examples: [['connectors:read', 'connectors:write', 'secrets:write']],
      }),
    ),
    expiry: Type.Optional(
      Type.Integer({
        minimum: limits.sessionSecondsMin,
        maximum: limits.sessionSecondsMax,
        default: limits.sessionSecondsDefault,
        description: 'Lifetime in seconds',
        examples: [limits.sessionSecondsDefault],
      }),
    ),
  },
  { description: 'Session to create' },
)
export const SessionToken = exactly(
  {
    accessToken: secret('Bearer token value', 'pst_Yx0nq2…'),
    tokenType: Type.Literal('Bearer', { description: 'Kind of token', examples: ['Bearer'] }),
    expiry: Type.Integer({ minimum: 1, description: 'Lifetime in seconds', examples: [limits.sessionSecondsDefault] }),
    sessionId: identifier('the session, as the audit log names it', '8c1d40f27ab93e65'),
    accountId: identifier('the sub-account', example.accountId),
    scopes: Type.Array(oneScope, { description: 'Scopes', examples: [['connectors:read']] }),
  },
  { description: 'Session token' },
)
export type SessionToken = Static<typeof SessionToken>
