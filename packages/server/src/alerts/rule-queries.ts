import { type AlertChannel, type AlertConditions, alertConditionNames, type UserRole } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import { columnOf, conditionColumns } from './condition-columns.ts'

/** Statements about alert rules. */

export type DeliveryError = { channel: AlertChannel; message: string; time: number }

export type RuleRow = AlertConditions & {
  id: string
  organizationId: string
  accountId: string | null
  name: string
  connectionIds: string[] | null
  enabled: boolean
  emails: string[]
  emailRoles: UserRole[]
  dataKeyId: string | null
  slackSealed: Buffer | null
  teamsSealed: Buffer | null
  /** Null once it has passed. */
  mutedUntil: Date | null
  deliveryError: DeliveryError | null
  openIncidents: number
  createdTime: Date
  updatedTime: Date
  /** Another one after each change. */
  version: string
}
const columns = `
  r.id, r.organization_id, r.account_id, r.name, r.connection_ids, r.enabled, ${conditionColumns},
  r.emails, r.email_roles, r.data_key_id, r.slack_sealed, r.teams_sealed, case when r.muted_until > now() then r.muted_until end as muted_until, r.delivery_error,
  (select count(*) from alert_incidents where rule_id = r.id and resolved_time is null) as open_incidents,
  r.created_time, r.updated_time, extract(epoch from r.updated_time)::text as version`

/**
 * Rules that the actor can see. A rule of the whole organization is visible to actors without limits, a rule of a
 * deleted sub-account to no actor.
 */
type Visible = { organizationId: string; accountIds: readonly string[] | null }
const isVisible = `
  r.organization_id = :organizationId and (:accountIds::text[] is null or r.account_id = any(:accountIds))
  and coalesce((select deleted_time is null from accounts where id = r.account_id), true)`

type Filter = Visible & { accountId: string | null; like: string | null }
const isListed = `${isVisible} and (:accountId::text is null or r.account_id = :accountId)
  and (:like::text is null or r.name ilike :like)`

export const listRules = statement<Filter & { size: number; offset: number }, RuleRow>(`
  select ${columns} from alert_rules r where ${isListed}
  order by r.created_time desc, r.id desc limit :size offset :offset
`)
export const countRules = statement<Filter, { total: number }>(`
  select count(*) as total from alert_rules r where ${isListed}
`)

export const findRule = statement<Visible & { id: string }, RuleRow>(`
  select ${columns} from alert_rules r where r.id = :id and ${isVisible}
`)
export const lockRule = statement<Visible & { id: string }, RuleRow>(`
  select ${columns} from alert_rules r where r.id = :id and ${isVisible} for no key update
`)

/** Has rules of an organization created one after another, so that their number is right. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
export const countForQuota = statement<
  { organizationId: string; accountId: string | null },
  { total: number; ofAccount: number }
>(`
  select count(*) as total, count(*) filter (where account_id = :accountId) as of_account
  from alert_rules where organization_id = :organizationId
`)

/** Filters connections to existing ones, in the organization or in one of its sub-accounts. */
export const findConnections = statement<
  { organizationId: string; accountId: string | null; ids: readonly string[] },
  { id: string }
>(`
  select id from connections
  where id = any(:ids) and organization_id = :organizationId and (:accountId::text is null or account_id = :accountId)
    and status <> 'deleted' and not account_deleted
`)

/** Content of a rule, without its owner. */
export type RuleContent = AlertConditions & {
  id: string
  name: string
  connectionIds: readonly string[] | null
  enabled: boolean
  emails: readonly string[]
  emailRoles: readonly UserRole[]
  dataKeyId: string | null
  slackSealed: Buffer | null
  teamsSealed: Buffer | null
}
export const insertRule = statement<RuleContent & { organizationId: string; accountId: string | null }>(`
  insert into alert_rules (id, organization_id, account_id, name, connection_ids, enabled, ${conditionColumns},
    emails, email_roles, data_key_id, slack_sealed, teams_sealed)
  values (:id, :organizationId, :accountId, :name, :connectionIds, :enabled,
    ${alertConditionNames.map((name) => `:${name}`).join(', ')},
    :emails, :emailRoles, :dataKeyId, :slackSealed, :teamsSealed)
`)
export const updateRule = statement<RuleContent & { clearError: boolean }>(`
  update alert_rules set
    name = :name, connection_ids = :connectionIds, enabled = :enabled,
    ${alertConditionNames.map((name) => `${columnOf(name)} = :${name}`).join(', ')},
    emails = :emails, email_roles = :emailRoles, data_key_id = :dataKeyId,
    slack_sealed = :slackSealed, teams_sealed = :teamsSealed,
    delivery_error = case when not :clearError then delivery_error end, updated_time = now()
  where id = :id
`)
export const muteRule = statement<{ id: string; until: Date | null }>(`
  update alert_rules set muted_until = :until, updated_time = now() where id = :id
`)
export const deleteRule = statement<{ id: string }>(`delete from alert_rules where id = :id`)
