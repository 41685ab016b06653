import { ConnectorError, type Values } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'

/** A field of an object, as far as it matters here. */
export type ObjectField = {
  readonly name: string
  readonly label: string
  /** In the words of Salesforce: `string`, `picklist`, `datetime`. */
  readonly type: string
  readonly creates: boolean
  readonly updates: boolean
  /** Whether an upsert can find records by it. */
  readonly identifies: boolean
  readonly caseSensitive: boolean
  /** Whether a new record needs a value for it. */
  readonly required: boolean
  /** The name by which records behind a reference are addressed: `Account`. */
  readonly relationship: string | undefined
  /** The objects that a reference can lead to. */
  readonly refersTo: readonly string[]
}

/** An object of the organization, as the user sees it. */
export type ObjectDescription = {
  readonly name: string
  readonly label: string
  readonly reads: boolean
  readonly inserts: boolean
  readonly updates: boolean
  readonly deletes: boolean
  readonly fields: readonly ObjectField[]
}

/** Names of objects and fields, which become parts of addresses and queries. */
export const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,79}$/

/** An answer that describes an object with 800 fields and long picklists has some megabytes. */
const bytesMax = 64 << 20

/** All objects that the user sees. */
export async function listObjects(client: PlatformClient): Promise<readonly Omit<ObjectDescription, 'fields'>[]> {
  const { json } = await client.askObject({ path: '/sobjects', bytesMax })
  return listIn(json.sobjects).flatMap((one) => objectOf(one) ?? [])
}

/** The object that the settings name. Throws `invalid_setting` if they name no object, and `object_not_found`. */
export async function describeObject(client: PlatformClient, settings: Values): Promise<ObjectDescription> {
  return await describe(client, objectNameIn(settings))
}

/** The name of the object in the settings. Throws `invalid_setting` if it is missing. */
export function objectNameIn(settings: Values): string {
  const name = textIn(settings.objectName)?.trim() ?? ''
  if (namePattern.test(name)) return name
  const message = 'Set “Object” to the API name of an object, such as Contact or Order_Line__c.'
  throw new ConnectorError('invalid_setting', message)
}

/** An object by its API name. Throws `object_not_found` if the user cannot see it. */
export async function describe(client: PlatformClient, name: string): Promise<ObjectDescription> {
  const { json } = await client.askObject({ path: `/sobjects/${name}/describe`, bytesMax })
  const object = objectOf(json)
  const fields = listIn(json.fields).flatMap((one) => fieldOf(one) ?? [])
  if (object && fields.length > 0) return { ...object, fields }
  throw new ConnectorError('malformed_response', `Salesforce did not describe the object ${name}.`)
}

/** A field by its name, in any letter case, as Salesforce has it. */
export const fieldNamed = ({ fields }: ObjectDescription, name: string): ObjectField | undefined =>
  fields.find((field) => field.name.toLowerCase() === name.trim().toLowerCase())

function objectOf(value: unknown): Omit<ObjectDescription, 'fields'> | undefined {
  if (!isObject(value)) return undefined
  const name = textIn(value.name) ?? ''
  if (!namePattern.test(name)) return undefined
  return {
    name,
    label: textIn(value.label) ?? name,
    reads: value.queryable === true,
    inserts: value.createable === true,
    updates: value.updateable === true,
    deletes: value.deletable === true,
  }
}

function fieldOf(value: unknown): ObjectField | undefined {
  const field = objectIn(value)
  const name = textIn(field.name) ?? ''
  const type = textIn(field.type) ?? ''
  if (!namePattern.test(name) || !/^\w{1,40}$/.test(type)) return undefined
  const creates = field.createable === true
  return {
    name,
    label: textIn(field.label) ?? name,
    type,
    creates,
    updates: field.updateable === true,
    identifies: field.externalId === true || field.idLookup === true,
    caseSensitive: field.caseSensitive === true,
    // A checkbox that is not filled is not ticked.
    required: creates && field.nillable === false && field.defaultedOnCreate !== true && type !== 'boolean',
    relationship: textIn(field.relationshipName),
    refersTo: listIn(field.referenceTo)
      .map(String)
      .filter((one) => namePattern.test(one)),
  }
}

const unread: Readonly<Record<string, string>> = {
  address: 'a compound field, whose parts are fields of their own',
  location: 'a compound field, whose parts are fields of their own',
  base64: 'a file, which Bulk API 2.0 does not give out',
}

/** Why Bulk API 2.0 does not read a field. `undefined` if it does. */
export const whyUnread = ({ type }: ObjectField): string | undefined =>
  Object.hasOwn(unread, type) ? unread[type] : undefined
