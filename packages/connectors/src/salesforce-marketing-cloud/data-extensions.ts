import { ConnectorError, type Discovered, type Values } from '@penstock/connector'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, parseJson, textIn } from '../platform-api/json.ts'
import { type Page, pagesOf } from '../platform-api/polling.ts'
import { asSetting } from './marketing-cloud-api.ts'

const path = '/data/v1/customobjects'
const pageSize = 100

/** Asks for a data extension, whichever it is: whether they are shown at all. */
export const firstOne: PlatformCall = { path, query: { $page: '1', $pagesize: '1' } }

/** A table of Marketing Cloud. */
type DataExtension = { readonly id: string; readonly key: string; readonly name: string }

/** Reads a page of the data extensions whose key or name contains a text, or of all if it is empty. */
export async function readDataExtensions(
  client: PlatformClient,
  text: string,
  page = '1',
): Promise<Page<DataExtension | undefined>> {
  const query = { $search: text || undefined, $page: page, $pagesize: String(pageSize) }
  const items = listIn((await client.askObject({ path, query })).json.items).map(readDataExtension)
  return { items, next: items.length === pageSize ? String(Number(page) + 1) : undefined }
}

/** The data extension whose key or name is exactly this one. Marketing Cloud searches for parts of both. */
async function find(client: PlatformClient, by: 'key' | 'name', text: string): Promise<DataExtension | undefined> {
  for await (const { items } of pagesOf((page) => readDataExtensions(client, text, page))) {
    // Neither is case-sensitive.
    const found = items.find((one) => one?.[by].toLowerCase() === text.toLowerCase())
    if (found) return found
  }
  return undefined
}

/** The same for a key that the connection names. Throws `object_not_found` if it does not exist. */
export async function requireDataExtension(client: PlatformClient, key: string): Promise<DataExtension> {
  const found = await find(client, 'key', key)
  if (found) return found
  const message = 'Marketing Cloud has no data extension with this key in the business unit; check Data extension key.'
  throw new ConnectorError('object_not_found', message)
}

function readDataExtension(value: unknown): DataExtension | undefined {
  if (!isObject(value)) return undefined
  const [id, key, name] = [textIn(value.id), textIn(value.key), textIn(value.name)]
  return id !== undefined && key !== undefined && name !== undefined && /^[\w-]{1,64}$/.test(id)
    ? { id, key, name }
    : undefined
}

/** The columns of a data extension. A column is required if every row needs it. */
export async function columnsOf(client: PlatformClient, key: string): Promise<Discovered[]> {
  const { id } = await requireDataExtension(client, key)
  const { json } = await client.askObject({ path: `${path}/${id}/fields` })
  return listIn(json.fields).flatMap((field): Discovered[] => {
    const { name: value, type, isPrimaryKey, isNullable, defaultValue } = objectIn(field)
    if (typeof value !== 'string') return []
    const key = isPrimaryKey === true
    const required = key || (isNullable === false && textIn(defaultValue) === undefined)
    return [{ value, kind: 'column', ...(textIn(type) && { type: textIn(type) }), key, required }]
  })
}

/**
 * The preparation before the first row: creates, changes or deletes the data extension. Reads the settings immediately, and
 * throws `invalid_setting` if one is missing or wrong.
 * @returns a function that resolves with the key of the data extension that rows go to, or `undefined` if it was deleted
 */
export function preparationOf(settings: Values): (client: PlatformClient) => Promise<string | undefined> {
  const setting = (key: string, label: string): string => {
    const text = textIn(settings[key])?.trim()
    if (text) return text
    throw new ConnectorError('invalid_setting', `${label} is missing; enter it.`)
  }
  const place = () => {
    const [name, folder] = [setting('dataExtensionName', 'Data extension name'), setting('categoryId', 'Category ID')]
    if (/^\d{1,15}$/.test(folder)) return { name, categoryId: Number(folder) }
    throw new ConnectorError('invalid_setting', 'Category ID must be the number of a folder in Marketing Cloud.')
  }
  const { operationType, schemaJson } = settings
  if (operationType === 'Create') {
    const wanted = { ...place(), isSendable: false, fields: readSchema(schemaJson) }
    return async (client) => (await make(client, wanted)).key
  }
  const key = setting('dataExtensionKey', 'Data extension key')
  if (operationType === 'Update') {
    const body = place()
    if (textIn(schemaJson)?.trim()) {
      const message =
        'Update changes the name and the folder; empty Schema JSON, and change columns in Marketing Cloud.'
      throw new ConnectorError('invalid_setting', message)
    }
    return async (client) => {
      const { id } = await requireDataExtension(client, key)
      const advice = asSetting('Check Data extension name and Category ID.')
      await client.ask({ method: 'PATCH', path: `${path}/${id}`, body, repeatable: true, ...advice })
      return key
    }
  }
  if (operationType === 'Delete') {
    return async (client) => {
      const found = await find(client, 'key', key)
      // One that is gone already is no error.
      const expects = ({ status }: { status: number }) => status === 404
      if (found) await client.ask({ method: 'DELETE', path: `${path}/${found.id}`, repeatable: true, expects })
      return undefined
    }
  }
  return async () => key
}

/** Defaults of the properties that Marketing Cloud requires for every column. Schema JSON can override them. */
const columnDefaults = {
  isNullable: true,
  isPrimaryKey: false,
  isTemplateField: false,
  isHidden: false,
  isReadOnly: false,
  isInheritable: false,
  isOverridable: false,
  mustOverride: false,
}

/** The columns of a new data extension. Throws `invalid_setting` if the setting is not a list of columns. */
function readSchema(schemaJson: unknown): JsonObject[] {
  const list = parseJson(String(schemaJson ?? ''))
  const isColumn = (value: unknown): value is JsonObject =>
    isObject(value) && textIn(value.name) !== undefined && textIn(value.type) !== undefined
  if (Array.isArray(list) && list.length > 0 && list.every(isColumn)) {
    return list.map((column, ordinal) => ({ ...columnDefaults, ordinal, ...column }))
  }
  const message =
    'Schema JSON must list the columns of the new data extension: [{"name": "Email", "type": "EmailAddress", "isPrimaryKey": true, "isNullable": false}].'
  throw new ConnectorError('invalid_setting', message)
}

/** Creates a data extension, unless one of that name exists: it may have been created before a crash. */
async function make(client: PlatformClient, body: { readonly name: string }): Promise<DataExtension> {
  const found = await find(client, 'name', body.name)
  if (found) return found
  const advice = asSetting('Check Data extension name, Category ID and Schema JSON.')
  const made = readDataExtension((await client.askObject({ method: 'POST', path, body, ...advice })).json)
  if (made) return made
  throw new ConnectorError('malformed_response', 'Marketing Cloud did not return the ID of the new data extension.')
}
