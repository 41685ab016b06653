import { statement } from '../db/statement.ts'

/** Statements that count mails. */

/** The addresses of a list, in lower case, that belong to members of the organization who can sign in. */
export const selectMembers = statement<{ organizationId: string; emails: readonly string[] }, { email: string }>(`
  select lower(email) as email from users
  where organization_id = :organizationId and joined_time is not null and deactivated_time is null
    and lower(email) = any(:emails)
`)

const isOver = `m.since <= now() - interval '1 hour'`
/** Locks the counts of some keys, in one order for all, and starts those again whose hour is over. */
export const lockCounts = statement<{ keys: readonly string[] }, { key: string; mails: number; secondsLeft: number }>(`
  insert into mail_counts as m (key, since, mails)
  select key, now(), 0 from unnest(:keys::text[]) as key order by key
  on conflict (key) do update set
    since = case when ${isOver} then now() else m.since end, mails = case when ${isOver} then 0 else m.mails end
  returning key, mails, greatest(ceil(extract(epoch from since + interval '1 hour' - now())), 1)::integer as seconds_left
`)
/** Adds to counts that are locked, or subtracts a mail that was not sent. */
export const addToCounts = statement<{ added: string }>(`
  update mail_counts m set mails = greatest(m.mails + a.mails, 0)
  from jsonb_to_recordset(:added::jsonb) as a (key text, mails integer) where m.key = a.key
`)
export const purgeCounts = statement<{ limit: number }>(`
  delete from mail_counts where key = any(array(
    select key from mail_counts m where ${isOver} order by key limit :limit for update skip locked
  ))
`)
