import { ConnectorError } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import type { ChangeTime } from '../platform-api/range.ts'
import { readSelect } from '../platform-api/select-statement.ts'
import { fieldNamed, namePattern, type ObjectDescription, type ObjectField, whyUnread } from './objects.ts'

/** A query, and the columns of its result. */
export type Soql = { readonly text: string; readonly columns: readonly string[] }

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_setting', message)

/** A query of one's own, with the object that it reads. Throws `invalid_setting` if it is no SELECT that Bulk API 2.0 could run. */
export function readQuery(setting: unknown): Soql & { readonly object: string } {
  const { text, plain, list, from: object } = readSelect(setting, 'SOQL query')
  if (/\(\s*select\b/i.test(list) || /\btypeof\b/i.test(list)) {
    throw invalid(
      'Bulk API 2.0 runs no query with a subquery or TYPEOF in its SELECT list; read the related object with another connection.',
    )
  }
  if (/\bgroup\s+by\b/i.test(plain) || /\b(?:count|count_distinct|sum|avg|min|max|fields)\s*\(/i.test(list)) {
    throw invalid('Bulk API 2.0 runs no query with aggregates, GROUP BY or FIELDS(); name the fields.')
  }
  const columns = list.split(',').map(columnOf)
  const twice = columns.find((name, at) => columns.findIndex((one) => one.toLowerCase() === name.toLowerCase()) !== at)
  if (twice !== undefined) throw invalid(`The SOQL query selects ${twice} twice; select it once.`)
  return { text, columns, object }
}

/** The column of an expression: its alias, or the field as it is written. */
function columnOf(expression: string): string {
  const text = expression.trim()
  const [, field, alias] = /^([\w.]+(?:\s*\(\s*[\w.]+\s*\))?)(?:\s+(\w+))?$/.exec(text) ?? []
  if (field === undefined) throw invalid('The SELECT list must consist of fields that are separated by commas.')
  return alias ?? field.replace(/\s/g, '')
}

/** Fields to read, and the fields that Bulk API 2.0 does not give out. */
export type ChosenFields = { readonly read: readonly ObjectField[]; readonly unread: readonly ObjectField[] }

/** The fields that the settings name, or all of the object. Throws `invalid_setting` for one that cannot be read. */
export function fieldsOf(object: ObjectDescription, setting: unknown): ChosenFields {
  const names = (textIn(setting) ?? '')
    .split(/[,\s]+/)
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) {
    const unread = object.fields.filter((field) => whyUnread(field) !== undefined)
    return { read: object.fields.filter((field) => whyUnread(field) === undefined), unread }
  }
  const read = names.map((name) => {
    const field = fieldNamed(object, name)
    if (!field) throw invalid(`${object.name} has no field ${named(name)} that the user may see; check “Fields”.`)
    const why = whyUnread(field)
    if (why !== undefined) throw invalid(`${field.name} is ${why}; leave it out of “Fields”.`)
    return field
  })
  return { read: [...new Set(read)], unread: [] }
}

const named = (name: string): string => (namePattern.test(name) ? name : 'of this name')

/** The query of fields. @param changed reads only records that changed then; with the field that says when a record changed */
export function queryOf(
  object: ObjectDescription,
  { read }: ChosenFields,
  changed: (ChangeTime & { readonly field: string }) | undefined,
): Soql {
  const columns = read.map(({ name }) => name)
  const where = changed ? ` WHERE ${conditionOf(changed)}` : ''
  return { text: `SELECT ${columns.join(', ')} FROM ${object.name}${where}`, columns }
}

function conditionOf({ field, fromMs, beforeMs }: ChangeTime & { readonly field: string }): string {
  const time = (ms: number) => new Date(ms).toISOString()
  const from = `${field} >= ${time(fromMs)}`
  return beforeMs === undefined ? from : `${from} AND ${field} < ${time(beforeMs)}`
}

/** The same query for a few rows. */
export const limited = ({ text, columns }: Soql, rows: number): Soql =>
  /\b(?:limit|offset|for|all\s+rows|update)\b/i.test(text.replace(/'(?:[^'\\]|\\.)*'/gs, ''))
    ? { text, columns }
    : { text: `${text} LIMIT ${rows}`, columns }

/**
 * The field that says when a record was last changed, also by Salesforce itself. Throws `invalid_setting` if there is none.
 * @param advice what to do then
 */
export function changeFieldOf(object: ObjectDescription, advice: string): string {
  const names = ['SystemModstamp', 'LastModifiedDate', 'CreatedDate']
  const found = names.find((name) => fieldNamed(object, name) !== undefined)
  if (found !== undefined) return found
  throw invalid(`${object.name} does not say when its records change; ${advice}.`)
}
