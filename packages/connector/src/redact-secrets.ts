import type { Fields } from './fields.ts'
import type { Values } from './values.ts'

/**
 * Removing secrets, by value, from text that another system wrote: an error message of a database or an HTTP answer can repeat
 * the input of the user or the request of the connector. A connector passes such text through `redact` before any of it becomes
 * part of a `ConnectorError`, a check step or a reason of a rejection.
 */

/** Replacement of a secret. */
export const redactedText = '[redacted]'

/**
 * Removes the secrets from a text of another system, of any length. Returns at most `lengthMax` characters, 300 by default, on
 * one line and without control characters. Longer texts are cut after the secrets are removed.
 */
export type Redact = (text: string, lengthMax?: number) => string

/** Maximum text that is searched; the rest is dropped. */
const searchedMax = 65_536
const lengthDefault = 300
/** Shorter secrets are only found as whole words, because they occur in longer words by coincidence. */
const anywhereMin = 6
/** This number of consecutive characters of a secret is also a secret, because other systems shorten and wrap texts. */
const pieceLength = 12

/** The values of the secret fields of a configuration, without empty ones. */
export function secretsOf(fields: Fields, values: Values): string[] {
  return Object.entries(fields).flatMap(([key, { type }]) => {
    const value = type === 'Password' && Object.hasOwn(values, key) ? values[key] : undefined
    return typeof value === 'string' && value !== '' ? [value] : []
  })
}

/**
 * Creates the function that removes these secrets, in every form in which a system may repeat them: unchanged in any letter case;
 * percent-encoded, also twice; in hexadecimal; in Base64, also inside a longer text that was encoded, such as `user:password`;
 * escaped for JSON, also twice, for SQL or for XML. In an address, the query is the secret. Each line of a secret with several
 * lines is a secret, and so is each secret member of a JSON document. Any 12 consecutive characters of a form are treated as the
 * secret. Never throws. The first call does the preparation.
 */
export function createRedact(secrets: Iterable<string>): Redact {
  const given = [...secrets]
  let prepared: Prepared | undefined
  return (text, lengthMax = lengthDefault) => {
    prepared ??= prepare(given)
    const searched = text.slice(0, searchedMax)
    // A secret can begin where the text was cut off, and be too short to be found.
    const safe = text.length > searchedMax ? searched.length - pieceLength : searched.length
    const line = oneLine(remove(searched, safe, prepared))
    return line.length <= lengthMax ? line : `${line.slice(0, Math.max(0, lengthMax - 1)).trimEnd()}…`
  }
}

/**
 * Creates the function that removes these secrets, in the same forms, from texts of any length, and keeps all other characters.
 * The first call does the preparation.
 */
export function createRemoval(secrets: Iterable<string>): (text: string) => string {
  const given = [...secrets]
  let prepared: Prepared | undefined
  return (text) => {
    prepared ??= prepare(given)
    return remove(text, text.length, prepared)
  }
}

type Prepared = {
  /** Forms that are found as whole words. */
  readonly words: readonly string[]
  /** Forms that are found anywhere, shorter than a piece. */
  readonly short: readonly string[]
  /** All pieces of the longer forms. */
  readonly pieces: ReadonlySet<string>
  /** The pairs of first and last characters of pieces, so that most places of a text are skipped quickly. */
  readonly ends: Uint8Array
}

function prepare(secrets: readonly string[]): Prepared {
  const words = new Set<string>()
  const short = new Set<string>()
  const pieces = new Set<string>()
  for (const part of secrets.flatMap(partsOf)) {
    for (const form of formsOf(part)) {
      const lower = lowerCase(form)
      if (part.length < anywhereMin) {
        if (lower.length >= part.length) words.add(lower)
      } else if (lower.length < pieceLength) short.add(lower)
      else for (let at = 0; at + pieceLength <= lower.length; at += 1) pieces.add(lower.slice(at, at + pieceLength))
    }
  }
  const ends = new Uint8Array(endsLength)
  for (const piece of pieces) ends[endsOf(piece, 0)] = 1
  return { words: [...words], short: [...short], pieces, ends }
}

const endsLength = 1 << 16

