import type { Batch, DestinationContext, DestinationWriter, Rejection, Values } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { type Change, type Changes, groupMemberships, type Membership } from '../platform-api/memberships.ts'
import { NamedAudiences } from '../platform-api/named-audiences.ts'
import { accountName, type DataManager, openDataManager } from './data-manager.ts'
import { outcomeOfGoogle, type Violation, violationsOf } from './google-errors.ts'
import { openLists } from './list-directory.ts'
import { readListRows } from './list-rows.ts'

/**
 * Members join and leave lists. Google takes a request as a whole or not at all, and goes through it later; the same
 * member may come twice.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, memory, transferId } = context
  const dataManager = openDataManager(context)
  const account = accountName(dataManager.operating)
  const lists = new NamedAudiences(memory, account, `Penstock ${transferId}`, openLists(dataManager, settings))
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, settings, lists)
      const requests: string[] = []
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        const sent = await send(dataManager, settings, changes)
        bytes += sent.bytes
        rejected.push(...sent.rejected)
        if (sent.requestId) requests.push(sent.requestId)
      }
      return { bytes, rejected, receipt: { requests }, ...lists.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** After so many answers that each blame some members, the batch is halved instead. */
const roundsMax = 20

type Sent = { bytes: number; rejected: Rejection[]; requestId: string | undefined }

/** Sends members, and without those that Google blames once more, until it takes what is left. */
async function send(
  dataManager: DataManager,
  settings: Values,
  { audience, verb, changes }: Changes<unknown>,
): Promise<Sent> {
  const rejected: Rejection[] = []
  let left = changes
  let bytes = 0
  for (let round = 1; left.length > 0; round++) {
    let refusal: unknown
    const answer = await dataManager.ask('POST', `audienceMembers:${verb === 'add' ? 'ingest' : 'remove'}`, {
      body: requestOf(dataManager, settings, verb, audience, left),
      expects: (refused) => {
        if (refused.status !== 400 || blamedOf(violationsOf(refused.json), left.length).size === 0) return false
        if (round === roundsMax) refusal = outcomeOfGoogle(refused)
        return true
      },
    })
    bytes += answer.bytesSent
    if (answer.status < 300) return { bytes, rejected, requestId: textIn(answer.json.requestId) }
    if (refusal) throw refusal
    const blamed = blamedOf(violationsOf(answer.json), left.length)
    for (const [at, reason] of blamed) rejected.push(...rejectionsOf(left[at], reason))
    left = left.filter((_, at) => !blamed.has(at))
  }
  return { bytes, rejected, requestId: undefined }
}

const rejectionsOf = (change: Change<unknown> | undefined, reason: string): Rejection[] =>
  (change?.rows ?? []).map((index) => ({ index, reason: `Google does not take this member (${reason}).` }))

/** Which members an answer blames, by their place in the request. A field reads `audience_members[3].user_data…`. */
function blamedOf(violations: readonly Violation[], members: number): Map<number, string> {
  const blamed = new Map<number, string>()
  for (const { field, reason } of violations) {
    const place = /audience_?members\[(\d+)\]/i.exec(field)?.[1]
    if (place !== undefined && Number(place) < members) blamed.set(Number(place), reason)
  }
  return blamed
}

function requestOf(
  { operating, login }: DataManager,
  settings: Values,
  verb: 'add' | 'remove',
  audience: string,
  changes: readonly Change<unknown>[],
): unknown {
  return {
    destinations: [
      { operatingAccount: operating, ...(login ? { loginAccount: login } : {}), productDestinationId: audience },
    ],
    audienceMembers: changes.map(({ member }) => member),
    ...(settings.audienceType === 'Mobile Advertising Id' ? {} : { encoding: 'HEX' }),
    // Who leaves a list need not consent to it.
    ...(verb === 'add' ? { ...consentOf(settings), termsOfService } : {}),
  }
}

const termsOfService = { customerMatchTermsOfServiceStatus: 'ACCEPTED' }
const consents: Readonly<Record<string, string>> = { Granted: 'CONSENT_GRANTED', Denied: 'CONSENT_DENIED' }

function consentOf({ adUserDataConsent, adPersonalizationConsent }: Values): { consent?: unknown } {
  const adUserData = consents[String(adUserDataConsent)]
  const adPersonalization = consents[String(adPersonalizationConsent)]
  if (!adUserData && !adPersonalization) return {}
  return { consent: { ...(adUserData ? { adUserData } : {}), ...(adPersonalization ? { adPersonalization } : {}) } }
}

/** Says for each row which list it changes, and finds or makes the lists for that. */
async function assign(
  batch: Batch,
  settings: Values,
  lists: NamedAudiences,
): Promise<{ memberships: Membership<unknown>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readListRows(batch, settings)
  const ids = await lists.idsOf(rows)
  const memberships: Membership<unknown>[] = []
  for (const { index, segmentId, segmentName, verb, member } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no list of this name from which the person could be removed.'
      rejected.push({ index, field: 'segment_name', reason })
    } else {
      memberships.push({ index, audience, verb, identity: JSON.stringify(member), member })
    }
  }
  return { memberships, rejected }
}
