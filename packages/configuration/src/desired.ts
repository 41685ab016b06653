import type { AlertRule, EventType } from '@penstock/wire'
import type { Position } from './problems.ts'

/** What the files say, put together. */

export type Value = string | number | boolean | null | readonly string[]
export type Values = Readonly<Record<string, Value>>

/** Says where a part of an entry is, to name it in a problem. */
export type Locate = (...path: readonly (string | number)[]) => Position

export type DesiredConnector = {
  readonly slug: string
  readonly name?: string | undefined
  readonly secretName?: string | undefined
  /** As written: with references. */
  readonly settings: Values
  readonly secrets: Readonly<Record<string, string | null>>
  readonly at: Locate
}

export type DesiredSide = { readonly slug: string; readonly settings: Values }

export type DesiredSchedule = { readonly cron: string; readonly timezone: string; readonly enabled: boolean }

export type DesiredConnection = {
  readonly name: string
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly source: DesiredSide
  readonly destination: DesiredSide
  readonly mapping?: Readonly<Record<string, unknown>> | undefined
  readonly schedule?: DesiredSchedule | undefined
  readonly status?: 'active' | 'disabled' | undefined
  readonly at: Locate
}

export type DesiredWebhook = {
  /** As written: with references. */
  readonly url: string
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly description: string
  readonly eventTypes: EventType[] | null
  readonly enabled?: boolean | undefined
  readonly at: Locate
}

export type DesiredAlertRule = Pick<AlertRule, 'name' | 'conditions' | 'emails' | 'emailRoles'> & {
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly enabled?: boolean | undefined
  /** By the names of the sub-account and the connection; null: all. */
  readonly connections: readonly { readonly account: string; readonly name: string }[] | null
  readonly secrets: { readonly slackUrl?: string | null | undefined; readonly teamsUrl?: string | null | undefined }
  readonly at: Locate
}

/** What the files say of the organization itself; a list that no file has is left alone. */
export type DesiredOrganization = {
  readonly webhooks?: readonly DesiredWebhook[] | undefined
  readonly alertRules?: readonly DesiredAlertRule[] | undefined
}

export type Desired = { readonly accounts: readonly DesiredAccount[]; readonly organization: DesiredOrganization }

export type DesiredAccount = {
  readonly name: string
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly enabled?: boolean | undefined
  readonly connectors: readonly DesiredConnector[]
  readonly connections: readonly DesiredConnection[]
  readonly webhooks: readonly DesiredWebhook[]
  readonly alertRules: readonly DesiredAlertRule[]
  readonly at: Locate
}
