import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { askedAccounts, grantedAccounts } from './client.ts'
import { addressPatterns, exactly, flag, oneOf, secret, text, unixSeconds } from './kinds.ts'

/** Single sign-on of an organization, with OpenID Connect. Not in the specification. */

const shown = { issuer: 'https://login.example.com', clientId: 'penstock', domains: ['example.com'] }
const role = oneOf(['viewer', 'editor', 'admin'], {
  description: 'Role of people who are added when they first sign in',
  examples: ['viewer'],
})
const newUsers = 'People who are added when they first sign in; null: people must be invited'

/** The identity provider, without the client secret. */
export const SingleSignOn = exactly(
  {
    issuer: text('Issuer of the identity provider', shown.issuer),
    clientId: text('Client ID that the provider gave', shown.clientId),
    clientSecret: text('Always ********', '********'),
    emailDomains: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Domains of the e-mail addresses by which people are found and added; null: any',
      examples: [shown.domains],
    }),
    newUsers: Type.Union([exactly({ role, accountIds: grantedAccounts }, { description: newUsers }), Type.Null()], {
      description: newUsers,
      examples: [{ role: 'viewer', accountIds: null }],
    }),
    required: flag('Whether people, except owners, can only sign in this way', false),
    redirectUri: text('Redirect URI to register with the provider', 'https://penstock.example.com/sso/callback'),
    signInUrl: text('Address at which people sign in', 'https://penstock.example.com/sso/6c13f8b0a2d94e57'),
    savedTime: unixSeconds('When it was last saved'),
  },
  { description: 'Single sign-on' },
)
export type SingleSignOn = Static<typeof SingleSignOn>

export const SetSingleSignOn = exactly(
  {
    issuer: Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: addressPatterns.issuer,
      description:
        'Issuer of the identity provider, exactly as its configuration names it: an address that begins with https://, without user name, query or fragment',
      examples: [shown.issuer],
    }),
    clientId: Type.String({
      pattern: '^[\\u0020-\\u007e]{1,500}$',
      description: 'Client ID that the provider gave',
      examples: [shown.clientId],
    }),
    clientSecret: Type.Optional(
      secret('Client secret; omitted or ******** keeps the saved secret of this issuer and client', '********', {
        minLength: 1,
        maxLength: 1_000,
      }),
    ),
    emailDomains: Type.Optional(
      Type.Union(
        [
          Type.Array(Type.String({ pattern: '^[A-Za-z0-9.-]{1,253}$' }), {
            minItems: 1,
            maxItems: 100,
            uniqueItems: true,
          }),
          Type.Null(),
        ],
        {
          description: 'Domains of the e-mail addresses by which people are found and added; null or omitted: any',
          examples: [shown.domains],
        },
      ),
    ),
    newUsers: Type.Optional(
      Type.Union(
        [exactly({ role, accountIds: Type.Optional(askedAccounts) }, { description: newUsers }), Type.Null()],
        {
          description: `${newUsers}; the same if omitted`,
          examples: [{ role: 'viewer', accountIds: [example.accountId] }],
        },
      ),
    ),
    required: flag('Whether people, except owners, can only sign in this way', false),
  },
  {
    description: `Identity provider to save; people must complete a sign-in within ${limits.singleSignOnMinutes} minutes`,
  },
)
