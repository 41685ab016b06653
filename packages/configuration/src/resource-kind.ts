import type { Client } from '@penstock/client'
import type { Definitions } from './definitions.ts'
import type { Locate, Position, Problem } from './problems.ts'
import type { Resolver } from './references.ts'
import type { JsonSchema } from './schema-parts.ts'
import type { FieldChange } from './values.ts'

/** An entry of the files. */
export type Entry = {
  /** It is found by this, within its sub-account. */
  readonly name: string
  /** Its name in texts, if that is another one. */
  readonly written?: string
  /** Names that it had before. */
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly at: Locate
}

/** A sub-account of the files. It also has a list of entries for each kind. */
export type DesiredAccount = Entry & { readonly enabled?: boolean | undefined }
/** A sub-account of the service. It also has a list of resources for each kind. */
export type AccountState = { readonly id: string; readonly name: string; readonly enabled: boolean }
/** The state of a service. It also has a list of all resources of each kind. */
export type AnyServiceState = { readonly accounts: readonly AccountState[]; readonly renames: Renames }

/** The change of one resource in a plan. `Own` is the data that its kind needs to apply it. */
export type Change<Desired = Entry, State = object, Own = unknown> = {
  readonly kind: string
  readonly action: 'create' | 'update' | 'replace' | 'delete'
  /** The name of the sub-account in the files; null: the organization. */
  readonly account: string | null
  readonly name: string
  readonly at?: Position | undefined
  readonly fields: readonly FieldChange[]
  readonly existing?: State | undefined
  readonly desired?: Desired | undefined
} & Own

/** Where the audit log contains the earlier names of the resources of a kind. */
export type AuditedName = {
  /** The operation that renames. */
  readonly action: string
  /** The key of the name in a change in the audit log. */
  readonly key: string
  /** The identifier of the resource, if it is not the target of the event. */
  readonly idOf?: (details: Readonly<Record<string, unknown>>) => unknown
}

/** The earlier names of resources, by their identifiers; undefined if the credentials lack `audit:read`. */
export type Renames = (audited: AuditedName) => Promise<ReadonlyMap<string, readonly string[]> | undefined>

/** The differences. Without a field, an existing resource already matches the files. */
export type Diff<Own = unknown> = { readonly fields: readonly FieldChange[]; readonly action?: 'replace' } & Own

export type PlanOptions = {
  /** Deletes the connections, connectors, webhooks and alert rules that are not in the files, and replaces connections whose connectors differ. */
  readonly allowDestroy?: boolean | undefined
  /** Deletes sub-accounts that are not in the files, with all that they hold. */
  readonly allowDestroyAccounts?: boolean | undefined
  /** Sends every secret that the files have, even if it is set already. */
  readonly setSecrets?: boolean | undefined
}

/** A resource of the organization or its sub-accounts that is not in the files, and is not changed. */
export type Unmanaged = { readonly kind: string; readonly account: string | null; readonly name: string }

/** Data that the kinds need to plan, and collect. */
export type Planning = {
  readonly options: PlanOptions
  readonly definitions: Definitions
  readonly resolver: Resolver
  readonly state: AnyServiceState
  /** The sub-accounts of the service, by their entries. */
  readonly accounts: ReadonlyMap<DesiredAccount, AccountState>
  readonly changes: Change[]
  readonly unmanaged: Unmanaged[]
  readonly problems: Problem[]
  readonly notes: string[]
  readonly missing: Problem[]
  readonly refused: Problem[]
}

/** The organization or a sub-account, while it is planned. */
export type Scope = {
  /** The name of the sub-account in the files; null: the organization. */
  readonly account: string | null
  /** Lists of entries. */
  readonly desired: object
  /** The sub-account, if it exists. */
  readonly existing?: AccountState | undefined
  readonly changes: Change[]
  /** The resources that the entries of its lists mean, of the kinds that are planned. */
  readonly matched: Map<Entry, object>
  /** Connectors that a person must authorize first. */
  readonly waiting: Set<string>
}

/** The values that kinds need to write their entries. */
export type Writing = {
  readonly state: AnyServiceState
  readonly definitions: Definitions
  /** Null: the organization. */
  readonly account: AccountState | null
  /** A reference to the environment variable of a secret. */
  readonly secret: (of: string, field: string) => string
  readonly notes: string[]
}

/** The signing secret of a webhook that was created. */
export type WebhookSecret = {
  /** The name of the sub-account; null: the webhook belongs to the organization. */
  readonly account: string | null
  readonly url: string
  readonly id: string
  readonly secret: string
}

export type ApplyOptions = {
  readonly client: Client
  readonly resolver: Resolver
  /** Called when a change is done, or has failed. */
  readonly onDone?: (change: Change, problem?: Problem) => void
  /** Called with the signing secret of each webhook that is created, which cannot be read later. */
  readonly onSecret?: ((made: WebhookSecret) => Promise<void>) | undefined
}

/** State that the steps share: the failed changes, and the current version of each resource. */
export type Applying = {
  readonly client: Client
  readonly resolver: Resolver
  readonly onSecret: ApplyOptions['onSecret']
  /** The identifiers of sub-accounts, by their names in the files. */
  readonly accountIds: Map<string, string>
  /** The identifiers of configurations that were created, by the names of the sub-account and of the connector. */
  readonly configurationIds: Map<string, string>
  /** The identifier and the version of connections, by their changes. */
  readonly connections: Map<Change, { readonly id: string; readonly etag: string }>
  /** Runs a step of the changes that have not failed and whose sub-account exists. */
  each<C extends Change>(changes: readonly C[], step: (change: C) => Promise<void>): Promise<void>
  fail(change: Change, error: unknown): void
  hasFailed(change: Change): boolean
  /** Whether the sub-account of a change, or one of these connectors in it, has failed. */
  lacks(change: Change, slugs?: readonly string[]): boolean
}

