import type { Batch, Delivery, DestinationContext, DestinationWriter, Rejection, Values } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { type Change, type Changes, groupMemberships, type Membership } from '../platform-api/memberships.ts'
import { NamedAudiences } from '../platform-api/named-audiences.ts'
import { Refusals } from '../platform-api/refusals.ts'
import { consentOfSettings } from './consent.ts'
import { accountName, type DataManager, destinationOf, openDataManager } from './data-manager.ts'
import { blamedMembers, memberRejection } from './google-errors.ts'
import { openLists } from './list-directory.ts'
import { readListRows } from './list-rows.ts'
import { Replacement } from './replacement.ts'
import { decide, type Taken } from './request-status.ts'

/** So many batches are held at most until it is known what became of them: after a crash they are sent again. */
const heldBatchesMax = 10
/** So many requests are asked about at most in the end: Google allows 300 requests a minute. */
const undecidedMax = 100

/**
 * Members join and leave lists. Google takes a request as a whole or not at all, and goes through it later; the same
 * member may come twice. What it finds then it says as counts, which are asked for while batches are held and once more
 * at the end, for as long as the connection allows.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, state, transferId, signal } = context
  const dataManager = openDataManager(context)
  const account = accountName(dataManager.operating)
  const lists = new NamedAudiences(state, account, `Penstock ${transferId}`, openLists(dataManager, settings))
  const replacement = settings.replaceExistingAudience === true ? new Replacement(dataManager, context) : undefined
  const sender = { dataManager, settings, refusals: new Refusals('Google') }
  let held = 0
  let heldRows = 0
  let undecided: Taken[] = []
  let requests: string[] = []

  const deliveryState = (): Pick<Delivery, 'deliveryState'> => {
    const confirmed = { requests, ...replacement?.deliveryState() }
    requests = []
    held = 0
    heldRows = 0
    return { deliveryState: confirmed }
  }
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, settings, lists)
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        await replacement?.begin()
        const sent = await send(sender, changes)
        bytes += sent.bytes
        rejected.push(...sent.rejected)
        if (sent.taken) {
          undecided.push(sent.taken)
          requests.push(sent.taken.requestId)
          if (changes.verb === 'add') replacement?.added(changes.audience)
        }
      }
      held++
      heldRows += batch.rows.length - rejected.length
      if (held < heldBatchesMax) return { held: true, bytes, rejected, ...lists.delivered() }
      const decided = await decide(dataManager, undecided, 0, signal)
      // What is rejected with a batch cannot be more than that has; else all is asked for again later.
      if (countOf(decided.rejected) + rejected.length <= batch.rows.length) {
        rejected.push(...decided.rejected)
        undecided = decided.undecided.slice(-undecidedMax)
      }
      return { bytes, rejected, ...deliveryState(), ...lists.delivered() }
    },
    async flush() {
      if (held === 0) return undefined
      const { rejected } = await decide(dataManager, undecided, waitMsOf(settings), signal)
      undecided = []
      const counted = within(heldRows, rejected)
      return { bytes: 0, rejected: counted, ...deliveryState() }
    },
    async finish() {
      await replacement?.finish()
    },
    abort: async () => {},
    close: async () => {},
  }
}

const countOf = (rejections: readonly Rejection[]): number => rejections.reduce((sum, { count = 1 }) => sum + count, 0)

/** No more than so many rows: what is confirmed already cannot be rejected any more. */
function within(rows: number, rejections: readonly Rejection[]): Rejection[] {
  let left = rows
  return rejections.flatMap((rejection) => {
    const count = Math.min(left, rejection.count ?? 1)
    left -= count
    return count > 0 ? [{ ...rejection, count }] : []
  })
}

const waitMsOf = ({ resultWaitSeconds }: Values): number => Number(resultWaitSeconds ?? 0) * 1000

/** After so many answers that each blame some members, the batch is halved instead. */
const roundsMax = 20

type Sender = { readonly dataManager: DataManager; readonly settings: Values; readonly refusals: Refusals }
type Sent = { bytes: number; rejected: Rejection[]; taken: Taken | undefined }

/** Sends members, and without those that Google blames once more, until it takes what is left. */
async function send(sender: Sender, { audience, verb, changes }: Changes<object>): Promise<Sent> {
  const { dataManager, settings, refusals } = sender
  const rejected: Rejection[] = []
  let left = changes
  let bytes = 0
  for (let round = 1; left.length > 0; round++) {
    let blamed = new Map<number, string>()
    const answer = await refusals.count(
      () =>
        dataManager.ask('POST', `audienceMembers:${verb === 'add' ? 'ingest' : 'remove'}`, {
          body: requestOf(dataManager, settings, verb, audience, left),
          expects: ({ status, json }) => {
            blamed = status === 400 && round < roundsMax ? blamedMembers(json, left.length) : new Map()
            return blamed.size > 0
          },
        }),
      () => [...blamed.values()].map(memberRejection)[0],
    )
    bytes += answer.bytesSent
    if (blamed.size === 0) {
      const requestId = textIn(answer.json.requestId)
      return { bytes, rejected, taken: requestId === undefined ? undefined : { requestId, members: left.length } }
    }
    for (const [at, reason] of blamed) rejected.push(...rejectionsOf(left[at], reason))
    left = left.filter((_, at) => !blamed.has(at))
  }
  return { bytes, rejected, taken: undefined }
}

const rejectionsOf = (change: Change<object> | undefined, reason: string): Rejection[] =>
  (change?.rows ?? []).map((index) => ({ index, reason: memberRejection(reason) }))

function requestOf(
  dataManager: DataManager,
  settings: Values,
  verb: 'add' | 'remove',
  audience: string,
  changes: readonly Change<object>[],
): unknown {
  const consent = consentOfSettings(settings)
  return {
    destinations: [destinationOf(dataManager, audience)],
    audienceMembers: changes.map(({ member }) => member),
    ...(settings.audienceType === 'Mobile Advertising Id' ? {} : { encoding: 'HEX' }),
    // Who leaves a list need not consent to it.
    ...(verb === 'add' ? { ...(consent ? { consent } : {}), termsOfService } : {}),
  }
}

const termsOfService = { customerMatchTermsOfServiceStatus: 'ACCEPTED' }

/** Says for each row which list it changes, and finds or makes the lists for that. */
async function assign(
  batch: Batch,
  settings: Values,
  lists: NamedAudiences,
): Promise<{ memberships: Membership<object>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readListRows(batch, settings)
  const ids = await lists.idsOf(rows)
  const memberships: Membership<object>[] = []
  for (const { index, segmentId, segmentName, verb, member, identity } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no list of this name from which the person could be removed.'
      rejected.push({ index, field: 'segment_name', reason })
    } else {
      memberships.push({ index, audience, verb, identity, member })
    }
  }
  return { memberships, rejected }
}
