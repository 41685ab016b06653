import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
  type Values,
} from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { openApi } from '../kit/run/open-api.ts'
import { eventReader } from '../kit/run/read-event.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { contactColumns, finishContact } from './contact-columns.ts'
import { tenantOf } from './journeys-api.ts'
import { tokensOf } from './marketing-cloud-api.ts'
import { originOf } from './tenant.ts'

const read = eventReader({ columns: contactColumns, platformName: 'Marketing Cloud', finish: finishContact })

/** The rows of a batch as contacts, and the rejections of the others. */
export const readContacts = (batch: Batch, settings: Values): ReturnType<typeof readEvents<JsonObject>> =>
  readEvents(batch, (row) => {
    const found = read(batch, row, settings)
    return 'wrong' in found ? found : { read: found.read.event }
  })

function openContacts(context: DestinationContext): Promise<PlatformClient> {
  const subdomain = tenantOf(context)
  const api = restApi({
    name: 'Marketing Cloud',
    baseUrl: `${originOf(subdomain)}/contacts/v1`,
    errors: {
      codeAt: 'errorcode',
      statuses: {
        400: 'invalid_batch',
        403: [
          'permission_denied',
          'Give the installed package the scopes List and Subscribers Read and Write, and its user the right to change contacts.',
        ],
        404: ['object_not_found', 'Check the subdomain.'],
      },
    },
  })
  return openApi(context, api, { open: async (one) => tokensOf(one, subdomain) })
}

/**
 * Creates contacts and changes their attributes, or has them deleted. The same again makes no difference: a contact is found by its
 * key, and attributes are overwritten.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings } = context
  const client = await openContacts(context)
  const refusals = new Refusals('Marketing Cloud')
  return {
    async deliver(batch) {
      const { events: contacts, rejected } = readContacts(batch, settings)
      if (contacts.length === 0) return { bytes: 0, rejected }
      const deliver = settings.operation === 'delete' ? deleteContacts : changeContacts
      const sent = await refusals.count(() => deliver(client, contacts))
      return { bytes: sent.bytes, rejected: [...rejected, ...sent.rejected] }
    },
  }
}

type Contacts = readonly RowEvent<JsonObject>[]
type Sent = { readonly bytes: number; readonly rejected: readonly Rejection[] }

const keyOf = ({ event }: RowEvent<JsonObject>): string => String(event.contactKey)

/** Creates the contacts that are not there in one request, and then sets the attributes of each. */
async function changeContacts(client: PlatformClient, contacts: Contacts): Promise<Sent> {
  const contactKeys = [...new Set(contacts.map(keyOf))]
  const answer = await client.askObject({
    method: 'POST',
    path: '/establish',
    body: { contactKeys, returnResults: true, correlateResponseItem: true },
    repeatable: true,
  })
  if (!Array.isArray(answer.json.items)) {
    throw new ConnectorError('malformed_response', 'Marketing Cloud answered without the contacts.')
  }
  const there = new Set(listIn(answer.json.items).flatMap(establishedIn))
  const rejected: Rejection[] = []
  let bytes = answer.bytesSent
  for (const contact of contacts) {
    if (!there.has(keyOf(contact))) {
      const reason = 'Marketing Cloud did not create the contact; check its key.'
      rejected.push({ index: contact.index, reason, field: 'contact_key' })
      continue
    }
    if (contact.event.attributeSets === undefined) continue
    const changed = await client.ask({
      method: 'PATCH',
      path: '/contacts',
      body: contact.event,
      repeatable: true,
      expects: ({ status }) => status === 400,
    })
    bytes += changed.bytesSent
    const reason = whyNot(changed)
    if (reason !== undefined) rejected.push({ index: contact.index, reason, field: 'attributes' })
  }
  return { bytes, rejected }
}

/** The key of a contact that exists now. Empty if Marketing Cloud did not create it. */
function establishedIn(item: unknown): string[] {
  const value = isObject(item) && isObject(item.value) ? item.value : objectIn(item)
  const { requestedContactKey, contactReference } = value
  const reference = objectIn(contactReference)
  const key = textIn(requestedContactKey) ?? textIn(reference.contactKey)
  return key !== undefined && (numberIn(reference.contactID) ?? 0) > 0 ? [key] : []
}

/** Why attributes were not set, with the codes of Marketing Cloud. Failures can also have the status 200. */
function whyNot(answer: Answer): string | undefined {
  const { operationStatus, hasErrors, resultMessages, errorcode } = objectIn(answer.json)
  if (isSuccess(answer) && operationStatus === 'OK' && hasErrors !== true) return undefined
  if (isSuccess(answer) && operationStatus === undefined) {
    throw new ConnectorError('malformed_response', 'Marketing Cloud did not report whether the attributes were set.')
  }
  const codes = [errorcode, ...listIn(resultMessages).map((one) => objectIn(one).resultCode)]
    .flatMap((code) => textIn(code) ?? [])
    .filter((code) => /^[\w.-]{1,60}$/.test(code))
  const shown = codes.length === 0 ? '' : ` (${[...new Set(codes)].slice(0, 3).join(', ')})`
  return `The contact is there, but Marketing Cloud did not accept its attributes${shown}; check the names of the attribute sets and of the attributes, and the types of the values.`
}

/** Has contacts deleted with all their attributes, which Marketing Cloud does later and reports for the request as a whole. */
async function deleteContacts(client: PlatformClient, contacts: Contacts): Promise<Sent> {
  const { json, bytesSent: bytes } = await client.askObject({
    method: 'POST',
    path: '/contacts/actions/delete',
    query: { type: 'keys' },
    body: { values: [...new Set(contacts.map(keyOf))], deleteOperationType: 'ContactAndAttributes' },
  })
  if (textIn(json.operationID) !== undefined && json.operationInitiated !== false && json.hasErrors !== true) {
    return { bytes, rejected: [] }
  }
  const message =
    'Marketing Cloud did not begin the deletion; check that Contact Delete is enabled in the account, and that no field lacks.'
  throw new ConnectorError('request_refused', message)
}
