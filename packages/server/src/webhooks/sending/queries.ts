import { statement } from '../../db/statement.ts'

/** Statements that send deliveries. Due times come from the sender. The database measures leases. */

export type LeasedRow = {
  id: string
  organizationId: string
  accountId: string | null
  url: string
  dataKeyId: string
  secretSealed: Buffer
  previousSecretSealed: Buffer | null
  isFailing: boolean
  /** It failed last, or answered slowly. */
  isSlow: boolean
}
const leased = `
  w.id, w.organization_id, w.account_id, w.url, w.data_key_id, w.secret_sealed,
  case when w.previous_secret_until > now() then w.previous_secret_sealed end as previous_secret_sealed,
  w.failing_since is not null as is_failing, w.slow or w.failing_since is not null as is_slow`

/** The webhooks for which something waits, found in the index, one after the other. */
const queued = `
  with recursive queued (id) as (
    (select webhook_id from webhook_deliveries where status = 'pending' order by webhook_id limit 1)
    union all
    select (
      select webhook_id from webhook_deliveries where status = 'pending' and webhook_id > q.id order by webhook_id limit 1
    ) from queued q where q.id is not null
  )`
const isSendable = `
  w.enabled and not exists (select from accounts a where a.id = w.account_id and a.deleted_time is not null)`

/** A session of this process: it counts in the lane that it was leased in, until it is `overdue`. */
export type HeldSession = {
  readonly organizationId: string
  /** Empty: of the organization itself. */
  readonly accountId: string
  readonly lane: 'quick' | 'slow' | 'overdue'
}
const isFree = `(w.lease_until is null or w.lease_until < now())`
const pickedOf = (lane: 'quick' | 'slow') => `
  select w.id from ranked r join webhooks w on w.id = r.id
  where r.lane = '${lane}' and ${isFree}
  order by r.organization_load, r.turn_time, r.id limit :${lane}Free for no key update of w skip locked`

/**
 * Leases webhooks that may have due deliveries. Webhooks whose last requests failed or were slow have separate slots. `most`
 * limits the slots of each organization and each sub-account, and `mostHeld` their sessions in total. The next slot goes to the
 * organization with the fewest slots, in it to the sub-account with the fewest, and in that to the webhook whose last turn is
 * the longest ago. While schedules are paused after a restore, nothing is sent either.
 */
export const leaseWebhooks = statement<
  {
    leaseId: string
    seconds: number
    now: Date
    /** `HeldSession`s of this process. */
    held: string
    quickFree: number
    slowFree: number
    mostOfAccount: number
    mostHeldOfAccount: number
    mostOfOrganization: number
    mostHeldOfOrganization: number
  },
  LeasedRow
