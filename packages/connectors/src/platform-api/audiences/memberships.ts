/** One row's change of an audience. */
export type Membership<Member> = {
  /** From 0, within the batch. */
  readonly index: number
  readonly audience: string
  readonly verb: 'add' | 'remove'
  /** The same for the same person. */
  readonly identity: string
  readonly member: Member
}

/** One person to add to an audience or remove from it, and the rows of the batch that contain the change. */
export type Change<Member> = { readonly member: Member; readonly rows: readonly number[] }

/** Changes of one kind to one audience, which a platform accepts in one request. */
export type Changes<Member> = {
  readonly audience: string
  readonly verb: 'add' | 'remove'
  readonly changes: readonly Change<Member>[]
}

/**
 * Groups the rows of a batch into as few requests as possible. Requests lose the order of rows. So if several rows of a batch
 * are about the same person and audience, only the last one is sent, and its result applies to all of them.
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
