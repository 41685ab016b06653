/** Groups of forms, as people look for them. */
export const normalisationGroups = ['E-mail', 'Phone', 'Names', 'Dates', 'Addresses', 'Other'] as const

type NormalisationFacts = {
  readonly group: (typeof normalisationGroups)[number]
  /** The form in words. */
  readonly says: string
  /** A value, and the value in this form. */
  readonly example: readonly [value: string, normalised: string]
}

/**
 * Ours: the forms to which the engine normalises a value before it hashes or sends it. Each form trims, and returns nothing
 * for a value that it cannot normalise.
 */
export const normalisationFacts = {
  email: {
    group: 'E-mail',
    says: 'lower case',
    example: [' Ann@Example.com', 'ann@example.com'],
  },
  'email-gmail': {
    group: 'E-mail',
    says: 'lower case, without dots and `+…` before @gmail.com and @googlemail.com',
    example: ['A.Bee+shop@gmail.com', 'abee@gmail.com'],
  },
  'email-gmail-com': {
    group: 'E-mail',
    says: 'the same, only for @gmail.com',
    example: ['A.Bee+shop@gmail.com', 'abee@gmail.com'],
  },
  'email-gmail-dots': {
    group: 'E-mail',
    says: 'lower case, without dots before @gmail.com and @googlemail.com',
    example: ['A.Bee+shop@gmail.com', 'abee+shop@gmail.com'],
  },
  'email-plain-local': {
    group: 'E-mail',
    says: 'lower case, without `+…` before any @',
    example: ['Ann+shop@example.com', 'ann@example.com'],
  },
  'email-no-dots-no-tag': {
    group: 'E-mail',
    says: 'lower case, without dots and `+…` before any @',
    example: ['A.Bee+shop@example.com', 'abee@example.com'],
  },
  'email-alphanumeric': {
    group: 'E-mail',
    says: 'lower case, only letters of ASCII and digits before any @, without `+…` there',
    example: ['a_b-c+shop@example.com', 'abc@example.com'],
  },
  'email-no-signs': {
    group: 'E-mail',
    says: 'lower case, letters, digits, `.`, `_` and `-` before any @',
    example: ['a.b!c@example.com', 'a.bc@example.com'],
  },
  'phone-e164': {
    group: 'Phone',
    says: '`+` and 7 to 15 digits',
    example: ['+49 171 5550123', '+491715550123'],
  },
  'phone-digits': {
    group: 'Phone',
    says: 'the same without `+`',
    example: ['+49 171 5550123', '491715550123'],
  },
  name: {
    group: 'Names',
    says: 'lower case, without punctuation and digits',
    example: ['Jörg-Peter', 'jörgpeter'],
  },
  'name-joined': {
    group: 'Names',
    says: 'lower case, without punctuation and spaces',
    example: ['Anna Maria', 'annamaria'],
  },
  'name-ascii': {
    group: 'Names',
    says: 'letters of ASCII and digits, lower case; ä, ö, ü, ß, ø and æ as ae, oe, ue, ss, o and ae',
    example: ['Jörg', 'joerg'],
  },
  initial: {
    group: 'Names',
    says: 'the first letter, lower case',
    example: ['Anna', 'a'],
  },
  'given-name': {
    group: 'Names',
    says: 'lower case, without a title such as Mr.',
    example: ['Dr. Anna', 'anna'],
  },
  'family-name': {
    group: 'Names',
    says: 'lower case, without additions such as Jr.',
    example: ['Smith Jr.', 'smith'],
  },
  city: {
    group: 'Addresses',
    says: 'lower case, without spaces and punctuation',
    example: ['New York', 'newyork'],
  },
  state: {
    group: 'Addresses',
    says: 'two letters of a state of the United States, of others lower case, without spaces and punctuation',
    example: ['New York', 'ny'],
  },
  'city-ascii': {
    group: 'Addresses',
    says: 'letters of ASCII and digits, lower case',
    example: ['St. Louis', 'stlouis'],
  },
  'state-ascii': {
    group: 'Addresses',
    says: 'letters of ASCII, lower case: of states of the United States, Canada and four countries of Europe the abbreviations of Amazon, of others the first two letters',
    example: ['California', 'ca'],
  },
  'postal-code': {
    group: 'Addresses',
    says: 'lower case, without spaces and what follows a hyphen',
    example: ['SW1A 1AA', 'sw1a1aa'],
  },
  'postal-code-national': {
    group: 'Addresses',
    says: 'digits, or upper case, in the length that the country has',
    example: ['12345-6789', '12345'],
  },
  'street-address': {
    group: 'Addresses',
    says: 'lower case, without spaces and punctuation, words abbreviated as in the country',
    example: ['10 Main Street', '10mainst'],
  },
  country: {
    group: 'Addresses',
    says: 'two letters of ISO 3166, lower case',
    example: ['Germany', 'de'],
  },
  'birth-date': {
    group: 'Dates',
    says: 'YYYYMMDD',
    example: ['31.12.1985', '19851231'],
  },
  'birth-year': {
    group: 'Dates',
    says: 'YYYY',
    example: ['1985', '1985'],
  },
  'birth-month': {
    group: 'Dates',
    says: 'MM',
    example: ['3', '03'],
  },
  'birth-day': {
    group: 'Dates',
    says: 'DD',
    example: ['7', '07'],
  },
  gender: {
    group: 'Names',
    says: '`m` or `f`',
    example: ['female', 'f'],
  },
  'gender-or-n': {
    group: 'Names',
    says: 'the same, or `n` for neither',
    example: ['male', 'm'],
  },
  'device-id': {
    group: 'Other',
    says: 'lower case',
    example: ['CDDA802E-FB9C-47AD-9866-0794D394C912', 'cdda802e-fb9c-47ad-9866-0794d394c912'],
  },
  'device-id-upper': {
    group: 'Other',
    says: 'upper case',
    example: ['cdda802e-fb9c-47ad-9866-0794d394c912', 'CDDA802E-FB9C-47AD-9866-0794D394C912'],
  },
  'external-id': {
    group: 'Other',
    says: 'lower case, without spaces',
    example: [' C 1234 ', 'c1234'],
  },
  lower: {
    group: 'Other',
    says: 'lower case',
    example: ['Basic', 'basic'],
  },
  text: {
    group: 'Other',
    says: 'as it is',
    example: [' Basic ', 'Basic'],
  },
} as const satisfies Readonly<Record<string, NormalisationFacts>>

export type Normalisation = keyof typeof normalisationFacts
export const normalisations = Object.keys(normalisationFacts) as readonly Normalisation[]
