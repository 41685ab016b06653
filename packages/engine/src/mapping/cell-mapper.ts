import type { Cell, Normalisation, RecordField } from '@penstock/connector'
import type { LocalForm, LocalRead } from '@penstock/expressions/local'
import { answerKey, readLocalNumber, readLocalTime, withoutUnit } from '@penstock/expressions/local'
import { answersOf } from './answers.ts'
import {
  type Digest,
  type DigestEncoding,
  digestOf,
  encodeDigest,
  isDigestOfNothing,
  isForeignDigest,
  readBase64Digest,
  readDigest,
} from './hash.ts'
import { invalidMessages, type Normalise, normalisers, readsByCountry } from './normalise.ts'

/** A cell in the form that the destination requires; `null` if there is no value, `undefined` if the value cannot be used. */
export type CellMapper = (cell: string | number | boolean, country: string | undefined) => Cell | undefined

/** How the values of a field are mapped; `map` is absent if values pass unchanged. */
export type FieldMapper = {
  readonly map?: CellMapper
  /** Whether `map` reads by a country. */
  readonly byCountry: boolean
  /** Error message of a cell that `map` cannot use, to follow the field's name. */
  readonly messageOf: (cell: string | number | boolean) => string
}

/**
 * Creates the functions of a field once, so that nothing is looked up for each row.
 * @param local how its numbers or times are written, as far as the mapping defines it
 */
export function fieldMapper(definition: RecordField | undefined, local: LocalForm = {}): FieldMapper {
  const mapper = formMapper(definition)
  const read = localReader(definition, local)
  if (!read) return mapper
  const { map = (cell) => cell } = mapper
  return {
    ...mapper,
    map: (cell, country) => {
      const text = typeof cell === 'string' ? read(cell).text : cell
      return text === undefined ? undefined : map(text, country)
    },
    messageOf: (cell) => read(String(cell)).wrong ?? mapper.messageOf(cell),
  }
}

/**
 * The same functions, with the mapping's replacements for single values.
 * @param values the replacements: `null` means no value
 */
export function withAnswers(
  mapper: FieldMapper,
  values: Readonly<Record<string, string | null>> | undefined,
): FieldMapper {
  if (!values) return mapper
  const { map = (cell) => cell } = mapper
  const answers = new Map([...answersOf(values)].map(([key, to]) => [key, to === null ? null : map(to, undefined)]))
  return {
    ...mapper,
    map: (cell, country) => {
      const answer = answers.get(answerKey(String(cell)))
      return answer === undefined ? map(cell, country) : answer
    },
  }
}

/** Reads the local forms of a field; `undefined` if it contains neither numbers nor times. */
function localReader(definition: RecordField | undefined, local: LocalForm): ((text: string) => LocalRead) | undefined {
  const { numbers, unit } = local
  if (numbers && unit) return (text) => readLocalNumber(withoutUnit(text, unit), numbers)
  if (definition?.reads === 'number' || numbers) return (text) => readLocalNumber(text, numbers)
  const isTime = definition?.reads === 'time'
  return isTime || local.dates || local.timezone ? (text) => readLocalTime(text, local, isTime) : undefined
}

function formMapper(definition: RecordField | undefined): FieldMapper {
  const { normalise: form, hashed = [], digestEncoding = 'hex', values } = definition ?? {}
  const byCountry = form !== undefined && readsByCountry(form)
  const message = form ? invalidMessages[form] : 'is empty'
  const [digest] = hashed
  const anyText = takesAnyText(definition)
  if (digest) {
    const normalise = form ? normalisers[form] : (text: string) => text
    const make: Normalise = (text, country) => {
      const normal = normalise(text, country)
      return normal === undefined ? undefined : encodeDigest(digestOf(digest, normal), digestEncoding)
    }
    const messageOf = (cell: string | number | boolean) =>
      isForeignDigest(String(cell).trim(), anyText)
        ? `is hashed, but by something else than ${hashed.map((name) => digestNames[name]).join(' or ')}`
        : message
    return {
      map: hashedMapper(comesOften(definition) ? cached(make) : make, hashed, digestEncoding, anyText),
      byCountry,
      messageOf,
    }
  }
  if (form) {
    const normalise = comesOften(definition) ? cached(normalisers[form]) : normalisers[form]
    const messageOf = (cell: string | number | boolean) =>
      !anyText && isForeignDigest(String(cell).trim(), false)
        ? 'is hashed, but the destination needs the plain value'
        : message
    const map = plainMapper(normalise, anyText)
    return values ? { ...choiceMapper(values, map), byCountry } : { map, byCountry, messageOf }
  }
  return values ? { ...choiceMapper(values, (cell) => cell), byCountry } : { byCountry, messageOf: () => message }
}

