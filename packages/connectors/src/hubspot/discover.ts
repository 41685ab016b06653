import { asConnectorError, type Discovered, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { discovered } from '../kit/run/discover.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import { paths } from './api.ts'
import { readLabels } from './association-labels.ts'
import { listed, type Property, readProperties } from './properties.ts'
import { idPropertyOf, objectTypeOf, ownerFields, owners, recordId, standardObjects } from './settings.ts'
import { openHubSpot } from './sign-in.ts'

/** Object types: the standard types, and the account's custom types if the token has access to them. */
export async function discoverObjects(context: DiscoveryContext): Promise<DiscoveredPage> {
  const standard = Object.keys(standardObjects).map((value): Discovered => ({ value, kind: 'object' }))
  return pageOfAll([...standard, ...(await customObjects(await openHubSpot(context)))], context)
}

/** The same, and the owners of records. */
export async function discoverReadable(context: DiscoveryContext): Promise<DiscoveredPage> {
  const standard = [...Object.keys(standardObjects), owners].map((value): Discovered => ({ value, kind: 'object' }))
  return pageOfAll([...standard, ...(await customObjects(await openHubSpot(context)))], context)
}

async function customObjects(client: PlatformClient): Promise<Discovered[]> {
  try {
    const { json } = await client.askObject({ path: paths.schemas })
    return listIn(json.results).flatMap((value): Discovered[] => {
      const { objectTypeId, name, labels, archived } = objectIn(value)
      const id = textIn(objectTypeId) ?? ''
      const label = textIn(objectIn(labels).plural) ?? textIn(name)
      return /^2-\d{1,15}$/.test(id) && archived !== true
        ? [{ value: id, kind: 'object', ...(label && { label }) }]
        : []
    })
  } catch (error) {
    // Custom objects belong to a subscription and have a separate scope.
    if (asConnectorError(error)?.code === 'permission_denied') return []
    throw error
  }
}

const propertiesFor = async (context: DiscoveryContext): Promise<readonly Property[]> => {
  const type = objectTypeOf(context.settings)
  return (await readProperties(await openHubSpot(context), type)).properties
}

/** Properties that can be read. */
export async function discoverProperties(context: DiscoveryContext): Promise<DiscoveredPage> {
  if (objectTypeOf(context.settings) === owners) {
    return pageOfAll(
      ownerFields.map((value): Discovered => ({ value, kind: 'column' })),
      context,
    )
  }
  return pageOfAll(listed(await propertiesFor(context)), context)
}

/** Properties that can be written, with that by which records are found. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const id = idPropertyOf(context.settings)
  const properties = await propertiesFor(context)
  return pageOfAll(
    listed(
      properties.filter(({ name, readOnly }) => name === id || !readOnly),
      id,
    ),
    context,
  )
}

/** Properties by which a record can be found. */
export async function discoverIdProperties(context: DiscoveryContext): Promise<DiscoveredPage> {
  const unique = (await propertiesFor(context)).filter(({ unique }) => unique)
  const own: Discovered = { value: recordId, label: 'Record ID', kind: 'column' }
  return pageOfAll([...listed(unique), own], context)
}

/** Labels that associations between the two object types of the settings can have. Empty without a second object type. */
export async function discoverLabels(context: DiscoveryContext): Promise<DiscoveredPage> {
  const other = textIn(context.settings.associateWith)?.trim() ?? ''
  if (other === '') return pageOfAll([], context)
  const [from, to] = [objectTypeOf(context.settings), objectTypeOf({ objectType: other })]
  const labels = await readLabels(await openHubSpot(context), from, to)
  return pageOfAll(
    [...new Set(labels.map(({ label }) => label))].map((value) => ({ value, kind: 'object' })),
    context,
  )
}

const pageSize = 100

/** Lists whose members can be set. */
export async function discoverLists(context: DiscoveryContext): Promise<DiscoveredPage> {
  const client = await openHubSpot(context)
  const about = { kind: 'audience', id: /^\d{1,15}$/, cursor: /^\d{1,9}$/ } as const
  return discovered(context, about, async (cursor = '0') => {
    const body = { offset: Number(cursor), count: pageSize, processingTypes: ['MANUAL', 'SNAPSHOT'] }
    const { json } = await client.askObject({ method: 'POST', path: `${paths.lists}/search`, body, repeatable: true })
    const items = listIn(json.lists).map((value) => {
      const { listId, name } = objectIn(value)
      return { id: textIn(listId), name: textIn(name) }
    })
    const next = numberIn(json.offset) ?? Number(cursor) + items.length
    if (json.hasMore !== true) return { items, next: undefined }
    if (Number.isInteger(next) && next > Number(cursor)) return { items, next: String(next) }
    throw unusableNext('HubSpot', 'its offset is not behind that of this page')
  })
}
