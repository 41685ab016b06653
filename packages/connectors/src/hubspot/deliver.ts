import {
  asConnectorError,
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Rejection,
  type Values,
} from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { paths } from './api.ts'
import { type AssociationType, typesOfLabels } from './association-labels.ts'
import { type Association, associate, associationOf, itemsIn } from './associations.ts'
import { type HubspotRecord, keyOf } from './batch-results.ts'
import { changeMembers } from './members.ts'
import { readProperties } from './properties.ts'
import { findRecords, type RecordTarget, writeRecords } from './records.ts'
import { idPropertyOf, listIdOf, objectTypeOf, recordId, standardObjects } from './settings.ts'
import { openHubSpot } from './sign-in.ts'

/** The change that a transfer makes to the records of its rows. */
type Operation = 'upsert' | 'addToList' | 'removeFromList'

const operationOf = ({ operation }: Values): Operation =>
  operation === 'addToList' || operation === 'removeFromList' ? operation : 'upsert'

/**
 * Writes rows as records of one object type, and adds them to a static list, or removes records from one. Repeating a batch
 * changes nothing more: records are found by a unique property, and a list contains a record once.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, columns } = context
  const client = await openHubSpot(context)
  const operation = operationOf(settings)
  const association = associationOf(settings)
  const target: RecordTarget = { client, type: objectTypeOf(settings), idProperty: idPropertyOf(settings), columns }
  const listId = operation === 'upsert' ? undefined : listIdOf(settings)
  const refusals = new Refusals('HubSpot')
  if (association && !columns.includes(association.column)) throw noColumn(association.column)
  if (!columns.includes(target.idProperty)) throw misfit(`No column is mapped to “${target.idProperty}”.`)
  let fits: Promise<readonly AssociationType[]> | undefined

  return {
    async deliver(batch) {
      const { records, rejected } = readRows(batch, settings)
      let bytes = 0
      if (records.length === 0) return { bytes, rejected }
      // An unknown property makes HubSpot refuse whole requests, so it is looked for before the first one.
      fits ??= assertFits(client, context)
      const types = await fits.catch((error: unknown) => {
        fits = undefined
        throw error
      })
      for (const request of requestsOf(records)) {
        const written =
          operation === 'removeFromList'
            ? await findRecords(target, request)
            : await writeRecords(target, request, refusals)
        bytes += written.bytes
        rejected.push(...written.rejected)
        const unassociated = new Set<number | undefined>()
        if (association) {
          const done = await associate(client, target.type, association, types, written.taken, refusals)
          bytes += done.bytes
          rejected.push(...done.rejected)
          for (const { index } of done.rejected) unassociated.add(index)
        }
        if (listId === undefined) continue
        const changed = await changeMembers(client, listId, operation === 'addToList' ? 'add' : 'remove', written.taken)
        bytes += changed.bytes
        rejected.push(...changed.rejected.filter(({ index }) => !unassociated.has(index)))
      }
      return { bytes, rejected }
    },
  }
}

const misfit = (message: string) => new ConnectorError('columns_do_not_fit', `${message} Correct the mapping.`)

const noColumn = (column: string) => misfit(`No column is mapped to “${column}”, which names the associated records.`)

/** The rows of a batch as records, and the rejections of the others. */
export function readRows(
  { columns, rows }: Batch,
  settings: Values,
): { records: HubspotRecord[]; rejected: Rejection[] } {
  const idProperty = idPropertyOf(settings)
  const clears = settings.emptyCells === 'clear'
  const at = columns.indexOf(idProperty)
  const associationAt = columns.indexOf(associationOf(settings)?.column ?? '')
  const rejected: Rejection[] = []
  const records = rows.flatMap((cells, index): HubspotRecord[] => {
    const id = String(cells[at] ?? '').trim()
    const numeric = idProperty !== recordId || /^\d{1,20}$/.test(id)
    if (id === '' || !numeric) {
      const reason = id === '' ? `The row has no value in “${idProperty}”.` : 'The ID of the record is not a number.'
      rejected.push({ index, reason, field: idProperty })
      return []
    }
    const filled = columns.flatMap((column, place): [string, string][] => {
      const cell = cells[place] ?? ''
      return place === at || place === associationAt || (cell === '' && !clears) ? [] : [[column, String(cell)]]
    })
    const associated = itemsIn(String(cells[associationAt] ?? ''))
    return [{ index, id, properties: Object.fromEntries(filled), associated }]
  })
  return { records, rejected }
}

const requestMax = 100

