import type { ConnectionTemplate, Scope, UserRole } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** The current state of the actor that created a link. */
export type CreatorRow = {
  clientId: string | null
  /** Client credentials that exist, were not revoked and have not expired. */
  clientCounts: boolean | null
  clientScopes: Scope[] | null
  clientAccountIds: string[] | null
  /** Null: there is no such person any more. */
  userRole: UserRole | null
  userAccountIds: string[] | null
}
const creatorColumns = `
  l.client_id, c.id is not null and c.revoked_time is null and (c.expires_time is null or c.expires_time > now()) as client_counts,
  c.scopes as client_scopes, c.account_ids as client_account_ids, u.role as user_role, u.account_ids as user_account_ids`
const creators = 'left join clients c on c.id = l.client_id left join users u on u.id = l.user_id'

export type LinkRow = CreatorRow & {
  id: string
  accountId: string
  connectorIds: string[]
  /** The configuration of each connector, in the same order. Empty means the first configuration. */
  configurationIds: string[]
  template: ConnectionTemplate | null
  redirectUrl: string | null
  createdTime: Date
  expiresTime: Date
  expired: boolean
  openedTime: Date | null
  finishedTime: Date | null
  revokedTime: Date | null
  outcome: 'completed' | 'cancelled' | null
  connectionId: string | null
}
const linkColumns = `${creatorColumns},
  l.id, l.account_id, l.connector_ids, l.configuration_ids, l.template, l.redirect_url, l.created_time, l.expires_time,
  l.expires_time <= now() as expired, l.opened_time, l.finished_time, l.revoked_time, l.outcome, l.connection_id`

/** A link of the organization, in a sub-account that is not deleted and that the actor can see. */
const visible = `
  l.organization_id = :organizationId and a.deleted_time is null
    and (:accountIds::text[] is null or l.account_id = any(:accountIds))`
const ofAccounts = 'from connect_links l join accounts a on a.id = l.account_id'
const withCreator = `${ofAccounts} ${creators}`

/** A link that has not ended. `creator.ts` checks separately what its creator can do now. */
const live = `
  l.finished_time is null and l.revoked_time is null and l.expires_time > now() and a.deleted_time is null`

/** Links of one organization are created one after another, so that each counts those before it. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
export const countUsable = statement<
  { organizationId: string; accountId: string },
  { total: number; ofAccount: number }
>(`
  select count(*) as total, count(*) filter (where account_id = :accountId) as of_account from connect_links
  where organization_id = :organizationId and finished_time is null and revoked_time is null and expires_time > now()
    and account_id in (select id from accounts where organization_id = :organizationId and deleted_time is null)
`)

export const insertLink = statement<
  {
    id: string
    organizationId: string
    accountId: string
    digest: Buffer
    connectorIds: readonly string[]
    configurationIds: readonly string[]
    template: string | null
    redirectUrl: string | null
    clientId: string | null
    userId: string | null
    seconds: number
  },
  LinkRow
>(`
  with l as (
    insert into connect_links (id, organization_id, account_id, digest, connector_ids, configuration_ids, template, redirect_url,
      client_id, user_id, expires_time)
    values (:id, :organizationId, :accountId, :digest, :connectorIds, :configurationIds, :template, :redirectUrl, :clientId, :userId,
      now() + make_interval(secs => :seconds))
    returning *
  )
  select ${linkColumns} from l ${creators}
`)

/**
 * Planned for the actual values. A shared plan would search all links of the organization for the few links of a sub-account.
 */
export const listLinks = statement<
  {
    organizationId: string
    accountId: string | null
    accountIds: readonly string[] | null
    size: number
    offset: number
  },
  LinkRow
>(
  `
  select ${linkColumns} ${withCreator}
  where ${visible} and (:accountId::text is null or l.account_id = :accountId)
  order by l.created_time desc, l.id desc limit :size offset :offset
`,
  { plannedEachTime: true },
)
export const countLinks = statement<
  { organizationId: string; accountId: string | null; accountIds: readonly string[] | null },
  { total: number }
