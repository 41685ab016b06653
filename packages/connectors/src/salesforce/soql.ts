import { ConnectorError } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import type { ChangeTime } from '../platform-api/range.ts'
import { conditionsOf, readSelect } from '../platform-api/select-statement.ts'
import { fieldNamed, namePattern, type ObjectDescription, type ObjectField, whyUnread } from './objects.ts'

/** A query, and the columns of its result. */
export type Soql = { readonly text: string; readonly columns: readonly string[] }

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_setting', message)

/** A query of one's own, with the object that it reads. @param changed the same query, for records that changed then */
export type OwnSoql = Soql & { readonly object: string; readonly changed: (of: ChangedBy) => Soql }

/** Clauses that follow the conditions of a query. */
const laterClauses =
  /\b(?:with|order\s+by|limit|offset|for\s+(?:view|reference|update)|update\s+(?:tracking|viewstat)|all\s+rows)\b/i

/** Reads a query of one's own. Throws `invalid_setting` if it is no SELECT that Bulk API 2.0 could run. */
export function readQuery(setting: unknown): OwnSoql {
  const statement = readSelect(setting, 'SOQL query')
  const { text, plain, list, from: object } = statement
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
  return {
    text,
    columns,
    object,
    changed(of) {
      const { before, where, after } = conditionsOf(statement, laterClauses)
      if (/\b(?:limit|offset)\b/i.test(after)) {
        throw invalid('Remove LIMIT and OFFSET from the SOQL query: they would leave out changed records.')
      }
      const parts = [
        `SELECT ${list} FROM ${object}`,
        before,
        `WHERE ${conditionOf(of)}${where && ` AND (${where})`}`,
        after,
      ]
      return { text: parts.filter(Boolean).join(' '), columns }
    },
  }
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

/** The names in the setting “Fields”. */
export const fieldNamesIn = (setting: unknown): readonly string[] =>
  (textIn(setting) ?? '').split(/[,\s]+/).filter((name) => name !== '')

/**
 * The fields that the settings name, or all of the object. Throws `invalid_setting` for one that cannot be read.
 * @param related fields of related objects, by their paths in lower case
 */
export function fieldsOf(
  object: ObjectDescription,
  setting: unknown,
  related: ReadonlyMap<string, ObjectField> = new Map(),
): ChosenFields {
  const names = fieldNamesIn(setting)
  if (names.length === 0) {
    const unread = object.fields.filter((field) => whyUnread(field) !== undefined)
    return { read: object.fields.filter((field) => whyUnread(field) === undefined), unread }
  }
  const read = names.map((name) => {
    const field = related.get(name.toLowerCase()) ?? fieldNamed(object, name)
    if (!field) throw invalid(`${object.name} has no field ${named(name)} that the user may see; check “Fields”.`)
    const why = whyUnread(field)
    if (why !== undefined) throw invalid(`${field.name} is ${why}; leave it out of “Fields”.`)
    return field
  })
  return { read: [...new Set(read)], unread: [] }
}

const named = (name: string): string =>
  name.split('.').every((part) => namePattern.test(part)) ? name : 'of this name'

/**
 * The query of fields. @param changed reads only records that changed in that time, together with the field that contains the
 * time of change
 */
export function queryOf(object: ObjectDescription, { read }: ChosenFields, changed: ChangedBy | undefined): Soql {
  const columns = read.map(({ name }) => name)
  const where = changed ? ` WHERE ${conditionOf(changed)}` : ''
  return { text: `SELECT ${columns.join(', ')} FROM ${object.name}${where}`, columns }
}

/** When records changed, and the field that contains that time. */
export type ChangedBy = ChangeTime & { readonly field: string }

function conditionOf({ field, fromMs, beforeMs }: ChangedBy): string {
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
 * The field that contains the time of the last change, including changes by Salesforce itself. Throws `invalid_setting` if
 * there is no such field.
 * @param advice what to do in that case
 */
export function changeFieldOf(object: ObjectDescription, advice: string): string {
  const names = ['SystemModstamp', 'LastModifiedDate', 'CreatedDate']
  const found = names.find((name) => fieldNamed(object, name) !== undefined)
  if (found !== undefined) return found
  throw invalid(`${object.name} does not say when its records change; ${advice}.`)
}
