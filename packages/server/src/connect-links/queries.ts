import type { ConnectionTemplate } from '@penstock/wire'
import { statement } from '../db/statement.ts'

export type LinkRow = {
  id: string
  accountId: string
  connectorIds: string[]
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
const linkColumns = `
  l.id, l.account_id, l.connector_ids, l.template, l.redirect_url, l.created_time, l.expires_time,
  l.expires_time <= now() as expired, l.opened_time, l.finished_time, l.revoked_time, l.outcome, l.connection_id`

/** A link of the organization, in a sub-account that is not deleted and that the actor may see. */
const visible = `
  l.organization_id = :organizationId and a.deleted_time is null
    and (:accountIds::text[] is null or l.account_id = any(:accountIds))`
const ofAccounts = 'from connect_links l join accounts a on a.id = l.account_id'

/** A link that can be used: neither it nor what it depends on has ended. */
const usable = `
  l.finished_time is null and l.revoked_time is null and l.expires_time > now() and a.deleted_time is null
    and (l.client_id is null or c.revoked_time is null and (c.expires_time is null or c.expires_time > now()))
    and (l.user_id is null or u.id is not null)`
const withCreator = `${ofAccounts}
  left join clients c on c.id = l.client_id left join users u on u.id = l.user_id`

/** Links of one organization are created one after another, so that each counts those before it. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
export const countUsable = statement<{ organizationId: string }, { total: number }>(`
  select count(*) as total from connect_links
  where organization_id = :organizationId and finished_time is null and revoked_time is null and expires_time > now()
`)

export const insertLink = statement<
  {
    id: string
    organizationId: string
    accountId: string
    digest: Buffer
    connectorIds: readonly string[]
    template: string | null
    redirectUrl: string | null
    clientId: string | null
    userId: string | null
    seconds: number
  },
  LinkRow
>(`
  insert into connect_links as l (id, organization_id, account_id, digest, connector_ids, template, redirect_url,
    client_id, user_id, expires_time)
  values (:id, :organizationId, :accountId, :digest, :connectorIds, :template, :redirectUrl, :clientId, :userId,
    now() + make_interval(secs => :seconds))
  returning ${linkColumns}
`)

export const listLinks = statement<
  {
    organizationId: string
    accountId: string | null
    accountIds: readonly string[] | null
    size: number
    offset: number
  },
  LinkRow
>(`
  select ${linkColumns} ${ofAccounts}
  where ${visible} and (:accountId::text is null or l.account_id = :accountId)
  order by l.created_time desc, l.id desc limit :size offset :offset
`)
export const countLinks = statement<
  { organizationId: string; accountId: string | null; accountIds: readonly string[] | null },
  { total: number }
>(`
  select count(*) as total ${ofAccounts}
  where ${visible} and (:accountId::text is null or l.account_id = :accountId)
`)
export const findLink = statement<
  { organizationId: string; accountIds: readonly string[] | null; id: string },
  LinkRow
>(`
  select ${linkColumns} ${ofAccounts} where l.id = :id and ${visible}
`)
export const lockLink = statement<
  { organizationId: string; accountIds: readonly string[] | null; id: string },
  LinkRow
>(`
  select ${linkColumns} ${ofAccounts} where l.id = :id and ${visible} for no key update of l
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
/** A link that can be used, by the digest of its token or, once it is open, of the token of its page. */
const pageColumns = `${linkColumns}, l.organization_id, o.name as organization_name, a.name as account_name, a.env`
const usablePage = `${withCreator} join organizations o on o.id = l.organization_id`
export const findUnopened = statement<{ digest: Buffer }, PageRow>(`
  select ${pageColumns} ${usablePage} where l.digest = :digest and l.opened_time is null and ${usable}
`)
export const findOpen = statement<{ digest: Buffer }, PageRow>(`
  select ${pageColumns} ${usablePage} where l.page_digest = :digest and ${usable}
`)
/** The same, locked: of two that finish, one does. */
export const lockOpen = statement<{ digest: Buffer }, PageRow>(`
  select ${pageColumns} ${usablePage} where l.page_digest = :digest and ${usable} for no key update of l
`)
/** The first who opens a link has it. */
export const openLink = statement<{ id: string; pageDigest: Buffer; minutes: number }, { expiresTime: Date }>(`
  update connect_links set opened_time = now(), page_digest = :pageDigest,
    expires_time = now() + make_interval(mins => :minutes)
  where id = :id and opened_time is null and revoked_time is null
  returning expires_time
`)
export const finishLink = statement<{ id: string; outcome: 'completed' | 'cancelled'; connectionId: string | null }>(`
  update connect_links set finished_time = now(), outcome = :outcome, connection_id = :connectionId where id = :id
`)

/** The origins that may show the page of a link in a frame, whatever became of it. */
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
  delete from connect_links where id in (
    select id from connect_links where expires_time < now() - make_interval(days => :days) limit :limit
  )
`)