>(
  `
  select count(*) as total ${ofAccounts}
  where ${visible} and (:accountId::text is null or l.account_id = :accountId)
`,
  { plannedEachTime: true },
)
export const findLink = statement<
  { organizationId: string; accountIds: readonly string[] | null; id: string },
  LinkRow
>(`
  select ${linkColumns} ${withCreator} where l.id = :id and ${visible}
`)
export const lockLink = statement<
  { organizationId: string; accountIds: readonly string[] | null; id: string },
  LinkRow
>(`
  select ${linkColumns} ${withCreator} where l.id = :id and ${visible} for no key update of l
`)
export const revokeLink = statement<{ id: string }>(`
  update connect_links set revoked_time = now() where id = :id and revoked_time is null and finished_time is null
`)

export type PageRow = LinkRow & {
  organizationId: string
  organizationName: string
  accountName: string
  env: string
}
/** A link that has not ended, by the digest of its token or, once it is open, of the token of its page. */
const pageColumns = `${linkColumns}, l.organization_id, o.name as organization_name, a.name as account_name, a.env`
const livePage = `${withCreator} join organizations o on o.id = l.organization_id`
export const findUnopened = statement<{ digest: Buffer }, PageRow>(`
  select ${pageColumns} ${livePage} where l.digest = :digest and l.opened_time is null and ${live}
`)
export const findOpen = statement<{ digest: Buffer }, PageRow>(`
  select ${pageColumns} ${livePage} where l.page_digest = :digest and ${live}
`)
export const findOpenById = statement<{ id: string }, LinkRow>(`
  select ${linkColumns} ${withCreator} where l.id = :id and l.opened_time is not null and ${live}
`)
/** The same, locked: of two that finish, one does. */
export const lockOpen = statement<{ digest: Buffer }, PageRow>(`
  select ${pageColumns} ${livePage} where l.page_digest = :digest and ${live} for no key update of l
`)
/** The first browser that opens a link owns it. */
export const openLink = statement<{ id: string; pageDigest: Buffer; minutes: number }, { expiresTime: Date }>(`
  update connect_links set opened_time = now(), page_digest = :pageDigest,
    expires_time = now() + make_interval(mins => :minutes)
  where id = :id and opened_time is null and revoked_time is null and expires_time > now()
  returning expires_time
`)
export const finishLink = statement<{ id: string; outcome: 'completed' | 'cancelled'; connectionId: string | null }>(`
  update connect_links set finished_time = now(), outcome = :outcome, connection_id = :connectionId where id = :id
`)

/** The origins that can show the page of a link in a frame, whatever the state of the link. */
export const findOrigins = statement<{ id: string }, { allowedOrigins: string[] }>(`
  select b.allowed_origins from connect_links l join organization_branding b on b.organization_id = l.organization_id
  where l.id = :id
`)

export type BrandingRow = {
  name: string | null
  logo: string | null
  primaryColour: string | null
  textColour: string | null
  allowedOrigins: string[]
}
export const findBranding = statement<{ organizationId: string }, BrandingRow>(`
  select name, logo, primary_colour, text_colour, allowed_origins from organization_branding
  where organization_id = :organizationId
`)
export const saveBranding = statement<{
  organizationId: string
  name: string | null
  logo: string | null
  primaryColour: string | null
  textColour: string | null
  allowedOrigins: readonly string[]
}>(`
  insert into organization_branding (organization_id, name, logo, primary_colour, text_colour, allowed_origins)
  values (:organizationId, :name, :logo, :primaryColour, :textColour, :allowedOrigins)
  on conflict (organization_id) do update set name = excluded.name, logo = excluded.logo,
    primary_colour = excluded.primary_colour, text_colour = excluded.text_colour,
    allowed_origins = excluded.allowed_origins
`)

export const deleteOldLinks = statement<{ days: number; limit: number }>(`
  delete from connect_links where id = any(array(
    select id from connect_links where expires_time < now() - make_interval(days => :days)
    order by expires_time limit :limit
  ))
`)
