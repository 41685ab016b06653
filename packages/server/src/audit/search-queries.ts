import { statement } from '../db/statement.ts'
import { type AuditFilter, type AuditRow, auditColumns, isKept } from './queries.ts'

/**
 * Statements that search the text of events: the actor, the address, the action in words, and the values. A target is found
 * by its name as well, with the identifiers that have this name now.
 */

/** @param like a pattern of ILIKE @param targetIds targets that have the name */
export type AuditSearch = AuditFilter & { like: string; targetIds: readonly string[] }

/** Matching events are counted up to this number. */
export const foundMax = 1_000
/** The newest events in which a text is looked for first. */
const sampled = 10_000
/** A text that more than this part of the events contain is common. */
const commonOf = 200

/** As the index of words has it: words of an action are separated, and values are searched to a length that keeps the index small. */
const text = `(coalesce(e.actor_name, '') || ' ' || coalesce(e.address, '') || ' '
    || regexp_replace(e.action, '([a-z])([A-Z])', '\\1 \\2', 'g') || ' ' || left(coalesce(e.before::text, ''), 1000) || ' '
    || left(coalesce(e.after::text, ''), 1000) || ' ' || left(coalesce(e.details::text, ''), 1000))`
const ofAccounts = 'and (:accountIds::text[] is null or e.account_id = any(:accountIds))'
const matches = `(${text} ilike :like or e.target_id = any(:targetIds))`
const found = (condition: string) => `${isKept} ${ofAccounts} and ${condition}`
/** The planner assumes that every text is rare. It does not look into a `case`, so it expects to fill the page soon. */
const expected = `case when ${matches} then true else false end`

/** Looks at the newest events of the organization, whether a text is common in them. No more are read than are sampled. */
export const sampleOf = statement<AuditSearch, { matches: number }>(
  `
  select count(*) as matches from (
    select from (
      select e.* from audit_events e
      where e.organization_id = :organizationId and e.number between greatest(:firstNumber::bigint, :lastNumber::bigint - ${sampled - 1}) and :lastNumber
      order by e.number desc limit ${sampled}
    ) e where ${expected}
  ) sample
`,
  { plannedEachTime: true },
)
/** Whether a text is so common that the log is read from its end until the page is full, and not by the index of its words. */
export const isCommon = (matches: number): boolean => matches * commonOf >= sampled

const listBy = (condition: string) => ({
  list: statement<AuditSearch & { size: number; offset: number }, AuditRow>(
    `select ${auditColumns} from audit_events e where ${found(condition)} order by e.number desc limit :size offset :offset`,
    { plannedEachTime: true },
  ),
  count: statement<AuditSearch, { total: number }>(
    `select count(*) as total from (
       select from audit_events e where ${found(condition)} order by e.number desc limit ${foundMax + 1}
     ) found`,
    { plannedEachTime: true },
  ),
})
const lists = {
  /** By the index of words. */
  rare: listBy(matches),
  /** From the end of the log. */
  common: listBy(expected),
}

/** Picks the statements of a search: one plan would not fit a rare and a common text. @param matches of the sample */
export const searchList = (matches: number) => lists[isCommon(matches) ? 'common' : 'rare']
