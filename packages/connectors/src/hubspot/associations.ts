import { ConnectorError, type Rejection, type Values } from '@penstock/connector'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import type { Refusals } from '../platform-api/rows/refusals.ts'
import { paths } from './api.ts'
import type { AssociationType } from './association-labels.ts'
import { accountOf, detailsOf, type HubspotRecord, keyOf } from './batch-results.ts'
import { objectTypeOf, propertyOf, recordId } from './settings.ts'

/** The records that the rows' records are associated with, according to the settings. */
export type Association = {
  /** The type of the other records. */
  readonly type: string
  /** The property by which they are found. */
  readonly idProperty: string
  /** The column with its values, several of them separated by semicolons. It is no property of the records of the rows. */
  readonly column: string
  /** The names of the labels that the associations get. Without labels, HubSpot's default associations are created. */
  readonly labels: readonly string[]
}

/**
 * The association of the settings. `undefined` if it is not set, or if records are only removed from a list. Throws
 * `invalid_setting` if it is incomplete or not valid.
 */
export function associationOf(settings: Values): Association | undefined {
  const { operation, associateWith, associatedProperty, associationColumn, associationLabels } = settings
  if (operation === 'removeFromList' || (textIn(associateWith)?.trim() ?? '') === '') return undefined
  const column = textIn(associationColumn)?.trim() ?? ''
  if (column === '') {
    const message = 'Set “Association column” to the column with the values of the other records.'
    throw new ConnectorError('invalid_setting', message)
  }
  return {
    type: objectTypeOf({ objectType: associateWith ?? '' }),
    idProperty: propertyOf(associatedProperty) ?? recordId,
    column,
    labels: itemsIn(associationLabels),
  }
}

/** The items of a text, separated by semicolons, each once. */
export const itemsIn = (value: unknown): string[] => {
  const items = (textIn(value) ?? '').split(';').map((item) => item.trim())
  return [...new Set(items.filter(Boolean))]
}

const requestMax = 100

/** A record of a row, and one that it is associated with, both by their IDs. */
type Pair = { readonly index: number; readonly from: string; readonly to: string }

/**
 * Associates records with the records in the column. Repeating it makes no difference. A row is rejected if a record that it
 * names does not exist, or if HubSpot does not confirm an association. Its own record is stored even then.
 * @param types the types of the association's labels; without types, HubSpot's default associations are created
 * @param records with their IDs in HubSpot
 */
export async function associate(
  client: PlatformClient,
  fromType: string,
  { type, idProperty, column }: Association,
  types: readonly AssociationType[],
  records: ReadonlyMap<HubspotRecord, string>,
  refusals: Refusals,
): Promise<{ readonly bytes: number; readonly rejected: readonly Rejection[] }> {
  const named = [...new Set([...records.keys()].flatMap(({ associated }) => associated))]
  const ids = new Map<string, string>()
  let bytes = 0
  for (const values of parts(named)) bytes += await findIds(client, type, idProperty, values, ids)
  const rejected = new Map<number, Rejection>()
  const pairs: Pair[] = []
  for (const [{ index, associated }, from] of records) {
    for (const value of associated) {
      const to = ids.get(keyOf(value))
      if (to !== undefined) pairs.push({ index, from, to })
      else rejected.set(index, { index, reason: unknownRecord(idProperty), field: column })
    }
  }
  const path = paths.associations(fromType, type, types.length > 0)
  for (const request of parts(pairs)) {
    const sent = await sendInHalves(request, refusals, (some) => send(client, path, types, some))
    bytes += sent.bytes
    for (const one of sent.rejected) {
      if (one.index !== undefined && !rejected.has(one.index)) rejected.set(one.index, { ...one, field: column })
    }
  }
  return { bytes, rejected: [...rejected.values()] }
}

const unknownRecord = (idProperty: string): string =>
  `The record was stored, but HubSpot has no record with this value of “${idProperty}” to associate it with.`

function* parts<Item>(all: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < all.length; from += requestMax) yield all.slice(from, from + requestMax)
}

/** Finds the IDs of records by the values of a property, and puts them in a map. @returns the size of the request, in bytes */
async function findIds(
  client: PlatformClient,
  type: string,
  idProperty: string,
  values: readonly string[],
  ids: Map<string, string>,
): Promise<number> {
  if (idProperty === recordId) {
    for (const value of values) if (/^\d{1,20}$/.test(value)) ids.set(keyOf(value), value)
    return 0
  }
  const wanted = values.map((id, index): HubspotRecord => ({ index, id, properties: {}, associated: [] }))
  const body = { idProperty, properties: [idProperty], inputs: values.map((id) => ({ id })) }
  const answer = await client.ask({ method: 'POST', path: `${paths.objects(type)}/batch/read`, body, repeatable: true })
  for (const [{ id }, found] of accountOf(answer, wanted, idProperty, []).taken) ids.set(keyOf(id), found)
  return answer.bytesSent
}

const isRefusal = ({ status }: Answer): boolean => status === 400 || status === 404

/** Sends associations. If HubSpot names some neither as made nor as refused, these are sent once more. */
async function send(
  client: PlatformClient,
  path: string,
  types: readonly AssociationType[],
  pairs: readonly Pair[],
): Promise<Taken<Pair>> {
  const blamed: { item: Pair; reason: string }[] = []
  let bytes = 0
  let left = pairs
  let codes = ''
  for (let times = 0; times < 2 && left.length > 0; times++) {
    const inputs = left.map(({ from, to }) => ({
      from: { id: from },
      to: { id: to },
      ...(types.length > 0 && { types }),
    }))
    const answer = await client.ask({ method: 'POST', path, body: { inputs }, expects: isRefusal, repeatable: true })
    bytes += answer.bytesSent
    const { json } = answer
    if (!isSuccess(answer)) return { bytes, blamed, refused: reasonOf(detailsOf(json, []).codes.join(', ')) }
    const { results, errors } = objectIn(json)
    if (!Array.isArray(results) && !Array.isArray(errors)) {
      throw new ConnectorError('malformed_response', 'HubSpot answered without the associations that were made.')
    }
    const made = new Set(listIn(results).filter(isObject).flatMap(pairsIn))
    left = left.filter(({ from, to }) => !made.has(`${from} ${to}`))
    for (const error of listIn(errors).filter(isObject)) {
      codes = detailsOf(error, []).codes.join(', ')
      const named = new Set(idsIn(error))
      const items = left.filter(({ from, to }) => named.has(from) || named.has(to))
      blamed.push(...items.map((item) => ({ item, reason: reasonOf(codes) })))
      left = left.filter((item) => !items.includes(item))
    }
  }
  return { bytes, blamed: [...blamed, ...left.map((item) => ({ item, reason: reasonOf(codes) }))] }
}

const reasonOf = (codes: string): string =>
  `The record was stored, but HubSpot did not associate it${codes && ` (${codes})`}; check that the other record exists, and that HubSpot allows another such association of the two.`

/** HubSpot lists an association in one direction, in the other, or in both. Labelled associations have other names. */
function pairsIn({ from, to, fromObjectId, toObjectId }: JsonObject): string[] {
  const [a, b] = [textIn(fromObjectId ?? objectIn(from).id), textIn(toObjectId ?? objectIn(to).id)]
  return [`${a} ${b}`, `${b} ${a}`]
}

/** All numbers that the context of an error names. */
const idsIn = (error: JsonObject): string[] =>
  [error, ...listIn(error.errors).map(objectIn)]
    .flatMap(({ context }) => Object.values(objectIn(context)).flat())
    .flatMap((value) => textIn(value) ?? [])
    .filter((value) => /^\d{1,20}$/.test(value))
