import { statement } from '../../db/statement.ts'

/** Statements that send deliveries. Times at which something is due come from the sender; leases are measured by the database. */

export type LeasedRow = {
  id: string
  organizationId: string
  url: string
  dataKeyId: string
  secretSealed: Buffer
  previousSecretSealed: Buffer | null
  failingSince: Date | null
}
const leased = `
  w.id, w.organization_id, w.url, w.data_key_id, w.secret_sealed,
  case when w.previous_secret_until > now() then w.previous_secret_sealed end as previous_secret_sealed, w.failing_since`

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

/**
 * Leases webhooks for which something may be due, those that failed last apart from the others, and of each organization
 * only so many. While schedules are paused since a backup was restored, nothing is sent either.
 */
export const leaseWebhooks = statement<
  {
    leaseId: string
    seconds: number
    now: Date
    failing: boolean
    full: readonly string[]
    most: number
    limit: number
  },
  LeasedRow
>(`
  ${queued},
  ranked as (
    select w.id, w.look_again_time,
      row_number() over (partition by w.organization_id order by w.look_again_time nulls first, w.id) as rank
    from queued q join webhooks w on w.id = q.id
    where ${isSendable} and (w.lease_until is null or w.lease_until < now())
      and (w.look_again_time is null or w.look_again_time <= :now)
      and (w.failing_since is not null) = :failing and w.organization_id <> all (:full)
      and not exists (select from schedule_pauses where reason = 'restore')
  ),
  picked as (
    select w.id from ranked r join webhooks w on w.id = r.id
    where r.rank <= :most and (w.lease_until is null or w.lease_until < now())
    order by r.look_again_time nulls first, r.rank limit :limit for no key update of w skip locked
  )
  update webhooks w set lease_id = :leaseId, lease_until = now() + make_interval(secs => :seconds)
  from picked p where w.id = p.id
  returning ${leased}
`)
/** Renews leases, and reads the webhooks as they are now; those that are gone or disabled are not among them. */
export const renewLeases = statement<{ leaseId: string; seconds: number; ids: readonly string[] }, LeasedRow>(`
  update webhooks w set lease_until = now() + make_interval(secs => :seconds)
  where w.id = any (:ids) and w.lease_id = :leaseId and w.lease_until > now() and ${isSendable}
  returning ${leased}
`)
export const endLease = statement<{ leaseId: string; id: string; lookAgainTime: Date | null }>(`
  update webhooks set lease_id = null, lease_until = null, look_again_time = :lookAgainTime
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
/** What is due, of some keys the next few: the first that waits of a key decides for all behind it. */
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
/** When something is due next; null where nothing waits. */
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
  { id: string; organizationId: string; accountId: string | null; url: string }
>(`
  update webhooks set
    enabled = false, disabled_reason = :reason, lease_id = null, lease_until = null, version = version + 1,
    updated_time = now()
  where id = :id and lease_id = :leaseId and enabled
  returning id, organization_id, account_id, url
`)
/** Who gets a mail: the owners of an organization. */
export const selectOwners = statement<{ organizationId: string }, { email: string }>(`
  select email from users where organization_id = :organizationId and role = 'owner' and joined_time is not null
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
