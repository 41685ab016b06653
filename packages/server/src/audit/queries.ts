import type { AuditActorKind, AuditOutcome } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements of the audit log. Events are queued. Linking numbers them, and chains each to the event before. */

/** An event to queue. JSON values are texts. */
export type EventParameters = {
  organizationId: string
  actorKind: AuditActorKind
  actorId: string | null
  actorName: string | null
  address: string | null
  requestId: string | null
  action: string
  accountId: string | null
  targetId: string | null
  outcome: AuditOutcome
  before: string | null
  after: string | null
  details: string | null
}
export const queueEvent = statement<EventParameters>(`
  insert into audit_queue (organization_id, actor_kind, actor_id, actor_name, address, request_id, action, account_id,
    target_id, outcome, before, after, details)
  values (:organizationId, :actorKind, :actorId, :actorName, :address, :requestId, :action, :accountId, :targetId,
    :outcome, :before, :after, :details)
`)

/**
 * Queues the event of a client's sign-in, as a part of the statement that stores its token: for each row of `token`, with the row of the client in
 * `client`, and the parameters `address`, `requestId` and `action`.
 */
export const queueSignInOfClient = `
  insert into audit_queue (organization_id, actor_kind, actor_id, actor_name, address, request_id, action, target_id, outcome)
  select organization_id, 'client', id, name, :address, :requestId, :action, id, 'done' from client, token`

/** Queues events, in their order. */
export const queueEvents = statement<{ events: string }>(`
  insert into audit_queue (organization_id, actor_kind, actor_id, actor_name, address, request_id, action, account_id,
    target_id, outcome, before, after, details)
  select "organizationId", "actorKind", "actorId", "actorName", address, "requestId", action, "accountId", "targetId",
    outcome, before::jsonb, after::jsonb, details::jsonb
  from rows from (jsonb_to_recordset(:events::jsonb) as (
    "organizationId" text, "actorKind" text, "actorId" text, "actorName" text, address text, "requestId" text,
    action text, "accountId" text, "targetId" text, outcome text, before text, after text, details text
  )) with ordinality as e
  order by ordinality
`)

/** Input of the hash of an event: the text of an array, in which each value has its own quotes. */
export const content = `array[
    e.organization_id, e.number::text, extract(epoch from e.time)::text, e.actor_kind, e.actor_id, e.actor_name,
    e.address, e.request_id, e.action, e.account_id, e.target_id, e.outcome, e.before::text, e.after::text,
    e.details::text, encode(e.previous_hash, 'hex')
  ]::text`

export type AuditRow = {
  number: number
  time: Date
  actorKind: AuditActorKind
  actorId: string | null
  actorName: string | null
  address: string | null
  requestId: string | null
  action: string
  accountId: string | null
  targetId: string | null
  outcome: AuditOutcome
  before: unknown
  after: unknown
  details: unknown
  previousHash: string | null
  hash: string
}
/** The columns of an event. */
export const auditColumns = `
  e.number, e.time, e.actor_kind, e.actor_id, e.actor_name, e.address, e.request_id, e.action, e.account_id, e.target_id,
  e.outcome, e.before, e.after, e.details, encode(e.previous_hash, 'hex') as previous_hash, encode(e.hash, 'hex') as hash`

/**
 * The numbers of the events between two times, both in seconds and inclusive. Later events have higher numbers. Returns no row
 * if the organization has no events.
 */
export const findRange = statement<
  { organizationId: string; from: number | null; to: number | null },
  { firstNumber: number; lastNumber: number }
>(`
  select
    case when :from::bigint is null then h.purged_number + 1 else coalesce((
      select number from audit_events
      where organization_id = h.organization_id and time >= to_timestamp(:from)
      order by time, number limit 1
    ), h.number + 1) end as first_number,
    case when :to::bigint is null then h.number else coalesce((
      select number from audit_events
      where organization_id = h.organization_id and time < to_timestamp(:to + 1)
      order by time desc, number desc limit 1
    ), h.purged_number) end as last_number
  from audit_heads h where h.organization_id = :organizationId
`)

/** Filter of a list. `accountIds`: only events of these sub-accounts. */
export type AuditFilter = {
  organizationId: string
  accountIds: readonly string[] | null
  actorId: string | null
  action: string | null
  targetId: string | null
  firstNumber: number
  lastNumber: number
}

// Planned for the actual values: each filter has its index, and PostgreSQL picks the index of the rarest value.
const planned = { plannedEachTime: true } as const
/** The filters of a list, except sub-accounts. */
export const isKept = `
  e.organization_id = :organizationId and e.number between :firstNumber and :lastNumber
  and (:actorId::text is null or e.actor_id = :actorId)
  and (:action::text is null or e.action = :action)
  and (:targetId::text is null or e.target_id = :targetId)`

type Page = { size: number; offset: number }

