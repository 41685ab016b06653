import type { Batch, Rejection } from '@penstock/connector'
import type { BatchRow } from '../rows/batch-rows.ts'
import { type Read, readRows, rejectionOf, type Wrong, wrong } from '../rows/events.ts'
import type { Membership } from './memberships.ts'
import type { NamedAudiences } from './named-audiences.ts'

/** What a row says of one person: by what the platform finds the person, and what is sent. */
export type RowMember<Member> = Pick<Membership<Member>, 'identity' | 'member'>

/** What a row asks, before its audience is known. */
export type SegmentRow<Member> = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  readonly members: readonly RowMember<Member>[]
}

export type SegmentRowOptions<Member> = {
  /** How long the name of an audience may be. */
  readonly nameMax: number
  /** What an audience's ID looks like. */
  readonly id: RegExp
  /** The column to name where a row has nothing that identifies a person. */
  readonly identifier: string
  /** Who a row means; several where each identifier is sent alone. */
  readonly membersOf: (row: BatchRow) => Read<readonly RowMember<Member>[]>
}

/**
 * Reads rows with the columns `segment_id`, `segment_name` and `action`, and finds or makes the audiences that they mean. A
 * row that names none means the connection's own one.
 */
export async function readMemberships<Member>(
  batch: Batch,
  audiences: NamedAudiences,
  options: SegmentRowOptions<Member>,
): Promise<{ memberships: Membership<Member>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readSegmentRows(batch, options)
  return assignAudiences(rows, audiences, rejected)
}

/** Reads such rows. */
export function readSegmentRows<Member>(
  batch: Batch,
  options: SegmentRowOptions<Member>,
): { rows: SegmentRow<Member>[]; rejected: Rejection[] } {
  return readRows(batch, (row) => readSegmentRow(row, options))
}

/** Finds or makes the audiences that rows mean. @param rejected what was rejected before, to which is added */
export async function assignAudiences<Member>(
  rows: readonly SegmentRow<Member>[],
  audiences: NamedAudiences,
  rejected: Rejection[],
): Promise<{ memberships: Membership<Member>[]; rejected: Rejection[] }> {
  const ids = await audiences.idsOf(rows)
  const memberships: Membership<Member>[] = []
  for (const { index, segmentId, segmentName, verb, members } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) rejected.push(rejectionOf(index, noAudience))
    else memberships.push(...members.map((member) => ({ ...member, index, audience, verb })))
  }
  return { memberships, rejected }
}

const noAudience = wrong(
  'There is no audience with this name to remove the person from.',
  'segment_name',
) satisfies Wrong

function readSegmentRow<Member>(row: BatchRow, options: SegmentRowOptions<Member>): Read<SegmentRow<Member>> {
  const segmentId = row.text('segment_id')
  const segmentName = row.text('segment_name')
  const verb = row.text('action')?.toLowerCase()
  if (verb !== 'add' && verb !== 'remove') return wrong('The action must be add or remove.', 'action')
  if (segmentId !== undefined && !options.id.test(segmentId)) {
    return wrong('The value is not an ID of an audience.', 'segment_id')
  }
  if (segmentName !== undefined && segmentName.length > options.nameMax) {
    return wrong(`The name of an audience has at most ${options.nameMax} characters.`, 'segment_name')
  }
  const members = options.membersOf(row)
  if ('wrong' in members) return members
  if (members.read.length === 0) {
    return wrong('The row has no identifier that could be used to find the person.', options.identifier)
  }
  return { read: { index: row.index, segmentId, segmentName, verb, members: members.read } }
}
