import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import {
  describe,
  describeObject,
  listObjects,
  type ObjectDescription,
  type ObjectField,
  whyUnread,
} from './objects.ts'
import { referenceNamed } from './related-fields.ts'
import { openSalesforce } from './salesforce-api.ts'
import { readQuery } from './soql.ts'

const named = (value: string, label: string, kind: Discovered['kind']): Discovered => ({
  value,
  kind,
  ...(label !== value && { label }),
})

/** Objects that the user can read. */
export async function discoverReadable(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { client } = await openSalesforce(context)
  const objects = (await listObjects(client)).filter(({ reads }) => reads)
  return pageOfAll(
    objects.map(({ name, label }) => named(name, label, 'table')),
    context,
  )
}

/** Objects that the user can change. */
export async function discoverWritable(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { client } = await openSalesforce(context)
  const objects = (await listObjects(client)).filter(({ inserts, updates, deletes }) => inserts || updates || deletes)
  return pageOfAll(
    objects.map(({ name, label }) => named(name, label, 'table')),
    context,
  )
}

/** Fields that a query of the object can read, or the columns of the SOQL query. A search such as `Account.` lists fields of a related object. */
export async function discoverFields(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { client } = await openSalesforce(context)
  if (context.settings.dataSourceType === 'SOQL Query') {
    const { object, columns } = readQuery(context.settings.soqlQuery)
    const { fields } = await describe(client, object)
    const typeOf = (column: string) => fields.find(({ name }) => name.toLowerCase() === column.toLowerCase())?.type
    return pageOfAll(
      columns.map((value) => ({ value, kind: 'column', type: typeOf(value) })),
      context,
    )
  }
  const object = await describeObject(client, context.settings)
  const [, relationship] = /^(\w+)\./.exec(context.search) ?? []
  const reference = relationship === undefined ? undefined : referenceNamed(object, relationship)
  const [target, ...others] = reference?.refersTo ?? []
  const readable = ({ fields }: ObjectDescription) => fields.filter((field) => whyUnread(field) === undefined)
  if (target === undefined || others.length > 0) return pageOfAll(readable(object).map(columnOf), context)
  const related = readable(await describe(client, target))
  return pageOfAll(
    related.map((field) => columnOf({ ...field, name: `${reference?.relationship}.${field.name}` })),
    context,
  )
}

/** Fields by which an upsert can find records. */
export async function discoverExternalIds(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { client } = await openSalesforce(context)
  const { fields } = await describeObject(client, context.settings)
  return pageOfAll(fields.filter(({ identifies, name }) => identifies || name === 'Id').map(columnOf), context)
}

/** Fields that the operation writes, and the field that finds records. */
export async function discoverTargetFields(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { client } = await openSalesforce(context)
  const { operation, externalIdField } = context.settings
  const { fields } = await describeObject(client, context.settings)
  const key = operation === 'Upsert' ? String(externalIdField ?? '').toLowerCase() : operation === 'Insert' ? '' : 'id'
  const columns = fields.flatMap((field): Discovered[] => {
    const isKey = field.name.toLowerCase() === key
    const writes = { Insert: field.creates, Update: field.updates, Delete: false }[String(operation)]
    if (!isKey && !(writes ?? (field.creates || field.updates))) return []
    return [{ ...columnOf(field), key: isKey, required: isKey || (field.required && operation === 'Insert') }]
  })
  return pageOfAll(columns, context)
}

const columnOf = ({ name, label, type }: ObjectField): Discovered => ({ ...named(name, label, 'column'), type })
