import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { exactly, text } from './kinds.ts'

const credential = (description: string, shown: string) =>
  Type.String({ minLength: 1, maxLength: limits.credentialLengthMax, description, examples: [shown] })

/** What a token request carries (section 4.1). */
export const Credentials = exactly(
  {
    clientId: credential('Client identifier', example.clientId),
    clientSecret: credential('Client secret', 'pss_…'),
  },
  { description: 'Client credentials' },
)

/** Section 2.2. The one reply without an envelope. */
export const Token = exactly(
  {
    accessToken: text('Bearer token value', 'pst_Yx0nq2…'),
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