/**
 * The order of steps. Everything that a change needs comes before it: connections that must stop do so first, webhooks exist
 * before data moves, and connections start last.
 */
export const stages = [
  'accounts',
  'webhooks',
  'stop',
  'connectors',
  'connections',
  'alert rules',
  'start',
  'unused connectors',
  'enable accounts',
  'delete accounts',
] as const

/** A step of the changes of a kind. It can be repeated, so that the next plan can continue where an apply was interrupted. */
export type Step<C> = {
  readonly stage: (typeof stages)[number]
  /** Selects the changes that take part, if their action does not decide it. */
  when?(change: C): boolean
  /** Of one change. */
  run?(change: C, applying: Applying): Promise<void>
  /** Of all changes together. */
  runAll?(changes: readonly C[], applying: Applying): Promise<void>
}

/** A kind of resource that is compared, changed and deleted. */
export type ManagedKind<Desired extends Entry = Entry, State extends object = object, Own = unknown> = {
  /** Names it in plans. */
  readonly kind: string
  /** Names it in sentences. */
  readonly title: string
  /** The key of an entry that names the resource. */
  readonly key: string
  /** The option that allows resources to be deleted that are in no file. */
  readonly destroyedBy: keyof PlanOptions
  nameOf(state: State): string
  identifierOf(state: State): string
  /** Where former names are, if `formerNames` does not read them. */
  readonly audited?: AuditedName
  /** The name of a resource, if its name in the audit log is different. */
  nameFrom?(audited: string, state: State): string
  /** Reads the names that one had before. */
  formerNames?(state: State): Promise<readonly string[]>
  /** Whether an entry could refer to a resource that was renamed by hand; if absent, it could refer to any. */
  couldBe?(entry: Desired, state: State): boolean
  /**
   * Compares an entry with the existing resource; `existing` is undefined if it must be created. Returns undefined if a problem
   * prevents the comparison.
   */
  diff(
    entry: Desired,
    existing: State | undefined,
    scope: Scope,
    planning: Planning,
  ): Promise<Diff<Own> | undefined> | Diff<Own>
  readonly create: Step<Change<Desired, State, Own>>
  readonly update?: Step<Change<Desired, State, Own>>
  readonly remove: Step<Change<Desired, State, Own>>
  readonly also?: readonly Step<Change<Desired, State, Own>>[]
}

/** A kind of resource that sub-accounts have lists of: everything that export, plan and apply know about it. */
export type ResourceKind<
  List extends string = string,
  Written = unknown,
  Desired extends Entry = Entry,
  State extends object = object,
  Own = unknown,
> = ManagedKind<Desired, State, Own> & {
  /** The key of its list in files. */
  readonly list: List
  /** Whether the organization also has a list of them. */
  readonly ofOrganization: boolean
  /** The name of its list in the schema. */
  readonly plural: string
  schema(ofOrganization: boolean): JsonSchema
  /** Reads an entry of a file. */
  parse(written: Written, at: Locate, account: string | null, problems: Problem[]): Desired
  /**
   * Writes an entry of a file.
   * @param twin its identifier, if another one has its name
   * @param siblings all of its sub-account
   */
  write(state: State, twin: { id?: string }, siblings: readonly State[], writing: Writing): Written | Promise<Written>
  /**
   * Reads the resources of a service.
   * @param accountId undefined: of all sub-accounts
   * @param lists the lists of the previous kinds
   */
  read(client: Client, accountId: string | undefined, lists: object): Promise<State[]>
  /** Resolves the references in the name of an entry; undefined if one cannot be resolved. */
  resolve?(entry: Desired, planning: Planning): Promise<Desired | undefined>
  /** Whether an entry refers to other sub-accounts. */
  isWide?(entry: Desired): boolean
  /** Whether one that no entry has is needed by others. */
  isNeeded?(state: State, scope: Scope): boolean
}

/** The entries of a kind in a sub-account or the organization; undefined if no file has the list. */
export const listIn = <T>({ list }: { list: string }, lists: object): readonly T[] | undefined =>
  (lists as Readonly<Record<string, readonly T[] | undefined>>)[list]

export const entriesIn = <D extends Entry>(
  kind: { readonly list: string; parse(written: never, at: Locate, account: string | null, problems: Problem[]): D },
  lists: object,
): readonly D[] => listIn<D>(kind, lists) ?? []

/** The resources of a kind in a sub-account, or in all sub-accounts together. */
export const statesIn = <S extends object>(
  kind: { readonly list: string; nameOf(state: S): string },
  lists: object,
): readonly S[] => listIn<S>(kind, lists) ?? []

/** The owner of a resource, as a phrase to follow its name. */
export const whose = (account: string | null) => (account === null ? '' : ` of the sub-account ${account}`)

/** Caches the result of `make` for each key. */
export function once<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>()
  return (key) => {
    const known = made.get(key) ?? make(key)
    made.set(key, known)
    return known
  }
}
