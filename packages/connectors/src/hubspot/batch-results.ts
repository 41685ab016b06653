import { ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, objectIn, parseJson, textIn } from '../platform-api/json.ts'

/** A row as it is sent: the value by which HubSpot finds the record, and its new properties. */
export type HubspotRecord = {
  readonly index: number
  readonly id: string
  readonly properties: Readonly<Record<string, string>>
  /** The values by which the row names records to associate it with. */
  readonly associated: readonly string[]
}

/** The result of a request: each of its records is in one of the three. */
export type Accounted = {
  /** The IDs of the records that it has now. */
  readonly taken: ReadonlyMap<HubspotRecord, string>
  readonly blamed: readonly { readonly item: HubspotRecord; readonly reason: string; readonly field?: string }[]
  /** Records that it neither has nor blames: nothing is known of them. */
  readonly unnamed: readonly HubspotRecord[]
  /** The codes of errors that name no record. */
  readonly codes: string
}

/** Values are compared as HubSpot does, which knows no letter case in them. */
export const keyOf = (value: string): string => value.trim().toLowerCase()

/** The mark of a record within its request, which HubSpot repeats. */
export const traceOf = ({ index }: HubspotRecord): string => `r${index}`

/**
 * Reads the answer to a batch, which can have the status 200 and contain errors, or neither results nor errors. The results are
 * not in the order of the request. A result is recognised by the mark that was sent, by its ID, or by the value of the
 * property. Throws `malformed_response` if the answer has no results at all, and an error to retry if HubSpot was busy.
 * @param aliases further properties whose values, separated by semicolons, name a record
 * @param columns the names that can be shown, since other names could be anything
 */
export function accountOf(
  { json }: Answer,
  sent: readonly HubspotRecord[],
  idProperty: string,
  columns: readonly string[],
  aliases: readonly string[] = [],
): Accounted {
  const { results, errors } = objectIn(json)
  if (!Array.isArray(results) && !Array.isArray(errors)) {
    throw new ConnectorError('malformed_response', 'HubSpot answered without the results of the records.')
  }
  const names = new Map(sent.flatMap((item) => [[traceOf(item), item] as const, [keyOf(item.id), item] as const]))
  const taken = new Map<HubspotRecord, string>()
  for (const result of listIn(results).filter(isObject)) {
    const { id, objectWriteTraceId, properties } = result
    const values = objectIn(properties)
    const own = [objectWriteTraceId, values[idProperty], ...(idProperty === 'hs_object_id' ? [id] : [])]
    const others = aliases.flatMap((name) => (textIn(values[name]) ?? '').split(';'))
    const item = [...own, ...others].map((name) => names.get(keyOf(textIn(name) ?? ''))).find((found) => found)
    const record = textIn(id)
    if (item && record !== undefined && /^\d{1,20}$/.test(record)) taken.set(item, record)
  }
  const blamed = new Map<HubspotRecord, { reason: string; field?: string }>()
  const codes = new Set<string>()
  for (const error of listIn(errors).map(objectIn)) {
    const details = detailsOf(error, columns)
    assertFinal(details.codes)
    const items = namedIn(error, idProperty).flatMap((name) => names.get(keyOf(name)) ?? [])
    for (const item of items) if (!taken.has(item) && !blamed.has(item)) blamed.set(item, refusalOf(details))
    if (items.length === 0) for (const code of details.codes) codes.add(code)
  }
  return {
    taken,
    blamed: [...blamed].map(([item, why]) => ({ item, ...why })),
    unnamed: sent.filter((item) => !taken.has(item) && !blamed.has(item)),
    codes: [...codes].slice(0, 3).join(', '),
  }
}

/** The records that an error names: by mark, ID or value, in its context or in the context of its details. */
function namedIn(error: JsonObject, idProperty: string): string[] {
  const contexts = [error, ...listIn(error.errors).map(objectIn)].map(({ context }) => objectIn(context))
  const keys = ['objectWriteTraceId', 'objectWriteTraceIds', 'ids', 'id', idProperty]
  return contexts.flatMap((context) =>
    keys.flatMap((key) => [Object.hasOwn(context, key) ? context[key] : []].flat().flatMap((one) => textIn(one) ?? [])),
  )
}

type Details = { readonly codes: readonly string[]; readonly field: string | undefined }

const codeForm = /^[A-Z][A-Z0-9_.]{2,60}$/

/**
 * HubSpot's codes in an error, and the column that it is about: the category, and the JSON after `Property values were not
 * valid:`. Its sentences are omitted, since they quote values.
 */
export function detailsOf(error: unknown, columns: readonly string[]): Details {
  const { category, subCategory, message, errors, context } = objectIn(error)
  const quoted = listIn(parseJson(/\[\s*\{.*\}\s*\]/s.exec(textIn(message) ?? '')?.[0] ?? '')).map(objectIn)
  const inner = [...listIn(errors).map(objectIn), ...quoted]
  const said = [category, subCategory, ...inner.flatMap(({ code, error, subCategory }) => [code, error, subCategory])]
  const codes = said.flatMap((one) => textIn(one) ?? []).filter((code) => codeForm.test(code))
  const contexts = [context, ...inner.map((one) => one.context)].map(objectIn)
  const properties = [
    ...inner.map(({ name }) => name),
    ...contexts.flatMap(({ propertyName }) => [propertyName].flat()),
  ]
  return {
    codes: [...new Set(codes)].slice(0, 3),
    field: properties.flatMap((one) => textIn(one) ?? []).find((name) => columns.includes(name)),
  }
}

/** Why HubSpot does not take a record, as a sentence, and the column to blame if HubSpot names it. */
export function refusalOf({ codes, field }: Details): { readonly reason: string; readonly field?: string } {
  const shown = codes.length === 0 ? '' : ` (${codes.join(', ')})`
  const about =
    field === undefined ? 'the values of the row and the rules of its properties' : `the value of “${field}”`
  return { reason: `HubSpot does not accept the row${shown}; check ${about}.`, ...(field !== undefined && { field }) }
}

function assertFinal(codes: readonly string[]): void {
  const busy = codes.find((code) => /^(RATE_LIMIT|INTERNAL|SERVICE_|TIMEOUT|GATEWAY)/.test(code))
  if (busy === undefined) return
  if (busy.startsWith('RATE')) {
    throw new ConnectorError('rate_limited', `HubSpot limits how often records may be written (${busy}).`)
  }
  throw new ConnectorError('platform_error', `HubSpot has an internal error with some records (${busy}).`)
}
