import { type Cell, ConnectorError, type Values } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { cursorIn } from '../platform-api/next-page.ts'
import { paths } from './api.ts'
import { objectTypeOf } from './settings.ts'

/** Records that HubSpot is asked about in one request. */
const requestMax = 1_000
const typesMax = 5
/** A record has more associations than this only if pages lead back to themselves. */
const pagesMax = 1_000

/** The column with the associations to records of a type. */
export const associationColumn = (type: string): string => `associated_${type}`

/** The types of records whose associations the settings ask for, each once. Throws `invalid_setting`. */
export function associatedTypesIn({ readAssociations }: Values): readonly string[] {
  const names = (textIn(readAssociations) ?? '').split(/[\s,;]+/).filter(Boolean)
  const types = [...new Set(names.map((objectType) => objectTypeOf({ objectType })))]
  if (types.length <= typesMax) return types
  throw new ConnectorError('invalid_setting', `Choose at most ${typesMax} object types in “Associations”.`)
}

/** Cells by the IDs of records, and the size of the answers. */
export type ReadAssociations = { readonly cells: ReadonlyMap<string, readonly Cell[]>; readonly bytes: number }

/**
 * The associations of records: for each type of other records, a list as JSON of their IDs and the labels of the association, or
 * null. Throws `malformed_response`, and `platform_error` if HubSpot does not answer for a record.
 */
export async function readAssociationsOf(
  client: PlatformClient,
  from: string,
  types: readonly string[],
  ids: readonly string[],
): Promise<ReadAssociations> {
  let bytes = 0
  const byType: ReadonlyMap<string, readonly JsonObject[]>[] = []
  for (const to of types) {
    const found = new Map<string, JsonObject[]>()
    let inputs: readonly JsonObject[] = ids.map((id) => ({ id }))
    for (let pages = 0; inputs.length > 0; pages++) {
      if (pages > pagesMax) throw malformed('a list that does not end')
      const [asked, left] = [inputs.slice(0, requestMax), inputs.slice(requestMax)]
      const path = paths.associationsRead(from, to)
      const { json, text } = await client.askObject({
        method: 'POST',
        path,
        body: { inputs: asked },
        repeatable: true,
      })
      bytes += Buffer.byteLength(text)
      inputs = [...left, ...pageOf(json, found)]
    }
    byType.push(found)
  }
  const cellOf = (list: readonly JsonObject[] = []) => (list.length === 0 ? null : JSON.stringify(list))
  return { cells: new Map(ids.map((id) => [id, byType.map((found) => cellOf(found.get(id)))])), bytes }
}

/** Adds the associations of an answer, and returns what to ask for next: records with more of them. */
function pageOf({ results, errors }: JsonObject, found: Map<string, JsonObject[]>): readonly JsonObject[] {
  if (!Array.isArray(results) || !results.every(isObject)) throw malformed('something else')
  const failed = listIn(errors).map(objectIn)
  // A record without associations is named as an error.
  if (failed.some(({ subCategory }) => subCategory !== 'crm.associations.NO_ASSOCIATIONS_FOUND')) {
    throw new ConnectorError('platform_error', 'HubSpot did not return the associations of all records.')
  }
  return results.flatMap(({ from, to, paging }) => {
    const id = textIn(objectIn(from).id)
    if (id === undefined) throw malformed('associations without the ID of a record')
    const list = found.get(id) ?? []
    list.push(...listIn(to).map(associationOf))
    found.set(id, list)
    const { next } = objectIn(paging)
    return next === undefined || next === null
      ? []
      : [{ id, after: cursorIn(textIn(objectIn(next).after) ?? '', 'HubSpot') }]
  })
}

function associationOf(value: unknown): JsonObject {
  const { toObjectId, associationTypes } = objectIn(value)
  const id = textIn(toObjectId)
  if (id === undefined) throw malformed('an association without an ID')
  const labels = listIn(associationTypes).flatMap((type) => textIn(objectIn(type).label) ?? [])
  return { id, labels }
}

const malformed = (what: string) =>
  new ConnectorError('malformed_response', `HubSpot answered a request for associations with ${what}.`)
