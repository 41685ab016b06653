import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { exactly, secret } from './kinds.ts'

/** Token request (section 4.1). */
export const Credentials = exactly(
  {
    clientId: Type.String({
      minLength: 1,
      maxLength: limits.credentialLengthMax,
      description: 'Client identifier',
      examples: [example.clientId],
    }),
    clientSecret: secret('Client secret', 'pss_…', { minLength: 1, maxLength: limits.credentialLengthMax }),
  },
  { description: 'Client credentials' },
)

/** Section 2.2. The only reply without an envelope. */
export const Token = exactly(
  {
    accessToken: secret('Bearer token value', 'pst_Yx0nq2…'),
    tokenType: Type.Literal('Bearer', { description: 'Kind of token', examples: ['Bearer'] }),
    expiry: Type.Integer({
      minimum: 1,
      description: 'Lifetime in seconds',
      examples: [limits.tokenLifetimeSecondsDefault],
    }),
  },
  { description: 'Access token' },
)
export type Token = Static<typeof Token>
