import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type UserRole, userRoleNames } from '../scopes.ts'
import { authenticationMethods, signInMethods } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { askedAccounts, grantedAccounts, grantedScopes } from './client.ts'
import { exactly, flag, Identifier, identifier, name, oneOf, secret, text, unixSeconds } from './kinds.ts'
import { singleSignOnLink } from './single-sign-on-link.ts'

/** People, how they sign in, and their sessions. Not in the specification. */

const shown = { email: 'ada@example.com', name: 'Ada Lopez', userId: '2f6b8d0c4e917a35', sessionId: 'a90d6e3c71f2b845' }

/** One `@`, and no characters that a mail header or a browser would read as several addresses. */
export const emailPattern =
  '^\\s*[^\\s@<>()\\[\\]\\\\,;:"\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@<>()\\[\\]\\\\,;:"\\u0000-\\u001f\\u007f-\\u009f]+\\s*$'
const email = Type.String({
  maxLength: limits.emailLengthMax,
  pattern: emailPattern,
  description: `E-mail address, at most ${limits.emailLengthMax} characters; letter case does not matter`,
  examples: [shown.email],
})
const givenPassword = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: limits.passwordLengthMax,
    description,
    examples: ['correct horse battery'],
  })
const newPassword = Type.String({
  minLength: limits.passwordLengthMin,
  maxLength: limits.passwordLengthMax,
  description: `New password, ${limits.passwordLengthMin} to ${limits.passwordLengthMax} characters of any kind; common passwords, the e-mail address and the name of the organization are refused`,
  examples: ['a plain sentence you keep'],
})
const role = (description: string) => Type.Unsafe<UserRole>(oneOf(userRoleNames, { description, examples: ['editor'] }))
const optionalText = (description: string, example: string | null) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] })
const optionalTime = (description: string, example: number | null) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${description}, Unix time in seconds`,
    examples: [example],
  })
const linkToken = Type.String({
  minLength: 1,
  maxLength: limits.credentialLengthMax,
  description: 'The token of the link: the part after `#`',
  examples: ['psi_Yx0nq2…'],
})

/** A person of the organization. */
export const User = exactly(
  {
    id: identifier('the person', shown.userId),
    email: text('E-mail address', shown.email),
    name: optionalText('Name; null: not given yet', shown.name),
    role: role('Role'),
    accountIds: grantedAccounts,
    status: oneOf(['invited', 'active', 'deactivated'], {
      description:
        '`invited` until the person has accepted the invitation, then `active`; `deactivated` while the identity provider does not allow them to sign in',
      examples: ['active'],
    }),
    createdTime: unixSeconds('When the person was invited', example.createdTime),
    lastSignedInTime: optionalTime('When the person last signed in; null: never', example.updatedTime),
    invitationExpiresTime: optionalTime(
      'Time until which the link of the invitation is valid; null: no valid link',
      null,
    ),
  },
  { description: 'Person' },
)
export type User = Static<typeof User>

/** A person with the link of the invitation, which no later response contains. */
export const InvitedUser = exactly(
  {
    user: User,
    link: secret(
      'The link with which the person accepts. Give it only to this person. No later response contains it',
      'https://penstock.example.com/accept-invitation#psi_…',
    ),
    mailed: flag(
      'Whether the link is also sent by mail; false if the operator has not set up a mail server, or too many mails were sent within an hour',
    ),
  },
  { description: 'Person with the link of the invitation' },
)
export type InvitedUser = Static<typeof InvitedUser>

export const InviteUser = exactly(
  {
    email,
    name: Type.Optional(name(shown.name)),
    role: role('Role; it cannot include permissions that you do not have'),
    accountIds: Type.Optional(askedAccounts),
  },
  { description: 'Person to invite' },
)
export const UpdateUser = exactly(
  { role: role('Role; it cannot include permissions that you do not have'), accountIds: Type.Optional(askedAccounts) },
  { description: 'New permissions of the person' },
)

