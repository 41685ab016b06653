import type { Batch, DestinationContext, DestinationWriter, Json, Rejection } from '@penstock/connector'
import { type Changes, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { rejectionsOf } from '../platform-api/rows/row-results.ts'
import { openLists } from './customer-lists.ts'
import { itemErrorsOf, type Microsoft, openMicrosoft } from './microsoft-api.ts'

type Sent = { bytes: number; rejected: Rejection[] }
type Assigned = { memberships: Membership<string>[]; rejected: Rejection[]; replaced: Set<string> }

/**
 * Adds and removes members: each batch counts at once, and again makes no difference. To replace a list, the first
 * request of the transfer that adds to it takes the place of all earlier members, and the later ones add.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const microsoft = openMicrosoft(context)
  const { state, transferId, deliveryStates } = context
  const lists = new NamedAudiences(state, microsoft.account, `Penstock ${transferId}`, openLists(microsoft))
  const refusals = new Refusals('Microsoft Advertising')
  const begun = new Set(deliveryStates.flatMap((one) => listIn(objectIn(one).replaced)).map(String))
  return {
    async deliver(batch) {
      const { memberships, rejected, replaced } = await assign(batch, lists)
      const replacedNow: Json[] = []
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        const replaces = changes.verb === 'add' && replaced.has(changes.audience) && !begun.has(changes.audience)
        const sent = await refusals.count(() => send(microsoft, changes, replaces))
        if (replaces) {
          begun.add(changes.audience)
          replacedNow.push(changes.audience)
        }
        bytes += sent.bytes
        rejected.push(...sent.rejected)
      }
      return {
        bytes,
        rejected,
        ...(replacedNow.length > 0 ? { deliveryState: { replaced: replacedNow } } : {}),
        ...lists.delivered(),
      }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

async function send(
  microsoft: Microsoft,
  { audience, verb, changes }: Changes<string>,
  replaces: boolean,
): Promise<Sent> {
  const { json, bytesSent } = await microsoft.askObject({
    method: 'POST',
    path: '/CustomerListUserData/Apply',
    body: {
      CustomerListUserData: {
        ActionType: verb === 'remove' ? 'Remove' : replaces ? 'Replace' : 'Add',
        AudienceId: audience,
        CustomerListItemSubType: 'Email',
        CustomerListItems: changes.map(({ member }) => member),
      },
    },
  })
  const blamed = itemErrorsOf(json, changes.length).map(({ index = -1, shown }) => ({
    at: index,
    reason: `Microsoft Advertising does not accept the identifier (${shown}).`,
    field: 'email_sha256',
  }))
  return { bytes: bytesSent, rejected: rejectionsOf(changes, blamed) }
}

const actions = ['create', 'add', 'remove', 'replace']

type ListRow = {
  readonly index: number
  readonly action: string
  readonly verb: 'add' | 'remove'
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly digest: string
}

function readRow(row: BatchRow): Read<ListRow> {
  const action = row.text('action')?.toLowerCase() ?? ''
  const segmentId = row.text('segment_id')
  const digest = row.text('email_sha256')
  if (!actions.includes(action)) return wrong('The action must be create, add, remove or replace.', 'action')
  if (segmentId !== undefined && !/^\d{1,20}$/.test(segmentId)) {
    return wrong('A list of Microsoft Advertising has a number as its ID.', 'segment_id')
  }
  if (digest === undefined) return wrong('The row has no e-mail address.', 'email_sha256')
  if (!isSha256(digest)) {
    return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', 'email_sha256')
  }
  const verb = action === 'remove' ? 'remove' : 'add'
  return { read: { index: row.index, action, verb, segmentId, segmentName: row.text('segment_name'), digest } }
}

/** Says for each row which list it changes, and finds or makes the lists for that. */
async function assign(batch: Batch, lists: NamedAudiences): Promise<Assigned> {
  const { rows, rejected } = readRows(batch, readRow)
  const ids = await lists.idsOf(rows)
  const memberships: Membership<string>[] = []
  const replaced = new Set<string>()
  for (const { index, action, verb, segmentId, segmentName, digest } of rows) {
    const audience = textIn(segmentId ?? ids.get(segmentName))
    if (audience === undefined) {
      const reason = 'There is no list with this name to remove the person from.'
      rejected.push({ index, field: 'segment_name', reason })
      continue
    }
    if (action === 'replace') replaced.add(audience)
    memberships.push({ index, audience, verb, identity: digest, member: digest })
  }
  return { memberships, rejected, replaced }
}
