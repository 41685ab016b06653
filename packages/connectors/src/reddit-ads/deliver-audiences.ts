import type { Batch, DestinationContext, DestinationWriter, Rejection } from '@penstock/connector'
import { type Change, type Changes, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { rejectionsOf } from '../platform-api/rows/row-results.ts'
import { openAudiences } from './audience-directory.ts'
import { type Person, readAudienceRows } from './audience-rows.ts'
import { accountPath, openReddit } from './reddit-api.ts'

type Sent = { bytes: number; rejected: Rejection[] }

/**
 * Adds and removes members: each batch counts at once, and again makes no difference. Reddit takes all of a request or
 * nothing: a row that it names is left out and the others are sent again; where it names none, the batch comes in halves.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const reddit = openReddit(context)
  const account = accountPath(context.settings.advertiserId)
  const audiences = new NamedAudiences(
    context.state,
    account,
    `Penstock ${context.transferId}`,
    openAudiences(reddit, account),
  )
  const refusals = new Refusals('Reddit')
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, audiences)
      let bytes = 0
      for (const changes of groupMemberships(memberships).flatMap(byColumns)) {
        const sent = await send(reddit, refusals, changes)
        bytes += sent.bytes
        rejected.push(...sent.rejected)
      }
      return { bytes, rejected, ...audiences.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** Says for each row which audience it changes, and finds or makes the audiences for that. */
async function assign(
  batch: Batch,
  audiences: NamedAudiences,
): Promise<{ memberships: Membership<Person>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readAudienceRows(batch)
  const ids = await audiences.idsOf(rows)
  const memberships: Membership<Person>[] = []
  for (const { index, segmentId, segmentName, verb, person } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no audience with this name to remove the person from.'
      rejected.push({ index, field: 'segment_name', reason })
    } else memberships.push({ index, audience, verb, identity: person.flat().join(), member: person })
  }
  return { memberships, rejected }
}

/** Rows with the same identifiers share a request: Reddit does not notice a row that has others than the request says. */
function byColumns({ audience, verb, changes }: Changes<Person>): Changes<Person>[] {
  const groups = new Map<string, Change<Person>[]>()
  for (const change of changes) {
    const columns = change.member.map(([column]) => column).join()
    const group = groups.get(columns) ?? []
    groups.set(columns, group)
    group.push(change)
  }
  return [...groups.values()].map((group) => ({ audience, verb, changes: group }))
}

/** After so many answers that each name some rows, the batch is halved instead. */
const roundsMax = 20

async function send(
  reddit: PlatformClient,
  refusals: Refusals,
  { audience, verb, changes }: Changes<Person>,
): Promise<Sent> {
  const rejected: Rejection[] = []
  let left = changes
  let bytes = 0
  for (let round = 1; left.length > 0; round++) {
    let blamed: number[] = []
    const answer = await refusals.count(() =>
      reddit.ask({
        method: 'PATCH',
        path: `/custom_audiences/${audience}/users`,
        body: {
          data: {
            action_type: verb === 'add' ? 'ADD' : 'REMOVE',
            column_order: left[0]?.member.map(([column]) => column) ?? [],
            user_data: left.map(({ member }) => member.map(([, digest]) => digest)),
          },
        },
        expects: (got) => {
          blamed = got.status === 400 && round <= roundsMax ? blamedIn(got, left.length) : []
          return blamed.length > 0
        },
      }),
    )
    bytes += answer.bytesSent
    if (blamed.length === 0) break
    const reason = 'Reddit does not accept the identifiers of the row (status 400).'
    rejected.push(
      ...rejectionsOf(
        left,
        blamed.map((at) => ({ at, reason })),
      ),
    )
    const places = new Set(blamed)
    left = left.filter((_, at) => !places.has(at))
  }
  return { bytes, rejected }
}

/** The places that a refusal names: the field `data.user_data.3.0` or `user_data[3][0]`. */
function blamedIn({ json }: Answer, sent: number): number[] {
  const fields = listIn(objectIn(objectIn(json).error).fields).map((field) => textIn(objectIn(field).field) ?? '')
  const places = fields.map((field) => /\buser_data(?:\.|\[)(\d{1,5})\b/.exec(field)?.[1])
  // What names no row could be wrong with all of them.
  if (places.length === 0 || places.some((place) => place === undefined)) return []
  return [...new Set(places.map(Number))].filter((at) => at < sent)
}
