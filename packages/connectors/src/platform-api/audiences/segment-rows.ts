import type { Batch, Rejection } from '@penstock/connector'
import type { BatchRow } from '../rows/batch-rows.ts'
import { type Read, readRows, rejectionOf, type Wrong, wrong } from '../rows/events.ts'
import type { Membership } from './memberships.ts'
import type { NamedAudiences } from './named-audiences.ts'

/** One person of a row: how the platform finds the person, and what is sent. */
export type RowMember<Member> = Pick<Membership<Member>, 'identity' | 'member'>

/** The change of a row before its audience is known. */
export type SegmentRow<Member> = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  /** Whether the person replaces the earlier members. */
  readonly replaces: boolean
  readonly members: readonly RowMember<Member>[]
}

export type SegmentRowOptions<Member> = {
  /** Maximum length of the name of an audience, if there is one. */
  readonly nameMax?: number | undefined
  /** The form of the whole name of an audience, and the same in words. */
  readonly name?: { readonly pattern: RegExp; readonly wanted: string } | undefined
  /** The actions that rows can have, by default `add` and `remove`: `create` and `replace` add, `delete` removes. */
  readonly actions?: readonly string[] | undefined
  /**
   * Which rows that add replace the earlier members of their audience: rows with the action `replace`, or all. By default, no
   * rows can.
   */
  readonly replacing?: 'by action' | 'all' | undefined
  /** Whether they are of a test, which replaces nothing. */
  readonly test?: boolean | undefined
  /** The form of an audience's ID. */
  readonly id: RegExp
  /** The column to name where a row has nothing that identifies a person. */
  readonly identifier: string
  /** The people of a row. Several if each identifier is sent separately. */
  readonly membersOf: (row: BatchRow) => Read<readonly RowMember<Member>[]>
}

/**
 * Reads rows with the columns `segment_id`, `segment_name` and `action`. A row that names no audience means the connection's own one.
 */
export function readSegmentRows<Member>(
  batch: Batch,
  options: SegmentRowOptions<Member>,
): { rows: SegmentRow<Member>[]; rejected: Rejection[] } {
  return readRows(batch, (row) => readSegmentRow(row, options))
}

/**
 * Finds or makes the audiences that rows mean, and says of which ones the members are replaced.
 * @param rejected the rejections so far, to which others are added
 */
export async function assignAudiences<Member>(
  rows: readonly SegmentRow<Member>[],
  audiences: NamedAudiences,
  rejected: Rejection[],
): Promise<{ memberships: Membership<Member>[]; rejected: Rejection[]; replaced: Set<string> }> {
  const ids = await audiences.idsOf(rows)
  const memberships: Membership<Member>[] = []
  const replaced = new Set<string>()
  for (const { index, segmentId, segmentName, verb, replaces, members } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      rejected.push(rejectionOf(index, noAudience))
      continue
    }
    if (replaces) replaced.add(audience)
    memberships.push(...members.map((member) => ({ ...member, index, audience, verb })))
  }
  return { memberships, rejected, replaced }
}

/** Why a row is rejected that removes someone from an audience that there is not. */
export const noAudience = wrong(
  'There is no audience with this name to remove the person from.',
  'segment_name',
) satisfies Wrong

function readSegmentRow<Member>(row: BatchRow, options: SegmentRowOptions<Member>): Read<SegmentRow<Member>> {
  const segmentId = row.text('segment_id')
  const segmentName = row.text('segment_name')
  const { actions = ['add', 'remove'], replacing, test } = options
  const action = row.text('action')?.toLowerCase() ?? ''
  if (!actions.includes(action)) {
    const others = actions.slice(0, -1).join(', ')
    return wrong(`The action must be ${others}${others && ' or '}${actions.at(-1)}.`, 'action')
  }
  const verb = action === 'remove' || action === 'delete' ? 'remove' : 'add'
  if (verb === 'remove' && replacing === 'all') {
    const reason = 'A transfer that replaces audiences accepts only people to add; leave out rows that remove people.'
    return wrong(reason, 'action')
  }
  if (action === 'replace' && replacing === undefined) {
    const reason = 'A single row cannot replace an audience; turn on “Replace existing audience” for the connection.'
    return wrong(reason, 'action')
  }
  if (action === 'replace' && test) {
    return wrong('A test replaces no audience, because its few people would be the only members then.', 'action')
  }
  if (segmentId !== undefined && !options.id.test(segmentId)) {
    return wrong('The value is not an ID of an audience.', 'segment_id')
  }
  const { nameMax, name } = options
  if (segmentName !== undefined && nameMax !== undefined && segmentName.length > nameMax) {
    return wrong(`The name of an audience has at most ${nameMax} characters.`, 'segment_name')
  }
  if (segmentName !== undefined && name && !name.pattern.test(segmentName)) return wrong(name.wanted, 'segment_name')
  const members = options.membersOf(row)
  if ('wrong' in members) return members
  if (members.read.length === 0) {
    return wrong('The row has no identifier that could be used to find the person.', options.identifier)
  }
  const replaces = replacing === 'all' || action === 'replace'
  return { read: { index: row.index, segmentId, segmentName, verb, replaces, members: members.read } }
}
