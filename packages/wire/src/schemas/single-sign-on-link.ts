import { Type } from '../type.ts'

/** Token in the page of single sign-on, if a person must confirm their identity. */
export const singleSignOnLink = Type.Optional(
  Type.String({
    pattern: '^[A-Za-z0-9._-]{1,1000}$',
    description:
      'Token of the page that asks to confirm a sign-in at the identity provider. It links the account at the provider with the person, for later sign-ins',
    examples: ['b25l.A1b2C3'],
  }),
)
