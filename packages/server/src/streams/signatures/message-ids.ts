import { createHash } from 'node:crypto'
import { type SchemeFacts, type SignatureScheme, signatureSchemes } from '@penstock/connectors'
import { formOf, headerOf, jsonOf, type SignedRequest } from './signed-request.ts'
import { isList } from './signed-text.ts'

/** A longer ID is replaced by its digest. */
const charactersMax = 200

/** The ID of a message: from its header, or from the event if the body is a single one. */
export function messageIdOf({ id, place }: SchemeFacts, request: SignedRequest): string | undefined {
  if (id === undefined) return undefined
  if ('header' in id) return bounded(headerOf(request, id.header))
  if (isList(request.body)) return undefined
  return idIn(id.members, jsonOf(request, 'member' in place) ?? Object.fromEntries(formOf(request) ?? []))
}

/**
 * The ID of one event, for a body that is a JSON list of events. `undefined` if the sender gives its events no ID.
 * @param event an element of the list, parsed
 */
export function eventIdOf(scheme: SignatureScheme, event: unknown): string | undefined {
  const { id } = signatureSchemes[scheme] as SchemeFacts
  return id && 'members' in id ? idIn(id.members, event) : undefined
}

/** The first list of paths with a value for each path. */
function idIn(lists: readonly (readonly string[])[], event: unknown): string | undefined {
  for (const paths of lists) {
    const parts = paths.flatMap((path) => partAt(event, path.split('.')) ?? [])
    if (parts.length === paths.length) return bounded(parts.join('/'))
  }
  return undefined
}

/** The value at a path. A list on the way must have exactly one element: of several, no one is the ID of the message. */
function partAt(value: unknown, path: readonly string[]): string | undefined {
  const single = Array.isArray(value) && value.length === 1 ? value[0] : value
  const [name, ...rest] = path
  if (name !== undefined) {
    if (typeof single !== 'object' || single === null || !Object.hasOwn(single, name)) return undefined
    return partAt(Reflect.get(single, name), rest)
  }
  // An integer above 2^53 is not exact: two events could have the same one.
  if (typeof single === 'number') return Number.isSafeInteger(single) ? String(single) : undefined
  return typeof single === 'string' && single !== '' ? single : undefined
}

function bounded(id: string | undefined): string | undefined {
  return id !== undefined && id.length > charactersMax ? createHash('sha256').update(id).digest('hex') : id
}
