import { account } from './kinds/account.ts'
import { alertRule } from './kinds/alert-rule.ts'
import { connection } from './kinds/connection.ts'
import { connector } from './kinds/connector.ts'
import { purpose } from './kinds/purpose.ts'
import { transferGroup } from './kinds/transfer-group.ts'
import { webhook } from './kinds/webhook.ts'
import type { AccountState, AnyServiceState, ManagedKind, ResourceKind } from './resource-kind.ts'

/** Every kind of resource, each after the kinds that it depends on. */
const all = [connector, purpose, transferGroup, connection, webhook, alertRule]

type Kind = (typeof all)[number]
type Lists = { readonly [K in Kind as K['list']]: Awaited<ReturnType<K['read']>> }

/** The configuration of a service as its lists return it: all resources of each kind, and the resources of each sub-account. */
export type ServiceState = Lists & {
  readonly accounts: readonly (AccountState & Lists)[]
  readonly renames: AnyServiceState['renames']
}

export const kinds: readonly ResourceKind[] = all
/** The kinds that only exist in sub-accounts. */
export const inAccounts = kinds.filter(({ ofOrganization }) => !ofOrganization)
/** The kinds that also exist in the organization. */
export const owned = kinds.filter(({ ofOrganization }) => ofOrganization)
export const managed: readonly ManagedKind[] = [account, ...kinds]
