import { operation } from '../operation.ts'
import { Done, SetSignInRules, SetSingleSignOn, SignInRules, SingleSignOn } from '../schemas.ts'

/** Identity providers, and the rules for signing in. */
export const singleSignOn = {
  getSingleSignOn: operation({
    tag: 'Users',
    summary: 'Get single sign-on',
    description: 'Returns the identity provider of the organization, without the client secret.',
    actsIn: 'organization',
    scope: 'organization:read',
    reply: SingleSignOn,
    done: 'Found',
    refusals: ['not_found'],
  }),
  setSingleSignOn: operation({
    tag: 'Users',
    summary: 'Set single sign-on',
    description:
      'Reads the configuration of the identity provider, then saves it for the organization. Only owners, and client credentials without limits, can do this. If the issuer changes, sessions that began at the previous issuer end immediately. If single sign-on is required, sessions that began in another way end, too, except sessions of owners.',
    actsIn: 'organization',
    scope: 'organization:write',
    unlimited: true,
    body: SetSingleSignOn,
    reply: SingleSignOn,
    done: 'Saved',
    refusals: ['provider_refused'],
    ownTransaction: true,
  }),
  deleteSingleSignOn: operation({
    tag: 'Users',
    summary: 'Delete single sign-on',
    description:
      'Removes the identity provider with its client secret, and ends the sessions that began there. Only owners, and client credentials without limits, can do this. People then sign in with passwords and passkeys; a person who has neither can request a password.',
    actsIn: 'organization',
    scope: 'organization:write',
    unlimited: true,
    reply: Done,
    done: 'Deleted',
    refusals: ['not_found'],
  }),
  getSignInRules: operation({
    tag: 'Users',
    summary: 'Get the sign-in rules',
    description: 'Returns how the people of the organization can sign in.',
    actsIn: 'organization',
    scope: 'organization:read',
    reply: SignInRules,
    done: 'Found',
  }),
  setSignInRules: operation({
    tag: 'Users',
    summary: 'Set the sign-in rules',
    description:
      'Sets whether a password is enough to sign in. Only owners, and client credentials without limits, can do this. If you require a second factor, sessions that began with a password end immediately. A person without a passkey must register one after signing in with the password, and can do nothing else until then.',
    actsIn: 'organization',
    scope: 'organization:write',
    unlimited: true,
    body: SetSignInRules,
    reply: SignInRules,
    done: 'Saved',
    refusals: ['second_factor_missing'],
  }),
} as const
