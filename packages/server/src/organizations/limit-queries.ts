import { notifyOf } from '../db/notices.ts'
import { statement } from '../db/statement.ts'

/** Statements of the limits of organizations, and of the figures that they bound. */

type Of = { organizationId: string }

export const findLimit = statement<Of & { name: string }, { value: number }>(`
  select value from organization_limits where organization_id = :organizationId and name = :name
`)
export const listLimits = statement<Of, { name: string; value: number }>(`
  select name, value from organization_limits where organization_id = :organizationId
`)
export const saveLimit = statement<Of & { name: string; value: number }>(`
  insert into organization_limits (organization_id, name, value) values (:organizationId, :name, :value)
  on conflict (organization_id, name) do update set value = excluded.value, saved_time = now()
`)
export const dropLimit = statement<Of & { name: string }>(`
  delete from organization_limits where organization_id = :organizationId and name = :name
`)

/** The organizations with their own value of a limit. */
export const ownLimits = statement<{ name: string }, { organizationId: string; value: number }>(`
  select organization_id, value from organization_limits where name = :name
`)
/** A limit of an organization changed. */
export const limitsTopic = 'organization-limits'
export const announceLimit = statement(notifyOf(limitsTopic))

/** One after another, what counts against a limit of an organization is added. */
export const holdLimit = statement<Of & { name: string }, { held: string }>(`
  select pg_advisory_xact_lock(hashtext('penstock limit ' || :name), hashtext(:organizationId))::text as held
`)

/** Rows that were delivered in this month. */
const monthlyRows = (organization: string) => `
  (select coalesce(sum(r.rows), 0)::bigint from organization_rows r
   where r.organization_id = ${organization} and r.month = to_char(now() at time zone 'UTC', 'YYYY-MM'))`

/**
 * Organizations of a list that have used up their rows of the month. @param rowsMax the limit of an organization without its
 * own; 0: no limit
 */
export const withoutRows = statement<
  { organizationIds: readonly string[]; rowsMax: number },
  { organizationId: string; rows: number; rowsMax: number; own: boolean }
>(`
  select o.id as organization_id, u.rows, coalesce(l.value, :rowsMax::bigint) as rows_max, l.value is not null as own
  from unnest(:organizationIds::text[]) as o (id)
  left join organization_limits l on l.organization_id = o.id and l.name = 'rows-per-month'
  cross join lateral (
    select case when coalesce(l.value, :rowsMax) > 0 then ${monthlyRows('o.id')} end as rows
  ) u
  where coalesce(l.value, :rowsMax) > 0 and u.rows >= coalesce(l.value, :rowsMax)
`)

/** Bytes that rejected records keep, as the transfers count them. */
const rejectBytes = (organization: string) => `
  (select coalesce(sum(kept_bytes), 0)::bigint from transfers t where t.organization_id = ${organization} and t.kept_bytes > 0)`
const uploadBytes = (organization: string) => `
  (select coalesce(sum(size_bytes), 0)::bigint from uploads u where u.organization_id = ${organization} and u.expires_time > now())`
const uploadFiles = (organization: string) => `
  (select count(*) from uploads u where u.organization_id = ${organization} and u.expires_time > now())`
/** The length of a stored value is known without reading it. */
const digestBytes = (organization: string) => `
  (
    select coalesce(sum(octet_length(d.digests) + coalesce(octet_length(d.keys_sealed), 0)), 0)::bigint
    from connections c join connection_digests d on d.connection_id = c.id where c.organization_id = ${organization}
  )`

export const keptRejectBytes = statement<Of, { bytes: number }>(`select ${rejectBytes(':organizationId')} as bytes`)
export const keptDigestBytes = statement<Of, { bytes: number }>(`select ${digestBytes(':organizationId')} as bytes`)
export const keptUploads = statement<Of, { bytes: number; files: number }>(`
  select ${uploadBytes(':organizationId')} as bytes, ${uploadFiles(':organizationId')} as files
`)

export type FiguresRow = {
  id: string
  name: string
  accounts: number
  inProgress: number
  active: number
  broken: number
  offline: number
  disabled: number
  deleted: number
  schedules: number
  transfersRunning: number
  transfersQueued: number
  rowsThisMonth: number
  uploads: number
  uploadBytes: number
  rejectBytes: number
  digestBytes: number
  logBytes: number
}
/** The figures of one organization, or of all, the oldest first. They read each transfer log, so that they take a while. */
export const figuresOf = statement<{ organizationId: string | null }, FiguresRow>(
  `
  select o.id, o.name, k.accounts, k.in_progress, k.active, k.broken, k.offline, k.disabled, k.deleted,
    (select count(*) from schedules s join connections c on c.id = s.connection_id
     where s.organization_id = o.id and s.enabled and c.status <> 'deleted') as schedules,
    (select count(*) from active_transfers a where a.organization_id = o.id and a.running) as transfers_running,
    (select count(*) from active_transfers a where a.organization_id = o.id and not a.running) as transfers_queued,
    ${monthlyRows('o.id')} as rows_this_month,
    ${uploadFiles('o.id')} as uploads, ${uploadBytes('o.id')} as upload_bytes, ${rejectBytes('o.id')} as reject_bytes,
    ${digestBytes('o.id')} as digest_bytes,
    (select coalesce(sum(pg_column_size(l.lines)), 0)::bigint from transfers t join transfer_logs l on l.transfer_id = t.id
     where t.organization_id = o.id) as log_bytes
  from organizations o
  cross join lateral (
    select coalesce(sum(accounts), 0)::bigint as accounts, coalesce(sum(in_progress), 0)::bigint as in_progress,
      coalesce(sum(active), 0)::bigint as active, coalesce(sum(broken), 0)::bigint as broken,
      coalesce(sum(offline), 0)::bigint as offline, coalesce(sum(disabled), 0)::bigint as disabled,
      coalesce(sum(deleted), 0)::bigint as deleted
    from organization_counts where organization_id = o.id
  ) k
  where :organizationId::text is null or o.id = :organizationId
  order by o.created_time, o.id
`,
  // An organization can have a few connections or most of them: each is read in another way.
  { plannedEachTime: true },
)
