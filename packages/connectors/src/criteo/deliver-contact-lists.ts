import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import { groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf, type SentItem } from '../platform-api/rows/row-results.ts'
import { advertiserOf, openContactLists } from './contact-lists.ts'
import { type ContactRow, type IdentifierType, readContactRows } from './contact-rows.ts'
import { type Criteo, openCriteo } from './criteo-api.ts'

type Identifiers = ContactRow['identifiers']

/** Adds and removes members: each batch counts at once, and again makes no difference. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, state, transferId } = context
  const criteo = openCriteo(context)
  const gumCallerId = callerOf(settings.gumCallerId)
  const origin = textIn(settings.audienceSource)
  const description = origin === undefined ? 'Kept by Penstock' : `Kept by Penstock, from ${origin}`
  const directory = openContactLists(criteo, settings, description)
  const audiences = new NamedAudiences(state, advertiserOf(settings) ?? '', `Penstock ${transferId}`, directory)
  const refusals = new Refusals('Criteo')
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, audiences, gumCallerId !== undefined)
      let bytes = 0
      for (const { audience, verb, changes } of groupMemberships(memberships)) {
        const request = { audience, verb, gumCallerId }
        for (const { type, items, counted } of byType(changes)) {
          const sent = await refusals.count(() => amend(criteo, request, type, items))
          bytes += sent.bytes
          // A person who is sent by several identifiers is in the list by one that is valid: only the best one counts.
          rejected.push(...rejectionsOf(counted, sent.blamed))
        }
      }
      return { bytes, rejected, ...audiences.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

function callerOf(value: unknown): number | undefined {
  const text = textIn(value)?.trim()
  if (!text) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new ConnectorError('invalid_setting', 'GUM caller ID must be the number that Criteo gave you.')
}

/** Says for each row which audience it changes, and finds or makes the audiences for that. */
async function assign(
  batch: Batch,
  audiences: NamedAudiences,
  takesGum: boolean,
): Promise<{ memberships: Membership<Identifiers>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readContactRows(batch, takesGum)
  const ids = await audiences.idsOf(rows)
  const memberships: Membership<Identifiers>[] = []
  for (const { index, segmentId, segmentName, verb, identifiers } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no audience with this name to remove the person from.'
      rejected.push({ index, field: 'segment_name', reason })
    } else memberships.push({ index, audience, verb, identity: JSON.stringify(identifiers), member: identifiers })
  }
  return { memberships, rejected }
}

type OfType = {
  readonly type: IdentifierType
  /** The identifiers of one kind, each of them once. */
  readonly items: readonly string[]
  /** The rows whose best identifier is of this kind. */
  readonly counted: readonly (SentItem & { readonly key: string })[]
}

/** Identifiers of one kind share a request. */
function byType(changes: readonly { readonly member: Identifiers; readonly rows: readonly number[] }[]): OfType[] {
  const types = new Map<IdentifierType, { items: Set<string>; counted: Map<string, number[]> }>()
  for (const { member, rows } of changes) {
    for (const [place, [type, value]] of member.entries()) {
      const group = types.get(type) ?? { items: new Set(), counted: new Map() }
      types.set(type, group)
      group.items.add(value)
      if (place === 0) group.counted.set(value, [...(group.counted.get(value) ?? []), ...rows])
    }
  }
  return [...types].map(([type, { items, counted }]) => ({
    type,
    items: [...items],
    counted: [...counted].map(([key, rows]) => ({ key, rows })),
  }))
}

type Request = { audience: string; verb: 'add' | 'remove'; gumCallerId: number | undefined }

/** Sends identifiers of one kind. Criteo counts those that are invalid and shows some of them. */
async function amend(
  criteo: Criteo,
  { audience, verb, gumCallerId }: Request,
  type: IdentifierType,
  identifiers: readonly string[],
): Promise<{ bytes: number; blamed: RowBlame[] }> {
  const { json, bytesSent } = await criteo.askObject({
    method: 'PATCH',
    path: `/audience-segments/${audience}/contact-list`,
    body: {
      data: {
        type: 'ContactlistAmendment',
        attributes: {
          operation: verb,
          identifierType: type,
          ...(type === 'gum' ? { gumCallerId } : {}),
          identifiers,
        },
      },
    },
  })
  const attributes = objectIn(objectIn(json.data).attributes)
  if (Object.keys(attributes).length === 0) {
    throw new ConnectorError('malformed_response', 'Criteo did not report the result of the identifiers.')
  }
  const known = new Set(identifiers)
  const samples = new Set(
    listIn(attributes.sampleInvalidIdentifiers)
      .map((sample) => textIn(sample) ?? '')
      .filter((sample) => known.has(sample)),
  )
  const invalid = Math.max(numberIn(attributes.nbInvalidIdentifiers) ?? 0, samples.size)
  const reason = 'Criteo reports that the identifier is invalid.'
  const unnamed = 'Criteo reports invalid identifiers, but not the rows.'
  return {
    bytes: bytesSent,
    blamed: [...[...samples].map((key) => ({ key, reason })), { count: invalid - samples.size, reason: unnamed }],
  }
}
