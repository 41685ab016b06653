import { ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, parseJson, textIn } from '../platform-api/json.ts'
import { pagesOf } from '../platform-api/polling.ts'

const path = '/data/v1/customobjects'
const pageSize = 100

/** A table of Marketing Cloud. */
export type DataExtension = { readonly id: string; readonly key: string; readonly name: string }

/** The data extension whose key or name is exactly this one. Marketing Cloud searches for parts of both. */
export async function findDataExtension(
  marketingCloud: PlatformClient,
  by: 'key' | 'name',
  text: string,
): Promise<DataExtension | undefined> {
  const readPage = async (page = '1') => {
    const query = { $search: text, $page: page, $pagesize: String(pageSize) }
    const { json } = await marketingCloud.askObject({ path, query })
    const items = listIn(json.items)
    return { items, next: items.length === pageSize ? String(Number(page) + 1) : undefined }
  }
  for await (const { items } of pagesOf(readPage)) {
    // Neither is case-sensitive.
    const found = items.map(readDataExtension).find((one) => one?.[by].toLowerCase() === text.toLowerCase())
    if (found) return found
  }
  return undefined
}

/** The same for a key that the connection names: throws `object_not_found` where there is none. */
export async function requireDataExtension(marketingCloud: PlatformClient, key: string): Promise<DataExtension> {
  const found = await findDataExtension(marketingCloud, 'key', key)
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

/** What is said of every column unless Schema JSON says it. Marketing Cloud asks for all of it. */
const columnDefaults = {
  ...{ isNullable: true, isPrimaryKey: false, isTemplateField: false, isHidden: false },
  ...{ isReadOnly: false, isInheritable: false, isOverridable: false, mustOverride: false },
}

/** The columns of a new data extension. Throws `invalid_setting` where they are no such list. */
export function readSchema(schemaJson: unknown): JsonObject[] {
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

/** Makes a data extension, unless there is one of that name: it may have been made before a crash. */
export async function makeDataExtension(
  marketingCloud: PlatformClient,
  { name, categoryId, fields }: { name: string; categoryId: number; fields: readonly JsonObject[] },
): Promise<DataExtension> {
  const found = await findDataExtension(marketingCloud, 'name', name)
  if (found) return found
  const body = { name, categoryId, isSendable: false, fields }
  const { json } = await asSetting(
    marketingCloud.askObject({ method: 'POST', path, body }),
    'Marketing Cloud did not create the data extension; check Data extension name, Category ID and Schema JSON.',
  )
  const made = readDataExtension(json)
  if (made) return made
  throw new ConnectorError('malformed_response', 'Marketing Cloud did not return the ID of the new data extension.')
}

/** Gives a data extension another name or folder. */
export async function changeDataExtension(
  marketingCloud: PlatformClient,
  { id }: DataExtension,
  body: { name: string; categoryId: number },
): Promise<void> {
  await asSetting(
    marketingCloud.ask({ method: 'PATCH', path: `${path}/${id}`, body, repeatable: true }),
    'Marketing Cloud did not change the data extension; check Data extension name and Category ID.',
  )
}

/** Deletes a data extension with all its rows; one that is gone already is no error. */
export async function deleteDataExtension(marketingCloud: PlatformClient, key: string): Promise<void> {
  const found = await findDataExtension(marketingCloud, 'key', key)
  if (!found) return
  await marketingCloud.ask({
    method: 'DELETE',
    path: `${path}/${found.id}`,
    repeatable: true,
    expects: ({ status }) => status === 404,
  })
}

/** The columns of a data extension: what each is called, and whether every row needs it. */
export async function columnsOf(
  marketingCloud: PlatformClient,
  { id }: DataExtension,
): Promise<{ name: string; required: boolean }[]> {
  const { json } = await marketingCloud.askObject({ path: `${path}/${id}/fields` })
  return listIn(json.fields).flatMap((field) => {
    if (!isObject(field)) return []
    const { name, isPrimaryKey, isNullable, defaultValue } = field
    const required = isPrimaryKey === true || (isNullable === false && textIn(defaultValue) === undefined)
    return typeof name === 'string' ? [{ name, required }] : []
  })
}

/** What is refused here is not a row, but what the settings say. */
async function asSetting<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.code !== 'invalid_batch') throw error
    throw new ConnectorError('invalid_setting', message)
  }
}
