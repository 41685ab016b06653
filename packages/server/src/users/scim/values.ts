import { refuse } from '../../refusal.ts'

/** Values of SCIM messages (RFC 7643, RFC 7644), as identity providers really send them. */

/** Codes of RFC 7644, section 3.12, that this service answers with. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness'

/** Refuses a SCIM request with 400, or 409 for `uniqueness`. The HTTP layer makes the error of the RFC from it. */
export const refuseScim = (scimType: ScimType, message: string): never =>
  refuse('invalid_request', [{ field: scimType, message }])

/** The attributes of a complex value, by their names in lower case: letter case does not matter (RFC 7643, section 2.1). */
export function attributesOf(value: unknown, name: string): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuseScim('invalidSyntax', `${name} must be an object.`)
  }
  return new Map(Object.entries(value).map(([key, one]) => [key.toLowerCase(), one]))
}

/**
 * A text without control characters and surrounding spaces. Null if it is empty.
 * @param lengthMax in characters; a longer text is refused with `invalidValue`
 */
export function textOf(name: string, value: unknown, lengthMax: number): string | null {
  if (value === null) return null
  if (typeof value !== 'string') return refuseScim('invalidValue', `${name} must be a string.`)
  const text = value.replaceAll(/\p{Cc}+/gu, ' ').trim()
  if (text.length > lengthMax || !text.isWellFormed()) {
    return refuseScim('invalidValue', `${name} must have at most ${lengthMax} characters of Unicode.`)
  }
  return text === '' ? null : text
}

/** A boolean. Microsoft Entra ID sends `"True"` and `"False"` unless a flag is in the address of the tenant. */
export function flagOf(name: string, value: unknown): boolean {
  const text = String(value).toLowerCase()
  if ((typeof value === 'boolean' || typeof value === 'string') && (text === 'true' || text === 'false')) {
    return text === 'true'
  }
  return refuseScim('invalidValue', `${name} must be true or false.`)
}

/** An attribute path such as `emails[type eq "work"].value`, in lower case except its filter. */
export type AttributePath = {
  readonly attribute: string
  readonly filter: string | undefined
  readonly sub: string | undefined
}

const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i
const pathForm = /^([a-z$][\w$-]*)(?:\[([^\]]*)\])?(?:\.([a-z$][\w$-]*))?$/i
const pathLengthMax = 1_000

/** Reads a path. An attribute of another schema has an unknown name, which is ignored wherever it occurs. */
export function readPath(text: unknown): AttributePath {
  if (typeof text !== 'string' || text.length > pathLengthMax) {
    return refuseScim('invalidPath', `A path must be a string of at most ${pathLengthMax} characters.`)
  }
  const plain = text.trim().replace(coreSchema, '')
  if (/^urn:/i.test(plain)) return { attribute: plain.toLowerCase(), filter: undefined, sub: undefined }
  const [, attribute, filter, sub] = pathForm.exec(plain) ?? []
  if (attribute === undefined) return refuseScim('invalidPath', 'The path of an operation cannot be read.')
  return { attribute: attribute.toLowerCase(), filter, sub: sub?.toLowerCase() }
}

/** An operation of PATCH on one attribute. */
export type PatchOperation = {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: AttributePath
  readonly value: unknown
}

const operationsMax = 1_000

/**
 * The operations of a PATCH (RFC 7644, section 3.5.2), one for each attribute. `op` has any case, and without a path
 * the keys of `value` are paths.
 */
export function readPatch(body: unknown): PatchOperation[] {
  const operations = attributesOf(body, 'The body').get('operations')
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax) {
    return refuseScim('invalidSyntax', `Operations must be a list of 1 to ${operationsMax} operations.`)
  }
  return operations.flatMap((one) => {
    const given = attributesOf(one, 'An operation')
    const op = String(given.get('op')).toLowerCase()
    if (op !== 'add' && op !== 'remove' && op !== 'replace') {
      return refuseScim('invalidSyntax', 'op must be add, remove or replace.')
    }
    const [path, value] = [given.get('path') ?? '', given.get('value')]
    if (path !== '') return [{ op, path: readPath(path), value }]
    if (op === 'remove') return refuseScim('noTarget', 'The operation remove needs a path.')
    return [...attributesOf(value, 'The value of an operation without a path')].map(([key, inner]) => ({
      op,
      path: readPath(key),
      value: inner,
    }))
  })
}

const filterLengthMax = 1_000
const comparison = /([\w$:.-]+(?:\[[^\]]*\])?(?:\.\w+)?)\s+eq\s+("(?:[^"\\]|\\.)*")\s*(?:and\s+|$)/iy

/**
 * The values of a filter, by attribute: `userName eq "…"`, and several joined with `and`, which is all that Okta and
 * Microsoft Entra ID send. Anything else is refused with `invalidFilter`.
 * @param known attributes in lower case, and what they are filtered as
 */
export function readFilter<K extends string>(
  text: unknown,
  known: Readonly<Record<string, K>>,
): Partial<Record<K, string>> {
  const found: Partial<Record<K, string>> = {}
  if (text === undefined) return found
  const refuseFilter = () =>
    refuseScim(
      'invalidFilter',
      `Filters compare ${Object.keys(known).join(', ')} with eq and a string, joined with and.`,
    )
  if (typeof text !== 'string' || text.length > filterLengthMax) return refuseFilter()
  comparison.lastIndex = 0
  const given = text.trim()
  while (comparison.lastIndex < given.length) {
    const [, name = '', literal = ''] = comparison.exec(given) ?? []
    const { attribute, sub } = name === '' ? refuseFilter() : readPath(name)
    const key = known[sub === undefined || sub === 'value' ? attribute : '']
    if (key === undefined || !Object.hasOwn(known, attribute) || key in found) return refuseFilter()
    found[key] = stringOf(literal) ?? refuseFilter()
  }
  return Object.keys(found).length > 0 ? found : refuseFilter()
}

/** The text of a JSON string literal that PostgreSQL can store. Undefined if there is no such text. */
export function stringOf(literal: string): string | undefined {
  try {
    const text: unknown = JSON.parse(literal)
    return typeof text === 'string' && text.isWellFormed() && !text.includes('\0') ? text : undefined
  } catch {
    return undefined
  }
}
