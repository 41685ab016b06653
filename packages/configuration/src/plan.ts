import { account as accountKind } from './kinds/account.ts'
import { inAccounts, owned, type ServiceState } from './kinds.ts'
import type { Desired } from './load.ts'
import { matchAll, refuseTwins } from './match.ts'
import { ConfigurationError, type Problem } from './problems.ts'
import { matchRenamed } from './renames.ts'
import {
  type Change,
  type Entry,
  listIn,
  type ManagedKind,
  type Planning,
  type ResourceKind,
  type Scope,
  statesIn,
  type Unmanaged,
} from './resource-kind.ts'

/** The changes that bring a service into the state of the files. */
export type Plan = {
  readonly changes: readonly Change[]
  /** The identifiers of the sub-accounts of the files that are there, by their names in the files. */
  readonly accountIds: ReadonlyMap<string, string>
  readonly unmanaged: readonly Unmanaged[]
  /** Information for a person, and steps that a person must do. */
  readonly notes: readonly string[]
  /** References to secrets that would be sent, and cannot be resolved here. */
  readonly missing: readonly Problem[]
  /** Changes that the service would refuse because a value is missing. An apply does the others. */
  readonly refused: readonly Problem[]
}

/**
 * Compares the files with the current state.
 * @throws ConfigurationError with everything that prevents a plan
 */
export async function makePlan(
  { accounts: desired, organization }: Desired,
  state: ServiceState,
  given: Pick<Planning, 'options' | 'definitions' | 'resolver'>,
): Promise<Plan> {
  const problems: Problem[] = []
  const accounts = matchAll(accountKind, desired, state.accounts, null, problems)
  const collected = { changes: [], unmanaged: [], notes: [], missing: [], refused: [] }
  await matchRenamed(accountKind, desired, state.accounts, accounts, null, { ...collected, problems, state })
  const planning: Planning = { ...given, ...collected, problems, state, accounts }
  const scopes = desired.map((entry): Scope => {
    return {
      account: entry.name,
      desired: entry,
      existing: accounts.get(entry),
      changes: [],
      matched: new Map(),
      waiting: new Set(),
    }
  })
  for (const [index, scope] of scopes.entries()) {
    await planOne(accountKind, desired[index] as Entry, scope.existing, scope, planning)
    await planLists(inAccounts, scope, planning)
  }
  scopes.push({ account: null, desired: organization, changes: [], matched: new Map(), waiting: new Set() })
  for (const scope of scopes) for (const kind of owned) await planLists([kind], scope, planning)
  const taken = new Set(accounts.values())
  for (const left of state.accounts.filter((one) => !taken.has(one))) leave(accountKind, left, left.name, planning)
  if (problems.length > 0) throw new ConfigurationError(problems)
  const accountIds = new Map([...accounts].map(([{ name }, { id }]) => [name, id]))
  return { ...collected, accountIds }
}

/** Plans the lists of a sub-account or the organization. Resources that are in no file are removed in the reverse order. */
async function planLists(kinds: readonly ResourceKind[], scope: Scope, planning: Planning): Promise<void> {
  const { account, existing } = scope
  const { problems, state } = planning
  const left: (() => void)[] = []
  for (const kind of kinds) {
    const list = listIn<Entry>(kind, scope.desired)
    if (!list) continue
    const entries: Entry[] = []
    // One after another, so that problems are listed in the order of the files.
    for (const entry of list) {
      const resolved = kind.resolve ? await kind.resolve(entry, planning) : entry
      if (resolved) entries.push(resolved)
    }
    if (kind.resolve) refuseTwins(kind, entries, account, problems)
    const isOwn = (one: object) => (one as { accountId: string | null }).accountId === null
    const there = account === null ? statesIn(kind, state).filter(isOwn) : statesIn(kind, existing ?? {})
    const matched = matchAll(kind, entries, there, account, problems)
    await matchRenamed(kind, entries, there, matched, account, planning)
    for (const [entry, one] of matched) scope.matched.set(entry, one)
    for (const entry of entries) await planOne(kind, entry, matched.get(entry), scope, planning)
    const taken = new Set(matched.values())
    for (const one of there.filter((one) => !taken.has(one)).toReversed())
      left.unshift(() => leave(kind, one, account, planning, kind.isNeeded?.(one, scope)))
  }
  for (const each of left) each()
}

async function planOne(
  kind: ManagedKind,
  entry: Entry,
  existing: object | undefined,
  scope: Scope,
  planning: Planning,
): Promise<void> {
  const diff = await kind.diff(entry, existing, scope, planning)
  if (!diff || (existing && diff.fields.length === 0)) return
  const { name, written = name } = entry
  const action = existing ? 'update' : 'create'
  const about = { kind: kind.kind, account: scope.account, name: written, at: entry.at(kind.key) }
  const change = { ...about, existing, desired: entry, action, ...diff } as const
  planning.changes.push(change)
  scope.changes.push(change)
}

/** Deletes resources that are in no file, if that is allowed. */
function leave(
  kind: ManagedKind,
  existing: object,
  account: string | null,
  planning: Planning,
  isNeeded = false,
): void {
  const left = { kind: kind.kind, account, name: kind.nameOf(existing) }
  if (planning.options[kind.destroyedBy] && !isNeeded)
    planning.changes.push({ ...left, action: 'delete', fields: [], existing })
  else planning.unmanaged.push(left)
}

/** The changes of a plan that delete or replace a resource. */
export const destroys = ({ changes }: Plan): Change[] =>
  changes.filter(({ action }) => action === 'delete' || action === 'replace')
