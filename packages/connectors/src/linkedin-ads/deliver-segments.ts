import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import { type Changes, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import type { Answer } from '../platform-api/call.ts'
import { poll } from '../platform-api/polling.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { accountUrn } from './check.ts'
import { assertFinal, createAll, isAccepted, type LinkedIn, openLinkedIn, resultsOf } from './linkedin-api.ts'
import { openSegments, segmentExists } from './segment-directory.ts'
import { readSegmentRows, type SegmentUser } from './segment-rows.ts'

/** Adds and removes members of segments: each batch counts at once, and again makes no difference. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, state, transferId, signal } = context
  const linkedin = openLinkedIn(context)
  const account = accountUrn(settings.adAccountId) ?? ''
  const segments = new NamedAudiences(state, account, `Penstock ${transferId}`, openSegments(linkedin, settings))
  const refusals = new Refusals('LinkedIn')
  return {
    async deliver(batch) {
      const { memberships, rejected } = await assign(batch, segments)
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        const sent = await send(linkedin, refusals, changes, signal)
        bytes += sent.bytes
        rejected.push(...sent.rejected)
      }
      return { bytes, rejected, ...segments.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** Says for each row which segment it changes, and finds or makes the segments for that. */
async function assign(
  batch: Batch,
  segments: NamedAudiences,
): Promise<{ memberships: Membership<SegmentUser>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readSegmentRows(batch)
  const ids = await segments.idsOf(rows)
  const memberships: Membership<SegmentUser>[] = []
  for (const { index, segmentId, segmentName, verb, user } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no segment with this name to remove the person from.'
      rejected.push({ index, field: 'segment_name', reason })
    } else memberships.push({ index, audience, verb, identity: JSON.stringify(user.userIds), member: user })
  }
  return { memberships, rejected }
}

async function send(
  linkedin: LinkedIn,
  refusals: Refusals,
  { audience, verb, changes }: Changes<SegmentUser>,
  signal: AbortSignal,
): Promise<{ bytes: number; rejected: Rejection[] }> {
  const action = verb === 'add' ? 'ADD' : 'REMOVE'
  const elements = changes.map(({ member }) => ({ action, ...member }))
  const answer = await refusals.count(async () => {
    const got = await stream(linkedin, audience, elements, signal)
    if (got.status < 300) return got
    throw new ConnectorError('invalid_batch', `LinkedIn refuses the changes of the segment (status ${got.status}).`)
  })
  const results = resultsOf(answer, changes.length)
  assertFinal(results)
  return { bytes: answer.bytesSent, rejected: rejectionsOf(changes, blameOf(results)) }
}

function* blameOf(results: ReturnType<typeof resultsOf>): Generator<RowBlame> {
  for (const [at, result] of results.entries()) {
    if (isAccepted(result)) continue
    const reason = result
      ? `LinkedIn did not accept the change (${result.code}).`
      : 'LinkedIn did not confirm the change.'
    yield { at, reason }
  }
}

/** LinkedIn needs seconds, and up to two minutes, before a new segment takes members. */
const readyMsMax = 60_000

/** Sends changes; to a segment that does not accept any yet, again and again within a bound. */
async function stream(
  linkedin: LinkedIn,
  id: string,
  elements: readonly unknown[],
  signal: AbortSignal,
): Promise<Answer> {
  let exists = false
  const answer = await poll(
    async () => {
      const got = await createAll(linkedin, `/dmpSegments/${id}/users`, elements, isForSegment)
      if (got.status !== 404 && got.status !== 409) return got
      exists ||= await segmentExists(linkedin, id)
      if (exists) return undefined
      throw new ConnectorError(
        'object_not_found',
        'LinkedIn does not know a segment of the rows, or these credentials have no access to it; check its ID.',
      )
    },
    { totalMs: readyMsMax, signal },
  )
  if (answer) return answer
  const message = 'LinkedIn does not accept members for the segment yet; a new segment needs up to two minutes.'
  throw new ConnectorError('platform_unavailable', message, { afterMs: readyMsMax })
}

const isForSegment = ({ status }: Answer): boolean => [400, 404, 409, 422].includes(status)