/** Requests in the order of the rows. HubSpot refuses a request that has a record twice, so the second one is in a later request. */
function requestsOf(records: readonly HubspotRecord[]): HubspotRecord[][] {
  const requests: HubspotRecord[][] = []
  let request: HubspotRecord[] = []
  let keys = new Set<string>()
  for (const record of records) {
    const key = keyOf(record.id)
    if (request.length === 0 || request.length === requestMax || keys.has(key)) {
      request = []
      keys = new Set()
      requests.push(request)
    }
    request.push(record)
    keys.add(key)
  }
  return requests
}

/** Resolves with the types of associations to make. Throws the first finding. */
async function assertFits(client: PlatformClient, context: DestinationContext): Promise<readonly AssociationType[]> {
  const [finding] = await findingsOf(client, context)
  if (finding) throw new ConnectorError(finding.code as 'columns_do_not_fit', finding.message)
  return typesOf(client, context.settings)
}

async function typesOf(client: PlatformClient, settings: Values): Promise<readonly AssociationType[]> {
  const { type, labels } = associationOf(settings) ?? { type: '', labels: [] }
  return labels.length === 0 ? [] : typesOfLabels(client, objectTypeOf(settings), type, labels)
}

/** Whether HubSpot has the properties that are sent, can find records by the property in the settings, and has the list. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  return findingsOf(await openHubSpot(context), context)
}

async function findingsOf(
  client: PlatformClient,
  { settings, columns }: Pick<InspectionContext, 'settings' | 'columns'>,
): Promise<readonly Finding[]> {
  const [type, idProperty, operation] = [objectTypeOf(settings), idPropertyOf(settings), operationOf(settings)]
  const { properties } = await readProperties(client, type)
  const there = new Map(properties.map((property) => [property.name, property]))
  const code = 'columns_do_not_fit' as const
  const findings: Finding[] = []
  if (idProperty !== recordId && there.get(idProperty)?.unique !== true) {
    const message = `Records cannot be found by “${idProperty}”: choose a property whose values are unique, or make one in HubSpot.`
    findings.push({ code: 'invalid_setting', message })
  }
  if (!columns.includes(idProperty)) {
    findings.push({ code, message: `No column is mapped to “${idProperty}”; map the one that has its values.` })
  }
  const association = associationOf(settings)
  if (association) findings.push(...(await findingsOfAssociation(client, association, settings, columns)))
  // Other columns are not sent if records are only removed from a list.
  for (const column of operation === 'removeFromList' ? [] : columns) {
    const property = there.get(column)
    if (column === idProperty || column === association?.column || (property && !property.readOnly)) continue
    const message = property
      ? `HubSpot sets the property “${column}” alone; leave out the column.`
      : `The object type has no property “${column}”; rename or leave out the column, or make the property in HubSpot.`
    findings.push({ code, message, column })
  }
  if (operation !== 'upsert') findings.push(...(await findingsOfList(client, type, listIdOf(settings))))
  return findings
}

async function findingsOfAssociation(
  client: PlatformClient,
  { type, idProperty, column }: Association,
  settings: Values,
  columns: readonly string[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  await typesOf(client, settings).catch((error: unknown) => {
    if (asConnectorError(error)?.code !== 'invalid_setting') throw error
    findings.push({ code: 'invalid_setting', message: (error as ConnectorError).message })
  })
  if (!columns.includes(column)) findings.push({ code: 'columns_do_not_fit', message: noColumn(column).message })
  if (idProperty === recordId) return findings
  const { properties } = await readProperties(client, type)
  if (properties.some(({ name, unique }) => name === idProperty && unique)) return findings
  const message = `Records to associate cannot be found by “${idProperty}”: choose a property of them whose values are unique, or leave it empty for their IDs.`
  return [...findings, { code: 'invalid_setting', message }]
}

async function findingsOfList(client: PlatformClient, type: string, listId: string): Promise<readonly Finding[]> {
  const { json } = await client.askObject({ path: `${paths.lists}/${listId}` })
  const { processingType, objectTypeId } = objectIn(json.list ?? json)
  if (processingType === 'DYNAMIC') {
    const message = 'HubSpot fills the list by its own filters; choose a static list (segment).'
    return [{ code: 'invalid_setting', message }]
  }
  const wanted = Object.hasOwn(standardObjects, type) ? standardObjects[type] : type
  const of = textIn(objectTypeId)
  if (of === undefined || wanted === undefined || !/^\d+-\d+$/.test(wanted) || of === wanted) return []
  return [
    { code: 'invalid_setting', message: 'The list is of another object type; choose one of the type in the settings.' },
  ]
}
