import { createHash } from 'node:crypto'
import { toNormalForm } from '@penstock/wire'

/** Whether a stored value is of a person who is named by values such as an e-mail address. */

/** Fewer digits are part of many numbers. */
const phoneDigitsMin = 7
const phone = /^\+?[\d\s()./-]+$/
const hex = /^[0-9a-f]{32}(?:[0-9a-f]{32})?$/i
const base64 = /^[A-Za-z0-9+/]{43}=$/
const algorithms = ['sha256', 'md5'] as const

/**
 * Makes the test of a value: it is one of the values of the person in any letter case, has it as a word in it, is the same
 * telephone number in another form, or is its digest, as hexadecimal or base64 text.
 * @param values of the person, with spaces around them or not
 */
export function matcherOf(values: readonly string[]): (stored: string) => boolean {
  const texts = values.map(plain)
  const words = texts.map(finderOf)
  const phones = texts.flatMap(digitsOf)
  const digests = new Set(
    [...texts, ...values.map((value) => value.trim()), ...phones, ...phones.map((digits) => `+${digits}`)].flatMap(
      digestsOf,
    ),
  )
  return (stored) => {
    const text = plain(stored)
    if (words.some((find) => find(text))) return true
    if (hex.test(text) || base64.test(stored.trim()))
      return digests.has(base64.test(stored.trim()) ? stored.trim() : text)
    return digitsOf(text).some((digits) => phones.some((phone) => isSamePhone(phone, digits)))
  }
}

const wordBegins = /(?<![\p{L}\p{N}._%+-])/uy
const wordEnds = /(?![\p{L}\p{N}_%+@-]|\.[\p{L}\p{N}])/uy
const holdsAt = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at
  return pattern.test(text)
}

/**
 * Makes the test whether a text has a word. It looks at each character of the text one time (Knuth, Morris and Pratt): a pattern
 * of many words would begin again at each character of a text that is made for it.
 */
function finderOf(word: string): (text: string) => boolean {
  // For each length of a begun word: the longest shorter begin that it ends with.
  const shorter = [0]
  for (let at = 1, length = 0; at < word.length; at++) {
    while (length > 0 && word[at] !== word[length]) length = shorter[length - 1] ?? 0
    if (word[at] === word[length]) length++
    shorter.push(length)
  }
  return (text) => {
    for (let at = 0, length = 0; at < text.length; at++) {
      while (length > 0 && text[at] !== word[length]) length = shorter[length - 1] ?? 0
      if (text[at] === word[length]) length++
      if (length < word.length) continue
      const end = at + 1
      if (holdsAt(wordBegins, text, end - length) && holdsAt(wordEnds, text, end)) return true
      length = shorter[length - 1] ?? 0
    }
    return false
  }
}

const plain = (value: string): string => toNormalForm(value.trim(), 'NFC').toLowerCase()

/** The digits of a telephone number without the prefix of calls abroad; empty if the text is none. */
function digitsOf(text: string): string[] {
  if (!phone.test(text)) return []
  const digits = text.replaceAll(/\D/g, '').replace(/^00/, '')
  return digits.length >= phoneDigitsMin ? [digits] : []
}

/** A number as it is dialled at home begins with 0 in place of the code of the country, which has one to three digits. */
function isSamePhone(one: string, other: string): boolean {
  if (one === other) return true
  const isNational = (national: string, international: string) =>
    national.startsWith('0') &&
    /^[1-9]\d{0,2}$/.test(international.slice(0, -(national.length - 1))) &&
    international.endsWith(national.slice(1))
  return isNational(one, other) || isNational(other, one)
}

const digestsOf = (text: string): string[] =>
  algorithms.flatMap((algorithm) => {
    const digest = createHash(algorithm).update(text).digest()
    return [digest.toString('hex'), digest.toString('base64')]
  })
