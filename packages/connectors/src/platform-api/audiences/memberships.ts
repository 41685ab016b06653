/** What one row asks of an audience. */
export type Membership<Member> = {
  /** From 0, within the batch. */
  readonly index: number
  readonly audience: string
  readonly verb: 'add' | 'remove'
  /** The same for the same person. */
  readonly identity: string
  readonly member: Member
}

/** One person to be added to an audience or removed from it, and the rows of the batch that said so. */
export type Change<Member> = { readonly member: Member; readonly rows: readonly number[] }

/** Changes of one kind to one audience: what a platform takes in one request. */
export type Changes<Member> = {
  readonly audience: string
  readonly verb: 'add' | 'remove'
  readonly changes: readonly Change<Member>[]
}

/**
 * Brings the rows of a batch into as few requests as possible. Requests forget the order of rows, so where several rows
 * of a batch speak of the same person and audience, only what the last one says is sent; it answers for them all.
 */
export function groupMemberships<Member>(memberships: Iterable<Membership<Member>>): Changes<Member>[] {
  const last = new Map<string, Membership<Member> & { rows: number[] }>()
  for (const membership of memberships) {
    const key = `${membership.audience}\n${membership.identity}`
    const rows = last.get(key)?.rows ?? []
    rows.push(membership.index)
    last.set(key, { ...membership, rows })
  }
  const groups = new Map<string, { audience: string; verb: 'add' | 'remove'; changes: Change<Member>[] }>()
  for (const { audience, verb, member, rows } of last.values()) {
    const key = `${verb}\n${audience}`
    const group = groups.get(key) ?? { audience, verb, changes: [] }
    group.changes.push({ member, rows })
    groups.set(key, group)
  }
  return [...groups.values()]
}
