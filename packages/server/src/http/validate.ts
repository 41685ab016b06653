import { type FieldError, limits, type Operation, type TSchema } from '@penstock/wire'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { excerpt } from './excerpt.ts'

/**
 * Checks a request against the contract. Finds all errors in query and body together, up to the number that a refusal lists.
 * Bodies are strict: unknown fields and wrong types are errors. Query parameters are texts, which are converted to their types.
 * Unknown parameters are ignored.
 */
export type Input = { query: Record<string, unknown>; body: unknown }
export type Validator = (input: Input) => FieldError[]

const options = {
  allErrors: true,
  verbose: true,
  strict: true,
  strictTypes: false,
  unicodeRegExp: true,
  // It marks secrets and demands nothing.
  formats: { password: true },
} as const
const bodies = new Ajv(options)
const queries = new Ajv({ ...options, useDefaults: true })

/**
 * The check of one operation, compiled when it is first needed. Coerced values and defaults are written into `query`.
 */
export function compileValidator(operation: Operation): Validator {
  const schema = operation.body
  const parameters = Object.entries(operation.query ?? {})
  let query: ValidateFunction | undefined
  let body: ValidateFunction | undefined
  return (input) => {
    query ??= queries.compile(querySchemaOf(operation))
    if (schema) body ??= bodies.compile(schema)
    coerce(parameters, input.query)
    const fieldErrors: FieldError[] = []
    addErrors(fieldErrors, query, input.query, 'query')
    if (operation.exactlyOne) fieldErrors.push(...errorsOfChoice(operation.exactlyOne, input.query))
    if (schema && body) addErrors(fieldErrors, body, excerpt(schema, input.body), 'body')
    else addErrorsOfNoBody(fieldErrors, input.body)
    // Only what has the right shape is walked for text: its depth is bounded by the schema.
    if (fieldErrors.length > 0) return fieldErrors
    if (!isStorable(input.query)) addErrorsOfText(fieldErrors, input.query, 'query')
    if (!isStorable(input.body)) addErrorsOfText(fieldErrors, input.body, 'body')
    return fieldErrors
  }
}

/** The schema of the query of an operation: the same object each time, so that it is compiled once. */
function querySchemaOf(operation: Operation): object {
  const schema = querySchemas.get(operation) ?? {
    type: 'object',
    properties: { accountId: { type: 'string' }, ...operation.query },
  }
  querySchemas.set(operation, schema)
  return schema
}

const querySchemas = new Map<Operation, object>()

/** Replaces the text of each query parameter with its typed value. A text that cannot be converted stays, and is an error. */
function coerce(parameters: readonly [string, TSchema][], query: Record<string, unknown>): void {
  for (const [name, schema] of parameters) {
    const text = query[name]
    if (typeof text !== 'string' || !('type' in schema)) continue
    if (schema.type === 'integer' && /^-?\d{1,15}$/.test(text)) query[name] = Number(text)
    if (schema.type === 'boolean' && /^(true|false)$/.test(text)) query[name] = text === 'true'
  }
}

function addErrors(all: FieldError[], validate: ValidateFunction, value: unknown, part: string): void {
  if (value === undefined) return void all.push({ field: part, message: 'is missing: send a JSON object' })
  if (validate(value)) return
  const fieldErrors = new Map<string, FieldError>()
  const said = new Set<string>()
  for (const error of validate.errors ?? []) {
    const fieldError = errorOf(error, part)
    // A union reports each branch. One sentence per field is enough.
    if (fieldError && !fieldErrors.has(fieldError.field))
      fieldErrors.set(fieldError.field, onceInFull(fieldError, said))
    if (fieldErrors.size === limits.fieldErrorsMax) break
  }
  all.push(...fieldErrors.values())
}

const longMessage = 120

/** A long message is given once: a list of a hundred unknown values does not repeat the known ones for each. */
function onceInFull(fieldError: FieldError, said: Set<string>): FieldError {
  const { field, message } = fieldError
  if (message.length <= longMessage || !said.has(message)) {
    said.add(message)
    return fieldError
  }
  return { field, message: 'is wrong for the same reason' }
}

function errorOf(error: ErrorObject, part: string): FieldError | undefined {
  const at = (path: string) => `${part}${path.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}`
  const field = at(error.instancePath)
  const description: string | undefined = error.parentSchema?.description
  switch (error.keyword) {
    case 'required':
      return { field: `${field}.${error.params.missingProperty}`, message: 'is missing' }
    case 'additionalProperties': {
      const known = Object.keys(error.parentSchema?.properties ?? {})
      const message = known.length > 0 ? `is unknown. Known fields: ${known.join(', ')}` : 'is not the name of a field'
      return { field: `${field}.${error.params.additionalProperty}`, message }
    }
    case 'pattern':
      return { field, message: description ? `is invalid. ${description}` : 'is invalid' }
    case 'enum':
      return { field, message: `must be one of: ${error.params.allowedValues.join(', ')}` }
    case 'minProperties':
      return {
        field,
        message: `needs at least one of: ${Object.keys(error.parentSchema?.properties ?? {}).join(', ')}`,
      }
    case 'type':
      return { field, message: `must be ${[error.params.type].flat().join(' or ')}` }
    case 'anyOf':
      return { field, message: 'must be text, a number, true, false, a list of texts, or null' }
    default:
      return { field, message: error.message ?? 'is not valid' }
  }
}

function errorsOfChoice(names: readonly string[], query: Record<string, unknown>): FieldError[] {
  const given = names.filter((name) => query[name] !== undefined)
  if (given.length === 1) return []
  const message = `give exactly one of ${names.join(' and ')}`
  return (given.length === 0 ? names : given).map((name) => ({ field: `query.${name}`, message }))
}

/** An operation without a body accepts no body, or the empty object that some clients always send. */
function addErrorsOfNoBody(all: FieldError[], body: unknown): void {
  const empty = body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0)
  if (!empty) all.push({ field: 'body', message: 'must be empty: this operation takes no body' })
}

/** Whether all text in a value can be stored. If it cannot, `addErrorsOfText` reports the problem. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  for (const key in value) if (!isStorable(key) || !isStorable((value as Record<string, unknown>)[key])) return false
  return true
}

/** PostgreSQL holds neither NUL nor half of a surrogate pair, and no one means them. */
function addErrorsOfText(fieldErrors: FieldError[], value: unknown, field: string): void {
  if (typeof value === 'string') {
    if (value.isWellFormed() && !value.includes('\0')) return
    fieldErrors.push({ field, message: 'must not hold NUL characters or unpaired surrogates' })
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      addErrorsOfText(fieldErrors, key, field)
      addErrorsOfText(fieldErrors, inner, `${field}.${key}`)
    }
  }
}
