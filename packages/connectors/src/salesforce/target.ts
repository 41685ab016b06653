import { ConnectorError, type Finding, type Values } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import type { JobKind } from './ingest-jobs.ts'
import { describeObject, fieldNamed, type ObjectDescription, type ObjectField } from './objects.ts'
import { referenceNamed } from './related-fields.ts'
import { keyIndexOf, type RowRules, sentColumns } from './rows.ts'

/** The object that rows go to, and how its records are identified. */
export type SalesforceTarget = {
  readonly kind: JobKind
  readonly columns: readonly string[]
  /** Index of the key among the columns. */
  readonly key: number | undefined
  /** The form of a key in which equal ones are the same text. */
  readonly identityOf: (key: string) => string
}

/** Looks the object up. Throws `columns_do_not_fit`, `permission_denied` and `invalid_setting` for what no row could change. */
export async function openTarget(
  client: PlatformClient,
  settings: Values,
  rules: RowRules,
  columns: readonly string[],
): Promise<SalesforceTarget> {
  const object = await describeObject(client, settings)
  const field = judgeObject(object, rules)
  const [first] = judgeColumns(object, rules, columns)
  if (first) {
    const message = first.column === undefined ? first.message : `${first.column}: ${first.message}`
    throw new ConnectorError('columns_do_not_fit', message)
  }
  const { operation } = rules
  return {
    kind: {
      object: object.name,
      operation,
      ...(operation === 'upsert' && field && { externalIdFieldName: field.name }),
    },
    columns: sentColumns(rules, columns),
    key: keyIndexOf(rules, sentColumns(rules, columns)),
    identityOf: identityBy(field),
  }
}

/** IDs have 15 characters, optionally with 3 more. Other keys ignore the letter case unless the field is case-sensitive. */
const identityBy = (field: ObjectField | undefined) => (key: string) => {
  const text = key.trim()
  if (field === undefined || field.caseSensitive) return text
  return field.name === 'Id' ? text.slice(0, 15) : text.toLowerCase()
}

/**
 * The field that finds records. Throws an error if the user is not allowed to do that with the object, or if records cannot be
 * found by the field.
 */
export function judgeObject(object: ObjectDescription, { operation, key }: RowRules): ObjectField | undefined {
  const may = {
    insert: object.inserts,
    update: object.updates,
    upsert: object.inserts && object.updates,
    delete: object.deletes,
  }[operation]
  if (!may) {
    const message = `The user may not ${operation} records of ${object.name}; give the user the permission in Salesforce, or choose another operation.`
    throw new ConnectorError('permission_denied', message)
  }
  if (key === undefined) return undefined
  const field = fieldNamed(object, key)
  if (field && (field.identifies || field.name === 'Id')) return field
  const message = field
    ? `${field.name} is no External ID of ${object.name}; choose a field that is one, or make it one in Salesforce.`
    : `${object.name} has no field ${key} that the user may see; check “External ID field”.`
  throw new ConnectorError('invalid_setting', message)
}

/** The columns that cannot be sent. */
export function judgeColumns(object: ObjectDescription, rules: RowRules, columns: readonly string[]): Finding[] {
  const code = 'columns_do_not_fit' as const
  if (rules.key !== undefined && keyIndexOf(rules, columns) === undefined) {
    return [{ code, message: `No column is mapped to ${rules.key}, by which Salesforce finds records; map one to it.` }]
  }
  const seen = new Set<string>()
  return sentColumns(rules, columns).flatMap((column): Finding[] => {
    const twice = seen.has(column.toLowerCase())
    seen.add(column.toLowerCase())
    const message = twice ? 'The field is mapped twice; map it once.' : errorOfColumn(object, rules, column)
    return message === undefined ? [] : [{ code, message, column }]
  })
}

function errorOfColumn(object: ObjectDescription, { operation, key }: RowRules, column: string): string | undefined {
  if (column.toLowerCase() === key?.toLowerCase()) return undefined
  if (column.includes('.')) {
    const { type, reference } = referenceIn(object, column)
    if (!reference) return `${object.name} has no relationship of this name; check the mapping.`
    const { refersTo } = reference
    const isOne = type === undefined ? refersTo.length < 2 : refersTo.some((one) => sameName(one, type))
    return isOne
      ? undefined
      : `${reference.name} refers to records of ${refersTo.slice(0, 5).join(', ')}; name one of them before the relationship, such as ${refersTo[0]}:${reference.relationship}.Email.`
  }
  const field = fieldNamed(object, column)
  if (!field) return `${object.name} has no field of this name that the user may see; rename or leave out the column.`
  const can = { insert: field.creates, update: field.updates, upsert: field.creates || field.updates, delete: true }
  if (can[operation] && field.type !== 'base64') return undefined
  return 'The user may not write the field, or it is calculated; leave out the column.'
}

const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/**
 * The reference that a column fills by an External ID of the record that it refers to: `Account.Customer_Key__c`. If it
 * can refer to several objects, the column names one of them: `User:Owner.Email`.
 */
function referenceIn(object: ObjectDescription, column: string) {
  const [, type, relationship] = /^(?:(\w+):)?(\w+)\.\w+$/.exec(column) ?? []
  return { type, reference: relationship === undefined ? undefined : referenceNamed(object, relationship) }
}

/** The fields that a new record needs and that no column fills. */
export const missingFields = (
  object: ObjectDescription,
  { operation }: RowRules,
  columns: readonly string[],
): Finding[] =>
  operation !== 'insert' && operation !== 'upsert'
    ? []
    : object.fields
        .filter(({ required, name }) => required && !columns.some((one) => one.toLowerCase() === name.toLowerCase()))
        .filter(({ name }) => !columns.some((one) => referenceIn(object, one).reference?.name === name))
        .map(({ name }) => ({
          code: 'required_column_not_delivered' as const,
          message: `New records of ${object.name} need a value for ${name}; map a column to it.`,
        }))