>(`
  ${queued},
  held as (
    select * from jsonb_to_recordset(:held::jsonb) as ("organizationId" text, "accountId" text, lane text)
  ),
  waiting as (
    select w.id, w.organization_id, coalesce(w.account_id, '') as account_id, w.turn_time,
      case when w.slow or w.failing_since is not null then 'slow' else 'quick' end as lane
    from queued q join webhooks w on w.id = q.id
    where ${isSendable} and ${isFree} and (w.look_again_time is null or w.look_again_time <= :now)
      and not exists (select from schedule_pauses where reason = 'restore')
  ),
  held_of_accounts as (
    select "organizationId", "accountId", count(*) as sessions, count(*) filter (where lane = 'quick') as quick,
      count(*) filter (where lane = 'slow') as slow
    from held group by 1, 2
  ),
  held_of_organizations as (
    select "organizationId", sum(sessions) as sessions, sum(quick) as quick, sum(slow) as slow
    from held_of_accounts group by 1
  ),
  of_accounts as (
    select w.*,
      coalesce(case w.lane when 'quick' then h.quick else h.slow end, 0) + row_number() over account as account_place,
      coalesce(h.sessions, 0) + row_number() over account as account_load
    from waiting w left join held_of_accounts h
      on h."organizationId" = w.organization_id and h."accountId" = w.account_id
    window account as (partition by w.lane, w.organization_id, w.account_id order by w.turn_time, w.id)
  ),
  of_organizations as (
    select a.*,
      coalesce(case a.lane when 'quick' then h.quick else h.slow end, 0) + row_number() over organization
        as organization_place,
      coalesce(h.sessions, 0) + row_number() over organization as organization_load
    from of_accounts a left join held_of_organizations h on h."organizationId" = a.organization_id
    where a.account_place <= :mostOfAccount::integer and a.account_load <= :mostHeldOfAccount::integer
    window organization as (partition by a.lane, a.organization_id order by a.account_load, a.turn_time, a.id)
  ),
  ranked as (
    select * from of_organizations
    where organization_place <= :mostOfOrganization::integer and organization_load <= :mostHeldOfOrganization::integer
  ),
  picked_quick as (${pickedOf('quick')}),
  picked_slow as (${pickedOf('slow')})
  update webhooks w set
    lease_id = :leaseId, lease_until = now() + make_interval(secs => :seconds), turn_time = now()
  from (select id from picked_quick union all select id from picked_slow) p where w.id = p.id
  returning ${leased}
`)
/** Renews leases, and reads the current webhooks. Deleted and disabled webhooks are omitted. */
export const renewLeases = statement<{ leaseId: string; seconds: number; ids: readonly string[] }, LeasedRow>(`
  update webhooks w set lease_until = now() + make_interval(secs => :seconds)
  where w.id = any (:ids) and w.lease_id = :leaseId and w.lease_until > now() and ${isSendable}
  returning ${leased}
`)
/** @param slow null: nothing was sent, so it stays as it was */
export const endLease = statement<{
  leaseId: string
  id: string
  lookAgainTime: Date | null
  slow: boolean | null
}>(`
  update webhooks set
    lease_id = null, lease_until = null, look_again_time = :lookAgainTime, turn_time = now(), slow = coalesce(:slow, slow)
  where id = :id and lease_id = :leaseId
`)

export type DueRow = {
  id: string
  number: number
  eventId: string
  orderingKey: string
  attempts: number
  retries: number
  queuedTime: Date
  payload: string
}
/** The ordering keys of what waits for a webhook, from one on, one after the other in the index. */
const keys = `
  with recursive keys (key) as (
    (
      select ordering_key from webhook_deliveries
      where webhook_id = :webhookId and status = 'pending' and (:after::text is null or ordering_key > :after)
      order by ordering_key limit 1
    )
    union all
    select (
      select ordering_key from webhook_deliveries
      where webhook_id = :webhookId and status = 'pending' and ordering_key > k.key order by ordering_key limit 1
    ) from keys k where k.key is not null
  ),
  heads as (
    select k.key, h.next_time from keys k cross join lateral (
      select next_time from webhook_deliveries
      where webhook_id = :webhookId and status = 'pending' and ordering_key = k.key order by number limit 1
    ) h
  )`
/** Due deliveries, the next few of some keys: the first pending delivery of a key delays all behind it. */
export const selectDue = statement<
  {
    webhookId: string
    after: string | null
    busy: readonly string[]
    now: Date
    keys: number
    ofKey: number
  },
  DueRow
>(`
  ${keys}
  select d.id, d.number, d.event_id, d.ordering_key, d.attempts, d.queued_time, e.payload,
    case when d.attempts = 0 then 0 else (
      select count(*)::integer from webhook_attempts a where a.delivery_id = d.id and a.time >= d.queued_time
    ) end as retries
  from (select key from heads where next_time <= :now and key <> all (:busy) limit :keys) due
  cross join lateral (
    select * from webhook_deliveries
    where webhook_id = :webhookId and status = 'pending' and ordering_key = due.key and next_time <= :now
    order by number limit :ofKey
  ) d
  join events e on e.id = d.event_id
  order by d.ordering_key, d.number
`)
/** When the next delivery is due. Null if nothing waits. */
export const selectNextTime = statement<{ webhookId: string; after: string | null }, { nextTime: Date | null }>(
  `${keys} select min(next_time) as next_time from heads`,
)

/**
 * Stores how attempts ended, of webhooks that this sender has leased, with what they say about the webhook, and counts them.
 * Returns the webhooks that have failed since before the given time.
 */
