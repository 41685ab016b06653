import { createHash } from 'node:crypto'
import {
  type Connector,
  type Ecapi,
  type EcapiColumn,
  type EcapiField,
  ecapiFieldOf,
  ecapiFields,
  ecapiFormOf,
  ecapiLossOf,
  notAccepted,
  type RecordField,
  type Records,
  takesEcapiDigest,
} from '@penstock/connector'
import type { AppliedTemplate } from './apply-template.ts'
import { foldName } from './column-names.ts'
import { matchColumns } from './match-columns.ts'
import type { Mapping, MappingEntry } from './read-mapping.ts'

/** The mapping that follows from the standard ECAPI, if the source has its fields and the destination states its columns. */

/** Something of the source that does not reach the destination. */
export type Loss = {
  /** Column of the source. */
  readonly column: string
  /** In a sentence for users. */
  readonly message: string
}
export type AppliedEcapi = AppliedTemplate & { readonly losses: readonly Loss[] }

/** Where the source has a field: in a column of its own, or in a JSON column. */
type Place = { readonly column: string; readonly paths: readonly string[] }

/** Other names of parts of a path. The standard itself uses both. */
const otherNames: Readonly<Record<string, string>> = {
  email_address: 'email_addresses',
  address: 'addresses',
  customer_segments: 'customer_segment',
}
const fields = Object.keys(ecapiFields) as EcapiField[]
/** Fields that the source must have, so that its rows are events. */
const needed: readonly EcapiField[] = ['event_type', 'timestamp']

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
/** ECAPI hashes words, and its example the first letter. Platforms hash the first letter. */
const genders: Readonly<Record<string, string>> = Object.fromEntries(
  ['f', 'm', 'n'].flatMap((letter) => {
    const words = { f: ['female'], m: ['male'], n: ['non-binary', 'nonbinary', 'other'] }[letter] ?? []
    return [letter, ...words].map((word) => [sha256(word), letter])
  }),
)

/**
 * Maps the columns of a source that are named as the fields of ECAPI: by their paths, by the last part of a path, or as JSON in a
 * column that is named as the beginning of a path. Never fails.
 * @param names the columns of the source
 * @returns also what is lost; `undefined` if the destination states no columns
 */
export function applyEcapi({ name, destination }: Connector, names: readonly string[]): AppliedEcapi | undefined {
  const { ecapi, records = {} } = destination ?? {}
  if (!ecapi) return undefined
  const found = placesIn(names)
  const entries = Object.entries(ecapi.columns).flatMap(([column, how]): [string, MappingEntry][] => {
    const field = ecapiFieldOf(how)
    const place = found.get(field)
    if (place) return [[column, entryOf(how, place, found, records[column])]]
    return needed.includes(field) ? [[column, null]] : []
  })
  const mapping: Mapping = Object.fromEntries(entries)
  const columns = Object.entries(ecapi.columns).flatMap(([field, how]) => {
    const templateColumn = ecapiFieldOf(how)
    const column = found.get(templateColumn)?.column ?? null
    return column === null && !needed.includes(templateColumn)
      ? []
      : [{ field, templateColumn, column, candidates: [] }]
  })
  const missing = columns.flatMap(({ field, templateColumn, column }) =>
    column === null
      ? [{ field, message: `the template maps ${JSON.stringify(templateColumn)}, which this source does not have` }]
      : [],
  )
  const lacking = Object.entries(records).flatMap(([field, { required }]) =>
    required && !Object.hasOwn(ecapi.columns, field)
      ? [{ field, message: `${name} needs ${field}, which ECAPI does not have` }]
      : [],
  )
  return {
    mapping: { ...emptied(records, names, mapping), ...mapping },
    columns,
    findings: [...missing, ...lacking],
    losses: lossesOf(name, ecapi, records, names, found),
  }
}

/** Columns that a transfer would fill by their names with other values than the standard has, such as `user_data`. */
function emptied(records: Records, names: readonly string[], mapping: Mapping): Mapping {
  const filled = matchColumns(records, names, mapping).filter(
    ({ field, byDefault, column }) => !Object.hasOwn(mapping, field) && (byDefault ?? column) !== undefined,
  )
  return Object.fromEntries(filled.map(({ field }) => [field, null]))
}

/** The places of the fields in a source. */
function placesIn(names: readonly string[]): ReadonlyMap<EcapiField, Place> {
  const byName = Map.groupBy(names, foldName)
  const columnOf = (wanted: string): string | undefined => {
    const alike = byName.get(foldName(wanted)) ?? []
    return alike.find((name) => name === wanted) ?? (alike.length === 1 ? alike[0] : undefined)
  }
  return new Map(
    fields.flatMap((field): [EcapiField, Place][] => {
      const own = spellingsOf(field).map(columnOf).find(Boolean)
      const place = own === undefined ? inJson(field, columnOf) : { column: own, paths: [] }
      const last = field.split('.').at(-1) ?? ''
      const plain = place ? undefined : spellingsOf(last).map(columnOf).find(Boolean)
      if (place) return [[field, place]]
      return plain === undefined ? [] : [[field, { column: plain, paths: [] }]]
    }),
  )
}

