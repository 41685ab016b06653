import { limits } from './limits.ts'
import { secretFormError } from './secret-forms.ts'
import { isSecretReference, readSecretReference, secretReferenceForm } from './secret-references.ts'
import type { SecretForm } from './terms.ts'

/**
 * Which values the fields of connectors accept (specification, section 2.6). The service validates requests with this rule, and
 * `plan` predicts its refusals with it.
 */

/** The part of a field that decides which values it accepts. */
export type ValueField = {
  readonly type: 'Text' | 'Password' | 'Number' | 'Date' | 'Boolean' | 'Select' | 'Multi-Select'
  readonly options?: readonly string[] | undefined
  /** For a number; `max` also for a text, in characters. */
  readonly min?: number | undefined
  readonly max?: number | undefined
  /** For a secret. */
  readonly form?: SecretForm | undefined
}

/** A value in its stored form, or the reason why it is refused, to follow the name of the field. */
export type ReadValue = { read: string | number | boolean | string[] } | { wrong: string }

/** Reads a value that is not empty. Values are returned as text, so each kind accepts its text form in addition to its own. */
export function readFieldValue(field: ValueField, sent: unknown): ReadValue {
  switch (field.type) {
    case 'Text':
      return readText(sent, field.max ?? limits.textLengthMax)
    case 'Password':
      return readSecret(field, sent)
    case 'Number':
      return readNumber(field, sent)
    case 'Date':
      return readDate(sent)
    case 'Boolean':
      if (sent === true || sent === 'true') return { read: true }
      if (sent === false || sent === 'false') return { read: false }
      return { wrong: 'must be true or false' }
    case 'Select':
      return typeof sent === 'string' && field.options?.includes(sent)
        ? { read: sent }
        : { wrong: `must be one of: ${field.options?.join(', ')}` }
    case 'Multi-Select':
      return readOptions(field, sent)
  }
}

function readText(sent: unknown, lengthMax: number): ReadValue {
  if (typeof sent !== 'string') return { wrong: 'must be text' }
  // Characters are Unicode code points, as in the contract, not UTF-16 units.
  if (sent.length > lengthMax && [...sent].length > lengthMax)
    return { wrong: `must have at most ${lengthMax} characters` }
  if (sent.trim() === '') return { wrong: 'must not be blank' }
  return { read: sent }
}

/** A reference to a secret manager is read as one, whatever form the secret has. */
function readSecret({ form }: ValueField, sent: unknown): ReadValue {
  if (isSecretReference(sent)) {
    const read = sent.trim()
    return readSecretReference(read) ? { read } : { wrong: `must be ${secretReferenceForm}` }
  }
  const value = readText(sent, limits.secretLengthMax)
  const wrong = form && 'read' in value ? secretFormError(form, String(value.read)) : undefined
  return wrong === undefined ? value : { wrong }
}

function readNumber({ min, max }: ValueField, sent: unknown): ReadValue {
  const value = typeof sent === 'string' && /^-?\d{1,15}$/.test(sent) ? Number(sent) : sent
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return { wrong: 'must be a whole number' }
  if (min !== undefined && value < min) return { wrong: `must be at least ${min}` }
  if (max !== undefined && value > max) return { wrong: `must be at most ${max}` }
  // Minus zero is zero.
  return { read: value || 0 }
}

function readDate(sent: unknown): ReadValue {
  if (typeof sent === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(sent) && isDay(sent)) return { read: sent }
  return { wrong: 'must be a calendar day, YYYY-MM-DD' }
}

function readOptions(field: ValueField, sent: unknown): ReadValue {
  const wrong = { wrong: `must be a list of any of: ${field.options?.join(', ')}` }
  let list = sent
  if (typeof sent === 'string') {
    try {
      list = JSON.parse(sent)
    } catch {
      return wrong
    }
  }
  if (!Array.isArray(list) || !list.every((option) => field.options?.includes(option))) return wrong
  return { read: [...new Set<string>(list)] }
}

/** Whether a day exists, as YYYY-MM-DD: JavaScript would turn the 30th of February into a day of March. */
export function isDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}
