import type { AlertReason, AlertResolution } from '@penstock/wire'

/** Content of a message, independent of its channel. It contains no secret and no value of a record. */
export type AlertContent = {
  readonly kind: 'opened' | 'resolved' | 'test'
  readonly ruleId: string
  readonly ruleName: string
  /** The sub-account of the rule; null: it is of the organization. */
  readonly accountId: string | null
  /** How many incidents it is about; `items` has the first of them. */
  readonly total: number
  readonly items: readonly AlertItem[]
  /** Incidents that are alike, the most first. */
  readonly groups: readonly { readonly count: number; readonly like: AlertItem }[]
}

export type AlertItem = {
  readonly incidentId: string
  readonly accountId: string
  readonly accountName: string
  readonly connectionId: string
  readonly connectionName: string
  /** The person who is responsible for the connection; null or left out: none. */
  readonly ownerName?: string | null
  readonly reasons: readonly AlertReason[]
  /** The numbers of the reasons, a sentence each. */
  readonly numbers?: readonly string[]
  readonly errorCode: string | null
  /** The connector at which it failed; null: none. */
  readonly platform: string | null
  /** The table of the side that failed; null or left out: none. */
  readonly table?: string | null
  /** The names of the first columns that changed. */
  readonly columns?: readonly string[]
  readonly transferId: string | null
  /** Unix time in seconds. */
  readonly since: number
  readonly until: number | null
  readonly resolution: AlertResolution | null
}