/** Of the piece at a place of a text. */
const endsOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 251 + text.charCodeAt(at + pieceLength - 1)) & (endsLength - 1)

const secretMember = /secret|passw|passphrase|credential|private|token|key|signature/i

/** The parts of a secret that are secret on their own: lines of a longer text, members of a JSON document. */
function partsOf(secret: string): string[] {
  const json = parseObject(secret)
  if (json) {
    return Object.entries(json)
      .filter(([name, value]) => secretMember.test(name) && typeof value === 'string')
      .flatMap(([, value]) => partsOf(String(value)))
  }
  const query = queryOf(secret)
  if (query.length > 0) return query
  const lines = secret
    .split(/\r\n|[\r\n]|\\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^-----.*-----$/.test(line))
  return lines.length > 1 ? lines.filter((line) => line.length >= anywhereMin) : [secret.trim()].filter(Boolean)
}

/**
 * In an address that is a secret, such as an address with a signature, only the query is secret. Messages can include its host
 * and path.
 */
const queryOf = (secret: string): string[] =>
  /^https?:\/\//i.test(secret) && URL.canParse(secret)
    ? new URL(secret).search
        .slice(1)
        .split('&')
        .flatMap((part) => {
          const value = part.slice(part.indexOf('=') + 1)
          return [value, new URLSearchParams(`=${value}`).get('') ?? '']
        })
        .filter((value) => value.length >= anywhereMin)
    : []

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** A secret in all forms, each of them long enough to mean it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const json = JSON.stringify(secret).slice(1, -1)
  const forms = [
    secret,
    encodeURI(secret.toWellFormed()),
    encodeURIComponent(secret.toWellFormed()),
    encodeURIComponent(encodeURIComponent(secret.toWellFormed())),
    new URLSearchParams({ '': secret }).toString().slice(1),
    percent,
    json,
    json.replaceAll('/', '\\/'),
    JSON.stringify(json).slice(1, -1),
    json.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
    secret.replaceAll("'", "''"),
    secret.replace(/['"\\]/g, '\\$&'),
    secret.replaceAll('\\', '\\\\').replaceAll("'", "''"),
    secret.replaceAll('"', '""'),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    secret
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
    bytes.toString('hex'),
    ...[0, 1, 2].flatMap((before) => base64Of(bytes, before)),
  ]
  return [...new Set(forms)].filter((form) => form.length >= Math.min(secret.length, anywhereMin))
}

/** The characters of Base64 that depend only on these bytes, after this number of bytes. */
function base64Of(bytes: Buffer, before: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  const from = Math.ceil((before * 8) / 6)
  const to = Math.floor(((before + bytes.length) * 8) / 6)
  // Without the padding, and without the character that depends on the next byte.
  return [encoded.slice(from).replaceAll('=', ''), encoded.slice(from, to)].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ])
}

/** Without any other change of length, so that places in both texts are the same. */
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** @param length maximum characters to return; the rest of the text is only searched */
function remove(text: string, length: number, { words, short, pieces, ends }: Prepared): string {
  const lower = lowerCase(text)
  const secret = new Uint8Array(text.length)
  for (const word of words)
    each(lower, word, (at) => isWord(lower, at, word.length) && secret.fill(1, at, at + word.length))
  for (const form of short) each(lower, form, (at) => secret.fill(1, at, at + form.length))
  if (pieces.size > 0) {
    for (let at = 0; at + pieceLength <= lower.length; at += 1) {
      if (ends[endsOf(lower, at)] === 1 && pieces.has(lower.slice(at, at + pieceLength)))
        secret.fill(1, at, at + pieceLength)
    }
  }
  let result = ''
  for (let at = 0; at < length; ) {
    const end = secret[at] === 1 ? secret.indexOf(0, at) : secret.indexOf(1, at)
    const to = end === -1 ? length : Math.min(end, length)
    result += secret[at] === 1 ? redactedText : text.slice(at, to)
    at = to
  }
  return result
}

function each(text: string, form: string, found: (at: number) => unknown): void {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found(at)
}

const isWord = (text: string, at: number, length: number): boolean =>
  !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') && !/[\p{L}\p{N}]/u.test(text[at + length] ?? '')

const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim()
