import { continuousSchedule, type FieldError } from '@penstock/wire'
import { Cron } from 'croner'
import type { ActingAccount, Answer, Call } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import type { Transaction } from '../db/database.ts'
import { findLimit } from '../organizations/limits.ts'
import { refuse, refuseFieldErrors, requireEditable, requireQuota } from '../refusal.ts'
import { holdRunnable } from './queries.ts'
import * as queries from './schedule-queries.ts'
import { nextRun, timezoneErrors } from './times.ts'
import { requireIntegrated, type TransferDeps } from './transfers.ts'
import { viewSchedule } from './view.ts'

/** When transfers of a connection start without a call. The clock that starts them is in `supervisor/due-schedules.ts`. */

export async function getSchedule({ db, account, id }: Call<'getSchedule'>): Promise<Answer<'getSchedule'>> {
  const row = await queries.findSchedule.first(db, { accountId: account.id, connectionId: id })
  return { reply: viewSchedule(row ?? refuse('not_found')) }
}

/** The schedules of one sub-account, or of all that the actor may see. */
export async function listSchedules({
  db,
  actor,
  account,
  query: { connectionIds, size, offset },
}: Call<'listSchedules'>): Promise<Answer<'listSchedules'>> {
  const { organizationId, accountIds } = actor
  const filter = {
    organizationId,
    accountId: account?.id ?? null,
    accountIds,
    connectionIds: connectionIds?.split(',') ?? null,
  }
  const { list, count } = queries.scheduleList(filter)
  const [rows, counted] = await Promise.all([list.all(db, { ...filter, size, offset }), count.first(db, filter)])
  const reply = rows.map(({ accountId, ...row }) => ({ accountId, ...viewSchedule(row) }))
  return { reply, total: counted?.total ?? 0 }
}

/**
 * Sets the schedule. Omitted values do not change, or default to UTC and enabled. Refuses with `quota_exceeded` if it
 * becomes enabled and the organization already has as many enabled schedules as its quota allows.
 */
export async function setSchedule(
  { db: tx, account, id: connectionId, body }: Call<'setSchedule'>,
  deps: TransferDeps,
): Promise<Answer<'setSchedule'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  requireIntegrated(deps.catalogue, row)
  const current = await queries.findSchedule.first(tx, { accountId: account.id, connectionId })
  const timezone = body.timezone ?? current?.timezone ?? 'UTC'
  const enabled = body.enabled ?? current?.enabled ?? true
  const isContinuous = body.cron.trim() === continuousSchedule
  if (isContinuous && !deps.catalogue.known(row.srcConnectorId).readsEvents) {
    const message = `can be ${continuousSchedule} only if the source receives events, such as the connector Event stream`
    refuse('invalid_request', [{ field: 'body.cron', message }])
  }
  refuseFieldErrors(isContinuous ? timezoneErrors(timezone, 'body.timezone') : errorsOf(body.cron, timezone))
  const nextTime = isContinuous ? null : nextRun(body.cron, timezone, await databaseNow(tx))
  if (nextTime === undefined)
    refuse('invalid_request', [{ field: 'body.cron', message: 'never occurs: correct the day or the month' }])
  if (enabled && !current?.enabled) await requireScheduleQuota(tx, account, deps)
  const saved = await queries.putSchedule.first(tx, {
    connectionId,
    cron: body.cron.trim(),
    timezone,
    enabled,
    nextTime,
  })
  if (!saved) throw new Error(`The schedule of ${connectionId} was not saved`)
  return {
    reply: viewSchedule(saved),
    audited: { before: current ? auditedOf(current) : null, after: auditedOf(saved) },
  }
}

/** A schedule as the audit log keeps it: when it starts transfers is no change of it. */
const auditedOf = ({ cron, timezone, enabled }: queries.ScheduleRow) => ({ cron, timezone, enabled })

async function requireScheduleQuota(
  tx: Transaction,
  { organizationId }: ActingAccount,
  { config }: TransferDeps,
): Promise<void> {
  // Schedules of one organization are enabled one after another, so that each counts those before it.
  await queries.lockOrganization.first(tx, { organizationId })
  const live = ((await queries.countEnabledSchedules.first(tx, { organizationId }))?.live ?? 0) + 1
  const { max, setting } = await findLimit(tx, config, organizationId, 'schedules')
  requireQuota({ live, kept: live }, { field: 'schedule', what: 'enabled schedules of the organization', max, setting })
}

export async function deleteSchedule(
  { db: tx, account, id: connectionId }: Call<'deleteSchedule'>,
  deps: TransferDeps,
): Promise<Answer<'deleteSchedule'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  const deleted = (await queries.deleteSchedule.first(tx, { connectionId })) ?? refuse('not_found')
  return { reply: viewSchedule(deleted), audited: { before: auditedOf(deleted), after: null } }
}

function errorsOf(cron: string, timezone: string): FieldError[] {
  const fieldErrors = timezoneErrors(timezone, 'body.timezone')
  try {
    new Cron(cron, { mode: '5-part', paused: true })
  } catch {
    fieldErrors.push({
      field: 'body.cron',
      message: 'must have five fields: minute, hour, day of month, month and day of week, such as 0 6 * * *',
    })
  }
  return fieldErrors
}
