/** The kinds of identifiers of an audience of Yahoo: the key of Yahoo, the column, and words for it. */
export const seedKinds = [
  { key: 'EMAIL', column: 'email_sha256', words: 'e-mail addresses' },
  { key: 'PHONE_NUMBER', column: 'phone_sha256', words: 'phone numbers' },
] as const
