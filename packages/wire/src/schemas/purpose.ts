import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { consentOptOuts, consentSignals, consentUses } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, identifier, namePattern, oneOf } from './kinds.ts'

/** Purposes for which people give consent, and the columns that say so. Not in the specification. */

const number = (max: number, description: string, shown: number) =>
  Type.Integer({ minimum: 1, maximum: max, description, examples: [shown] })

const signal = exactly(
  {
    kind: oneOf(consentSignals, {
      description:
        'Form of the column. values: the person agreed if the column has one of the given values. tcf: a TCF string of the IAB, also within a GPP string. gpp: a GPP string, in which the person opts out in a US section. usPrivacy: a US Privacy string such as 1YNN',
      examples: ['values'],
    }),
    column: Type.String({
      minLength: 1,
      maxLength: limits.shapeTextLengthMax,
      description: 'Column of the source',
      examples: ['marketing_opt_in'],
    }),
    values: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.ruleValueLengthMax }), {
        minItems: 1,
        maxItems: limits.purposeValuesMax,
        description: 'For values: the values that mean yes, in any case',
        examples: [['yes', 'true', '1']],
      }),
    ),
    purposes: Type.Optional(
      Type.Array(number(24, 'Number of the purpose', 1), {
        minItems: 1,
        maxItems: 24,
        description: 'For tcf: purposes of the TCF that the person must have agreed to',
        examples: [[1, 3, 4]],
      }),
    ),
    vendor: Type.Optional(number(65_535, 'For tcf: number of a vendor that the person must have agreed to', 755)),
    optOuts: Type.Optional(
      Type.Array(oneOf(consentOptOuts, { description: 'Opt-out', examples: ['sale'] }), {
        minItems: 1,
        maxItems: consentOptOuts.length,
        description: 'For gpp: the opt-outs that mean no; all by default',
        examples: [['sale', 'sharing']],
      }),
    ),
  },
  { description: 'Signal' },
)

const shown = [{ kind: 'values', column: 'marketing_opt_in', values: ['yes'] }]

const named = {
  name: Type.String({
    pattern: namePattern,
    maxLength: limits.purposeNameLengthMax,
    description: 'Name of the purpose, without commas',
    examples: ['advertising'],
  }),
  signals: Type.Array(signal, {
    minItems: 1,
    maxItems: limits.purposeSignalsMax,
    description:
      'Columns that record whether the person agreed. A person has agreed if at least one of the columns has a value, and no column means no',
    examples: [shown],
  }),
  uses: Type.Optional(
    Type.Array(oneOf(consentUses, { description: 'Use', examples: ['userData'] }), {
      maxItems: consentUses.length,
      description:
        'Consent fields of platforms that this purpose fills, unless the mapping fills them. userData: user data for advertising. personalization: personalised ads. adStorage: storage for advertising. sale: sale and sharing under the law of US states; without consent, platforms limit the use of the data. Empty if omitted',
      examples: [['userData', 'personalization']],
    }),
  ),
}

/** Request of Set Purposes. */
export const SetPurposes = exactly(
  {
    purposes: Type.Array(exactly(named, { description: 'Purpose' }), {
      maxItems: limits.purposesMax,
      description: 'All purposes of the sub-account; empty: consent is not checked',
      examples: [[{ name: 'advertising', signals: shown, uses: ['userData'] }]],
    }),
  },
  { description: 'Purposes of a sub-account' },
)

/** A purpose of a sub-account. */
export const Purpose = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    ...named,
    uses: Type.Array(oneOf(consentUses, { description: 'Use', examples: ['userData'] }), {
      description: 'Consent fields of platforms that this purpose fills',
      examples: [['userData', 'personalization']],
    }),
    connections: Type.Integer({ minimum: 0, description: 'Connections that require it', examples: [3] }),
  },
  { description: 'Purpose' },
)
export type Purpose = Static<typeof Purpose>

/** Response of Set Purposes. */
export const Purposes = exactly(
  { purposes: Type.Array(Purpose, { description: 'All purposes of the sub-account, by name' }) },
  { description: 'Purposes of a sub-account' },
)