/** The caller. */
export const Me = exactly(
  {
    kind: oneOf(['client', 'session', 'user', 'link'], {
      description: 'Client credentials, a session token, a person, or the page of a connect link',
      examples: ['user'],
    }),
    id: text('Identifier of the client, the session, the person or the connect link', shown.userId),
    name: optionalText('Name', shown.name),
    email: optionalText('E-mail address of the person; null: not a person', shown.email),
    organizationId: identifier('the organization', '6c13f8b0a2d94e57'),
    organizationName: text('Name of the organization', 'Acme'),
    role: Type.Union([role('Role'), Type.Null()], {
      description: 'Role of the person; null: not a person',
      examples: ['editor'],
    }),
    scopes: grantedScopes,
    accountIds: grantedAccounts,
    method: oneOf(authenticationMethods, {
      description: 'How the request is authenticated; for a person, how they signed in',
      examples: ['password'],
    }),
    hasPassword: flag('Whether the person has a password'),
    mustRegisterPasskey: flag(
      'Whether the session can only register a passkey and sign out, because the organization requires a second factor and the person has no passkey yet',
      false,
    ),
    mail: flag('Whether this deployment sends e-mails'),
    csrfToken: Type.Union([Type.String({ format: 'password' }), Type.Null()], {
      description:
        'Send it as `X-CSRF-Token` with every request of the session that is not GET or HEAD; null: not a browser session',
      examples: ['pYf3…'],
    }),
  },
  { description: 'The caller and their permissions' },
)
export type Me = Static<typeof Me>

export const UpdateMe = exactly({ name: name(shown.name) }, { description: 'Changes to yourself' })
export const ChangePassword = exactly(
  {
    currentPassword: Type.Optional(givenPassword('Current password; omit it if you have no password')),
    newPassword,
  },
  { description: 'Current and new password' },
)

/** A session of a person in one browser. */
export const UserSession = exactly(
  {
    id: identifier('the session', shown.sessionId),
    current: flag('Whether it is the session of this request'),
    method: oneOf(signInMethods, { description: 'How the person signed in', examples: ['password'] }),
    createdTime: unixSeconds('When the person signed in', example.createdTime),
    lastUsedTime: unixSeconds('When it was last used, to a few minutes'),
    expiresTime: unixSeconds('When it ends at the latest', example.updatedTime + 2_592_000),
    address: text('Network address from which the person signed in', '203.0.113.7'),
    userAgent: optionalText(
      'User agent of the browser; null: not sent',
      'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
    ),
  },
  { description: 'Session of a person in one browser' },
)
export type UserSession = Static<typeof UserSession>

export const SignIn = exactly(
  {
    email,
    password: givenPassword('Password'),
    organizationId: Type.Optional(
      Type.String({
        ...Identifier,
        description: 'The organization to sign in to; required if several have the same e-mail address and password',
        examples: ['6c13f8b0a2d94e57'],
      }),
    ),
    link: singleSignOnLink,
  },
  { description: 'E-mail address and password' },
)

export const GetInvitation = exactly({ token: linkToken }, { description: 'Token of an invitation' })
export const Invitation = exactly(
  {
    email: optionalText('Invited e-mail address; null: the person enters it', shown.email),
    name: optionalText('Name; null: not given yet', shown.name),
    role: role('Role'),
    organizationId: identifier('the organization', '6c13f8b0a2d94e57'),
    organizationName: text('Name of the organization', 'Acme'),
    expiresTime: unixSeconds('Time until which the link is valid', example.updatedTime),
  },
  { description: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>
export const AcceptInvitation = exactly(
  {
    token: linkToken,
    name: name(shown.name),
    password: newPassword,
    email: Type.Optional(
      Type.String({ ...email, description: 'Your e-mail address; required if the invitation does not contain it' }),
    ),
  },
  { description: 'Acceptance of an invitation' },
)

export const RequestPasswordReset = exactly({ email }, { description: 'The person who requests a new password' })
export const PasswordResetRequested = exactly(
  { mail: flag('Whether this deployment sends mail; if not, ask your operator for a link') },
  { description: 'What happens next' },
)
export const ResetPassword = exactly(
  { token: linkToken, newPassword },
  { description: 'Token of a link to reset a password, and the new password' },
)
export const PasswordReset = exactly(
  {
    email: text('E-mail address to sign in with', shown.email),
    organizationId: identifier('the organization', '6c13f8b0a2d94e57'),
  },
  { description: 'The person whose password was set' },
)
export type PasswordReset = Static<typeof PasswordReset>

const nothing = { description: 'Nothing more' }
/** A response without content: it was done. */
export const Done = exactly({ done: flag('Always true') }, nothing)
export type Done = Static<typeof Done>
