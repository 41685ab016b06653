import type { Records } from '@penstock/connector'
import { compileExpression } from '@penstock/expressions'
import type { FieldError } from '@penstock/wire'
import { fieldErrorOf, type MappingEntry, readMapping } from './read-mapping.ts'

/** A mapping can have thousands of fields. An answer should not contain thousands of errors. */
const fieldErrorsMax = 100

/**
 * Errors of a mapping that do not depend on the columns of the source.
 * @param records the fields of the destination; absent or empty if it accepts any columns
 */
export function mappingErrors(text: string, records: Records | undefined, path: string): FieldError[] {
  const { mapping = {}, fieldErrors } = readMapping(text, path)
  const recordErrors = Object.entries(mapping).flatMap(([field, entry]) => {
    const message = (records && fieldErrorOf(records, field, entry)) ?? expressionErrorOf(entry)
    return message === undefined ? [] : [{ field: `${path}.${field}`, message }]
  })
  return [...fieldErrors, ...recordErrors].slice(0, fieldErrorsMax)
}

/** Why an expression is invalid for any columns of the source. */
function expressionErrorOf(entry: MappingEntry): string | undefined {
  if (entry === null || typeof entry !== 'object' || !('expression' in entry)) return undefined
  const { wrong } = compileExpression(entry.expression, undefined)
  return wrong && `expression ${wrong}`
}
