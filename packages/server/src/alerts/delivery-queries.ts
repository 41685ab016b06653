import type { AlertChannel } from '@penstock/wire'
import { distinct } from '../db/distinct.ts'
import { statement } from '../db/statement.ts'
import type { AlertContent } from './content.ts'

/** Statements that send messages. */

export type AlertDeliveryRow = {
  id: string
  ruleId: string
  organizationId: string
  channel: AlertChannel
  recipient: string | null
  content: AlertContent
  attempts: number
  ageSeconds: number
  dataKeyId: string | null
  slackSealed: Buffer | null
  teamsSealed: Buffer | null
}
/**
 * Claims due messages of a channel under a lease: if this process dies, another one claims them again. It claims only a few
 * messages per organization, so that an organization whose addresses respond slowly does not delay the others.
 */
export const takeDeliveries = statement<
  { channel: AlertChannel; leaseSeconds: number; limit: number; most: number },
  AlertDeliveryRow
>(`
  with recursive ${distinct('waiting', 'alert_deliveries', 'rule_id', 'outcome is null and channel = :channel')},
  due as (
    select d.id, d.next_time, r.organization_id from waiting w
    cross join lateral (select organization_id from alert_rules where id = w.id limit 1) r
    cross join lateral (
      select id, next_time from alert_deliveries
      where outcome is null and channel = :channel and rule_id = w.id and next_time <= now()
      order by next_time limit :most
    ) d
  ),
  ranked as (
    select id, next_time, row_number() over (partition by organization_id order by next_time, id) as rank from due
  ),
  picked as (
    select d.id from (select * from ranked where rank <= :most order by rank, next_time) k cross join lateral (
      select id from alert_deliveries
      where id = k.id and outcome is null and next_time <= now() for no key update skip locked
    ) d limit :limit
  ),
  taken as (
    update alert_deliveries d set attempts = attempts + 1, next_time = now() + make_interval(secs => :leaseSeconds)
    from picked p where d.id = p.id
    returning d.*
  )
  select t.id, t.rule_id, r.organization_id, t.channel, t.recipient, t.content, t.attempts,
    extract(epoch from now() - t.created_time)::float8 as age_seconds, r.data_key_id, r.slack_sealed, r.teams_sealed
  from taken t join alert_rules r on r.id = t.rule_id
`)

/** Says how the delivery ended, counts it, and says at its rule what went wrong, or that it works again. */
export const endDelivery = statement<{
  id: string
  outcome: 'delivered' | 'failed'
  /** Null: nothing went wrong. */
  message: string | null
}>(`
  with ended as (
    update alert_deliveries set outcome = :outcome, finished_time = now() where id = :id and outcome is null
    returning rule_id, channel
  ),
  counted as (
    insert into alert_delivery_totals as t (channel, outcome, deliveries) select channel, :outcome, 1 from ended
    on conflict (channel, outcome) do update set deliveries = t.deliveries + 1
  )
  update alert_rules r set delivery_error = case when :message::text is not null then jsonb_build_object(
      'channel', e.channel, 'message', :message::text, 'time', floor(extract(epoch from now()))::bigint) end
  from ended e
  where r.id = e.rule_id and (:message::text is not null or r.delivery_error ->> 'channel' = e.channel)
`)
/** Has the delivery tried again. */
export const postponeDelivery = statement<{ id: string; seconds: number; message: string }>(`
  with postponed as (
    update alert_deliveries set next_time = now() + make_interval(secs => :seconds) where id = :id and outcome is null
    returning rule_id, channel
  )
  update alert_rules r set delivery_error = jsonb_build_object(
    'channel', p.channel, 'message', :message::text, 'time', floor(extract(epoch from now()))::bigint)
  from postponed p where r.id = p.rule_id
`)

export type TotalRow = { channel: string; outcome: string; deliveries: number }
/** For the metrics. */
export const deliveryTotals = statement<Record<never, never>, TotalRow>(`
  select channel, outcome, deliveries from alert_delivery_totals
`)

export const purgeDeliveries = statement<{ days: number; limit: number }>(`
  delete from alert_deliveries where id = any(array(
    select id from alert_deliveries where created_time < now() - make_interval(days => :days)
    order by created_time limit :limit
  ))
`)
