import { personIdentifiers } from '@penstock/wire/rules'
import { type ApiDefinition, type ErasureRequest, operationMethods } from './definition.ts'
import { type Names, namesOf, ofAnswer, readFind, readResult } from './read-operation.ts'
import type { Part } from './read-part.ts'
import { readRequest, requestKeys } from './read-request.ts'
import { expressionAt, readRule } from './read-stream-parts.ts'

const always: Names = [['person'], ['id'], ['now']]

/** Reads how an API erases a person, by the kinds of identifiers. */
export function readErasure(part: Part): NonNullable<ApiDefinition['erasure']> {
  const kinds = personIdentifiers.filter((kind) => part.has(kind))
  if (kinds.length === 0) part.wrong(`erasure needs one of: ${personIdentifiers.join(', ')}.`)
  return Object.fromEntries(kinds.map((kind) => [kind, readErasureRequest(part, kind)]))
}

function readErasureRequest(owner: Part, kind: string): ErasureRequest {
  const keys = [...requestKeys, 'method', 'find', 'missing', 'outcome', 'result', 'errors']
  const part = owner.part(kind, keys) ?? owner.wrong(`${kind} must be an object.`, kind)
  const found = part.part('find', [...requestKeys, 'method', 'at', 'where', 'value'])
  const missing = expressionAt(part, 'missing', namesOf(...always, ...ofAnswer))
  const result = readResult(part, always, [])
  if (result.rows || result.taken !== undefined) part.wrong('An erasure has no rows: remove rows and taken.', 'result')
  return {
    ...readRequest(part, namesOf(...always, ...(found ? [['found'] as const] : []))),
    method: part.choice('method', operationMethods) ?? 'POST',
    ...(found && { find: readFind(found, always) }),
    ...(missing === undefined ? {} : { missing }),
    outcome: part.choice('outcome', ['deleted', 'requested'] as const) ?? 'requested',
    result,
    errors: (part.list('errors', 50) ?? []).map((rule, index) => readRule(part, rule, index)),
  }
}