const listOfAll = statement<Omit<AuditFilter, 'accountIds'> & Page, AuditRow>(
  `select ${auditColumns} from audit_events e where ${isKept} order by e.number desc limit :size offset :offset`,
  planned,
)
/** Reads up to one page of events per sub-account, from the index. */
const listOfAccounts = statement<AuditFilter & Page, AuditRow>(
  `
  select ${auditColumns}
  from unnest(:accountIds::text[]) as wanted (account_id) cross join lateral (
    select * from audit_events e where ${isKept} and e.account_id = wanted.account_id
    order by e.number desc limit :size::bigint + :offset::bigint
  ) e
  order by e.number desc limit :size offset :offset
`,
  planned,
)
const countOfAll = statement<Omit<AuditFilter, 'accountIds'>, { total: number }>(
  `select count(*) as total from audit_events e where ${isKept}`,
  planned,
)
const countOfAccounts = statement<AuditFilter, { total: number }>(
  `select count(*) as total from audit_events e where ${isKept} and e.account_id = any(:accountIds)`,
  planned,
)

/**
 * Picks the statements of a list. Without a filter, the event numbers give the count, because they have no gaps.
 * @returns `count` if the events must be counted
 */
export function auditList({ accountIds, actorId, action, targetId }: AuditFilter) {
  if (accountIds) return { list: listOfAccounts, count: countOfAccounts }
  const isFiltered = actorId !== null || action !== null || targetId !== null
  return { list: listOfAll, count: isFiltered ? countOfAll : undefined }
}

/** Where a log ends, where retention cut it, and the event that its seal covers. Hashes are hexadecimal. */
export type HeadRow = {
  organizationId: string
  number: number
  hash: string
  purgedNumber: number
  purgedHash: string | null
  sealedNumber: number | null
  sealedHash: string | null
  seal: string | null
}
/** The organizations that have an audit log, and the last event of each. */
export const selectHeads = statement<{ organizationId: string | null }, HeadRow>(`
  select organization_id, number, encode(hash, 'hex') as hash, purged_number, encode(purged_hash, 'hex') as purged_hash,
    sealed_number, encode(sealed_hash, 'hex') as sealed_hash, encode(seal, 'hex') as seal
  from audit_heads where :organizationId::text is null or organization_id = :organizationId
  order by organization_id
`)

/** The organizations that have events but no head. This happens only if someone removed the head. */
export const findHeadless = statement<{ organizationId: string | null }, { organizationId: string }>(`
  with recursive found (id) as (
    (select organization_id from audit_events order by organization_id limit 1)
    union all
    select (select organization_id from audit_events where organization_id > found.id order by organization_id limit 1)
    from found where found.id is not null
  )
  select id as organization_id from found
  where id is not null and (:organizationId::text is null or id = :organizationId)
    and not exists (select from audit_heads h where h.organization_id = found.id)
`)

/** The links of a chain in their order, each with the hash that its content has now. */
export const linksAfter = statement<
  { organizationId: string; number: number; limit: number },
  { number: number; previousHash: string | null; hash: string; computedHash: string }
>(`
  select e.number, encode(e.previous_hash, 'hex') as previous_hash, encode(e.hash, 'hex') as hash,
    encode(sha256(convert_to(${content}, 'UTF8')), 'hex') as computed_hash
  from audit_events e where e.organization_id = :organizationId and e.number > :number
  order by e.number limit :limit
`)

/** Events in their order, each with what its hash is over. */
export const eventsAfter = statement<
  { organizationId: string; number: number; limit: number },
  AuditRow & { content: string }
>(`
  select ${auditColumns}, ${content} as content
  from audit_events e where e.organization_id = :organizationId and e.number > :number order by e.number limit :limit
`)

/** The logs with events older than `days`. The first remaining event is the oldest. */
export const selectOutdated = statement<{ days: number }, { organizationId: string }>(`
  select h.organization_id from audit_heads h join audit_events e
    on e.organization_id = h.organization_id and e.number = h.purged_number + 1
  where e.time < now() - make_interval(days => :days)
`)

/** Removes the oldest events of a log that are older than that, and keeps where the chain is cut. */
export const purgeEvents = statement<{ organizationId: string; days: number; limit: number }, { removed: number }>(`
  with head as (
    select organization_id, purged_number from audit_heads where organization_id = :organizationId for no key update
  ), newest as (
    select e.organization_id, e.number, e.hash from head h join audit_events e on e.organization_id = h.organization_id
    where e.number > h.purged_number and e.number <= h.purged_number + :limit::integer
      and e.time < now() - make_interval(days => :days)
    order by e.number desc limit 1
  ), gone as (
    delete from audit_events e using newest n where e.organization_id = n.organization_id and e.number <= n.number
    returning e.number
  ), cut as (
    update audit_heads h set purged_number = n.number, purged_hash = n.hash from newest n
    where h.organization_id = n.organization_id
    returning h.number
  )
  select count(*) as removed from gone
`)