/** The field inside the JSON of a column that is named as the beginning of its path. */
function inJson(field: EcapiField, columnOf: (name: string) => string | undefined): Place | undefined {
  const parts = field.split('.')
  for (let at = parts.length - 1; at > 0; at--) {
    const column = spellingsOf(parts.slice(0, at).join('.')).map(columnOf).find(Boolean)
    if (column === undefined) continue
    const rest = spellingsOf(parts.slice(at).join('.')).map((path) => path.replace(/(address(?:es)?)\./, '$1.0.'))
    const last = isFirstSent(field) ? '.0' : ''
    return { column, paths: rest.map((path) => `${parts[at - 1] === 'address' ? '0.' : ''}${path}${last}`) }
  }
  return undefined
}

/** A path with the names of the standard, and with its other names. */
const spellingsOf = (path: string): string[] => {
  const other = path
    .split('.')
    .map((part) => (Object.hasOwn(otherNames, part) ? otherNames[part] : part))
    .join('.')
  return other === path ? [path] : [path, other]
}

const quoted = (text: string): string => JSON.stringify(text)

/** Whether only the first value of a list is sent. */
const isFirstSent = (field: EcapiField): boolean => Boolean(ecapiFormOf(field).several && ecapiFormOf(field).digest)

/** The value of a field as an expression. */
function expressionOf(field: EcapiField, { column, paths }: Place): string {
  const cell = `row[${quoted(column)}]`
  if (paths.length > 0) {
    const values = paths.map((path) => `json(${cell}, ${quoted(path)})`)
    const value = values.length === 1 ? (values[0] ?? '') : `coalesce(${values.join(', ')})`
    return field === 'properties.items' || ecapiFormOf(field).several ? `string(${value})` : value
  }
  return isFirstSent(field) ? `startsWith(${cell}, "[") ? json(${cell}, "0") : ${cell}` : cell
}

function entryOf(
  how: EcapiColumn,
  place: Place,
  found: ReadonlyMap<EcapiField, Place>,
  record: RecordField | undefined,
): MappingEntry {
  const field = ecapiFieldOf(how)
  if (typeof how !== 'string' && 'fixed' in how) return { value: how.fixed }
  const value = expressionOf(field, place)
  if (typeof how !== 'string') {
    const { values, others } = how
    const custom = field === 'event_type' && others === undefined ? found.get('custom_event') : undefined
    const isTable = place.paths.length === 0 && others === undefined && !custom
    if (isTable && Object.keys(values).length === 0) return place.column
    if (isTable) return { column: place.column, values: values as Readonly<Record<string, string>> }
    const other = others === undefined ? value : quoted(others ?? '')
    const name = `lookup(${value}, ${JSON.stringify(values)}, ${other})`
    if (!custom) return { expression: name }
    return { expression: `lower(${value}) == "custom" ? ${expressionOf('custom_event', custom)} : ${name}` }
  }
  if (field === 'user_data.gender') return { expression: `lookup(${value}, ${JSON.stringify(genders)}, ${value})` }
  if (ecapiFormOf(field).digest && record && !takesEcapiDigest(field, record)) {
    return { expression: `size(${bracketed(value)}) == 64 ? "" : ${bracketed(value)}` }
  }
  return value === `row[${quoted(place.column)}]` ? place.column : { expression: value }
}

const bracketed = (value: string): string => (value.includes(' ? ') ? `(${value})` : value)

function lossesOf(
  name: string,
  ecapi: Ecapi,
  records: Records,
  names: readonly string[],
  found: ReadonlyMap<EcapiField, Place>,
): Loss[] {
  const lost = fields.flatMap((field) => {
    const place = found.get(field)
    const message = place && ecapiLossOf(name, ecapi, records, field, expressionOf(field, place))
    return place && message !== undefined ? [{ field, place, message }] : []
  })
  const own = lost.flatMap(({ place: { column, paths }, message }) => (paths.length === 0 ? [{ column, message }] : []))
  // The keys of a JSON column are not known.
  const inJsonColumns = names.flatMap((column): Loss[] => {
    const of = lost.filter(({ place }) => place.paths.length > 0 && place.column === column)
    const usual = of.filter(({ message }) => message === notAccepted(name)).map(({ field }) => field)
    const said = of.filter(({ message }) => message !== notAccepted(name))
    return [
      ...said.map(({ field, message }) => ({ column, message: `${field}: ${message}` })),
      ...(usual.length > 0 ? [{ column, message: `${name} does not accept ${usual.join(', ')}.` }] : []),
    ]
  })
  return [...own, ...inJsonColumns]
}