/** Whether a field accepts identifiers of any form, so that the characters of a value do not show whether it is a digest. */
export const takesAnyText = (definition: RecordField | undefined): boolean =>
  definition?.normalise === undefined ||
  ['text', 'lower', 'external-id', 'device-id', 'device-id-upper'].includes(definition.normalise)

const digestNames: Readonly<Record<Digest, string>> = { sha256: 'SHA-256', sha512: 'SHA-512', md5: 'MD5' }

/** Hexadecimal digests, and values that look like them, have at least this length. */
const digestLengthMin = 32

/**
 * A value that is already a digest, in the form to send; `null` for the digest of an empty text, `undefined` for any other value.
 */
function sentDigest(text: string, accepted: readonly Digest[], encoding: DigestEncoding): string | null | undefined {
  const digest = readDigest(text, accepted) ?? (encoding === 'base64' ? readBase64Digest(text, accepted) : undefined)
  if (digest === undefined) return undefined
  return isDigestOfNothing(digest) ? null : encodeDigest(digest, encoding)
}

function hashedMapper(
  make: Normalise,
  accepted: readonly Digest[],
  encoding: DigestEncoding,
  anyText: boolean,
): CellMapper {
  return (cell, country) => {
    const text = typeof cell === 'string' ? cell : String(cell)
    if (text.length >= digestLengthMin) {
      const trimmed = text.trim()
      const digest = sentDigest(trimmed, accepted, encoding)
      if (digest !== undefined) return digest
      if (isForeignDigest(trimmed, anyText)) return undefined
    }
    return make(text, country) ?? nothingOrUnusable(text)
  }
}

function plainMapper(normalise: Normalise, anyText: boolean): CellMapper {
  return (cell, country) => {
    const text = typeof cell === 'string' ? cell : String(cell)
    if (!anyText && text.length >= digestLengthMin && isForeignDigest(text.trim(), false)) return undefined
    return normalise(text, country) ?? nothingOrUnusable(text)
  }
}

const nothingOrUnusable = (text: string): null | undefined => (text.trim() === '' ? null : undefined)

/** Accepts only some values, in any letter case, and returns them in the spelling of the destination. */
function choiceMapper(values: readonly string[], map: CellMapper): Pick<FieldMapper, 'map' | 'messageOf'> {
  const spelled = new Map(values.map((value) => [value.toLowerCase(), value]))
  for (const value of values) spelled.set(value, value)
  return {
    map: (cell, country) => {
      const made = map(cell, country)
      if (made === null || made === undefined) return made
      const text = String(made)
      return spelled.get(text) ?? spelled.get(text.trim().toLowerCase()) ?? nothingOrUnusable(text)
    },
    messageOf: () => `must be one of ${values.join(', ')}`,
  }
}

/** Whether a few values repeat often: names, places and days do, identifiers of one person do not. */
const comesOften = (definition: RecordField | undefined): boolean =>
  definition?.normalise !== undefined && repeating.has(definition.normalise)

const repeating: ReadonlySet<Normalisation> = new Set([
  ...(['name', 'name-joined', 'name-ascii', 'initial', 'given-name', 'family-name'] as const),
  ...(['city', 'state', 'city-ascii', 'postal-code', 'country'] as const),
  ...(['birth-date', 'birth-year', 'birth-month', 'birth-day', 'gender', 'gender-or-n'] as const),
])

const cachedMax = 5_000

/** The same function with a cache of the first 5,000 results. It is two to ten times as fast if values repeat. */
function cached(make: Normalise): Normalise {
  const known = new Map<string, string>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const made = make(text)
    // Copies, because a short text cut out of a chunk keeps the whole chunk in memory.
    if (made !== undefined && known.size < cachedMax) known.set(copy(text), copy(made))
    return made
  }
}

const copy = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')
