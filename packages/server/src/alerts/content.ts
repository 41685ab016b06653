import type { AlertReason, AlertResolution } from '@penstock/wire'

/** Content of a message, independent of its channel. It contains no secret and no value of a record. */
export type AlertContent = {
  readonly kind: 'opened' | 'resolved' | 'test'
  readonly ruleId: string
  readonly ruleName: string
  /** The sub-account of the rule. Null means that the rule belongs to the organization. */
  readonly accountId: string | null
  /** The number of incidents that the message covers. `items` contains the first of them. */
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
  /** The person who is responsible for the connection. Null or omitted if there is no such person. */
  readonly ownerName?: string | null
  readonly reasons: readonly AlertReason[]
  /** The numbers of the reasons, a sentence each. */
  readonly numbers?: readonly string[]
  readonly errorCode: string | null
  /** The connector that failed. Null if no connector failed. */
  readonly platform: string | null
  /** The table of the side that failed. Null or omitted if there is no such table. */
  readonly table?: string | null
  /** The names of the first columns that changed. */
  readonly columns?: readonly string[]
  readonly transferId: string | null
  /** Unix time in seconds. */
  readonly since: number
  readonly until: number | null
  readonly resolution: AlertResolution | null
}
