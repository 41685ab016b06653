import type { Static } from '../type.ts'
import { exactly, flag, text } from './kinds.ts'

/** How the people of an organization can sign in. Not in the specification. */

const secondFactorRequired = flag(
  'Whether people must sign in with a passkey or single sign-on, and not only with a password',
  true,
)

export const SignInRules = exactly(
  {
    secondFactorRequired,
    redirectUri: text(
      'Redirect URI to register with an identity provider, before single sign-on is set up',
      'https://penstock.example.com/sso/callback',
    ),
  },
  { description: 'How the people of the organization sign in' },
)
export type SignInRules = Static<typeof SignInRules>

export const SetSignInRules = exactly({ secondFactorRequired }, { description: 'New sign-in rules' })