export const saveAttempts = statement<
  { leaseId: string; results: string; attemptsMax: number; failedSince: Date },
  { id: string }
>(`
  with results as (
    select * from jsonb_to_recordset(:results::jsonb) as (
      id text, "webhookId" text, number integer, outcome text, "time" timestamptz, "durationMs" integer,
      "responseStatus" integer, "errorCode" text, "errorMessage" text, answer text, "nextTime" timestamptz
    )
  ),
  held as (
    select id from webhooks where id in (select "webhookId" from results) and lease_id = :leaseId
    order by id for no key update
  ),
  saved as (
    update webhook_deliveries d set
      status = case r.outcome when 'retried' then 'pending' else r.outcome end, attempts = r.number,
      response_status = r."responseStatus", error_code = r."errorCode",
      next_time = coalesce(r."nextTime", d.next_time),
      finished_time = case when r.outcome <> 'retried' then r.time end
    from results r join held h on h.id = r."webhookId"
    where d.id = r.id and d.attempts < r.number
    returning d.id, d.webhook_id, r.outcome, r.number
  ),
  logged as (
    insert into webhook_attempts
      (delivery_id, number, time, duration_ms, response_status, error_code, error_message, answer_sealed)
    select s.id, r.number, r.time, r."durationMs", r."responseStatus", r."errorCode", r."errorMessage", decode(r.answer, 'base64')
    from saved s join results r on r.id = s.id and r.number = s.number
  ),
  forgotten as (
    delete from webhook_attempts a using saved s where a.delivery_id = s.id and a.number <= s.number - :attemptsMax
  ),
  counted as (
    insert into webhook_totals as t (outcome, deliveries)
    select outcome, count(*) from saved group by outcome order by outcome
    on conflict (outcome) do update set deliveries = t.deliveries + excluded.deliveries
  ),
  fared as (
    select s.webhook_id as id, max(r.time) filter (where s.outcome = 'delivered') as success,
      min(r.time) filter (where s.outcome <> 'delivered') as failure
    from saved s join results r on r.id = s.id and r.number = s.number group by s.webhook_id
  )
  update webhooks w set
    last_success_time = coalesce(f.success, w.last_success_time),
    failing_since = case when f.success is null then coalesce(w.failing_since, f.failure) end
  -- A success each second is enough to show: the row is read with each event.
  from fared f where w.id = f.id and (
    f.success is null or w.failing_since is not null or w.last_success_time is null
    or w.last_success_time < f.success - interval '1 second'
  )
  returning case when w.failing_since < :failedSince then w.id end as id
`)

/** Disables a webhook that this sender has leased. */
export const disableWebhook = statement<
  { leaseId: string; id: string; reason: 'gone' | 'failing' },
  { id: string; organizationId: string; accountId: string | null; url: string; mailIsDue: boolean }
>(`
  update webhooks set
    enabled = false, disabled_reason = :reason, lease_id = null, lease_until = null, version = version + 1,
    updated_time = now(),
    disabled_mail_time = case when disabled_mail_time > now() - interval '1 day' then disabled_mail_time else now() end
  where id = :id and lease_id = :leaseId and enabled
  returning id, organization_id, account_id, url, disabled_mail_time is not distinct from now() as mail_is_due
`)
/** Recipients of a mail: the owners of an organization. */
export const selectOwners = statement<{ organizationId: string }, { email: string }>(`
  select email from users where organization_id = :organizationId and role = 'owner' and joined_time is not null
    and deactivated_time is null
  order by email limit 10
`)

// For the metrics

export const selectTotals = statement<Record<never, never>, { outcome: string; deliveries: number }>(
  `select outcome, deliveries from webhook_totals`,
)
export const selectQueue = statement<Record<never, never>, { waiting: number; oldestSeconds: number }>(`
  select count(*) as waiting,
    coalesce(extract(epoch from now() - min(d.created_time)), 0)::double precision as oldest_seconds
  from webhook_deliveries d join webhooks w on w.id = d.webhook_id where d.status = 'pending' and ${isSendable}
`)
