/**
 * E-mail addresses in the forms that platforms require before an address is hashed. Addresses are checked for plausibility (one
 * @, a dot in the domain, no characters that occur only in lists or display names). A wrong address does no harm, but refusing a
 * correct address loses a person.
 */

const lengthMax = 254
const plausible = /^[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\._-][^\s@<>()[\],;:"\\]*\.[^\s@<>()[\],;:"\\._-]+$/

/** Trimmed and in lower case; `undefined` if the text is not an address. */
export function normaliseEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase()
  if (email.length > lengthMax || !plausible.test(email) || email.includes('..', email.indexOf('@'))) return undefined
  return email
}

/** The same, and of addresses at Google without the dots before the @, which Google ignores. */
export const normaliseEmailWithoutGmailDots = (text: string): string | undefined =>
  rewriteLocalPart(text, (local, domain) => (isGmail(domain) ? local.replaceAll('.', '') : local))

/** The same, without dots and `+…` before the @ for addresses at Google, which ignores both. */
export const normaliseGmail = (text: string): string | undefined =>
  rewriteLocalPart(text, (local, domain) => (isGmail(domain) ? beforePlus(local).replaceAll('.', '') : local))

/** The same only for `gmail.com`, as UID2 and EUID prescribe. */
export const normaliseGmailCom = (text: string): string | undefined =>
  rewriteLocalPart(text, (local, domain) => (domain === 'gmail.com' ? beforePlus(local).replaceAll('.', '') : local))

/** The same, without `+…` before the @, for any provider. */
export const normaliseEmailWithoutTag = (text: string): string | undefined => rewriteLocalPart(text, beforePlus)

/** The same, without dots and `+…` before the @, for any provider. */
export const normaliseEmailWithoutDotsAndTag = (text: string): string | undefined =>
  rewriteLocalPart(text, (local) => beforePlus(local).replaceAll('.', ''))

/** The same with only ASCII letters and digits before the @, and without `+…` there, for any provider. */
export const normaliseEmailOfLettersAndDigits = (text: string): string | undefined =>
  rewriteLocalPart(text, (local) => beforePlus(local).replace(/[^a-z0-9]+/g, ''))

/** The same, without signs other than `.`, `_`, `-` and `@`, as Amazon compares addresses: `jo+news@` is `jonews@`. */
export const normaliseEmailWithoutSigns = (text: string): string | undefined =>
  rewriteLocalPart(text, (local) => local.replace(/[^\p{L}\p{N}._-]+/gu, ''))

const isGmail = (domain: string): boolean => domain === 'gmail.com' || domain === 'googlemail.com'

function beforePlus(local: string): string {
  const plus = local.indexOf('+')
  return plus < 0 ? local : local.slice(0, plus)
}

function rewriteLocalPart(text: string, rewrite: (local: string, domain: string) => string): string | undefined {
  const email = normaliseEmail(text)
  if (email === undefined) return undefined
  const at = email.indexOf('@')
  const before = email.slice(0, at)
  const local = rewrite(before, email.slice(at + 1))
  if (local === before) return email
  return local === '' ? undefined : local + email.slice(at)
}
