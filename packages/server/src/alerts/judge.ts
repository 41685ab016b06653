import { type AlertReason, type AlertResolution, alertReasons, type ConnectionStatus } from '@penstock/wire'
import { isVolumeUnusual } from './volume.ts'

/** Facts of a connection that a rule needs, as of now. */
export type Facts = {
  /** Whether the rule is on and covers the connection. */
  readonly covers: boolean
  readonly transferFailed: boolean
  readonly connectionBroken: boolean
  readonly rejectedPercent: number | null
  readonly noSuccessHours: number | null
  readonly volumePercent: number | null
  readonly logKeptGb: number | null
  readonly behindMinutes: number | null
  readonly audienceBelow: number | null
  readonly status: ConnectionStatus
  /** Whether data could move, were the connection not broken or offline: neither it nor its sub-account is off or deleted. */
  readonly live: boolean
  /** The newest transfer that ended and was not cancelled; null: none. */
  readonly transferStatus: string | null
  readonly errorCode: string | null
  readonly transferTime: Date | null
  /** The newest transfer that succeeded, wholly or partly; null: none. */
  readonly successTime: Date | null
  readonly accepted: number | null
  readonly rejected: number | null
  /** Hours since the last success, or since the connection was created or became active after it. */
  readonly idleHours: number
  /** Records of the last whole day and of the same weekday before it, the newest first; null if it is not asked for. */
  readonly volumes: readonly number[] | null
  /** How much the server of the source keeps of its log for the connection; null: nothing, or it is not known. */
  readonly logKeptBytes: number | null
  /** Whether that server does not have changes that are still to be read, or soon removes them. */
  readonly logAtRisk: boolean
  /** How long the oldest event has waited that the connection has not delivered; null: it reads no stream, or is not asked for. */
  readonly behindSeconds: number | null
  /** The people of its smallest audience, as the platform last said; null: not known. */
  readonly smallestAudience: number | null
  /** The open incident; null: none. */
  readonly incidentReasons: readonly AlertReason[] | null
  readonly openedTime: Date | null
}

/** Action on the incident of a rule and a connection. */
export type Verdict =
  | { readonly do: 'nothing' }
  | { readonly do: 'open'; readonly reasons: readonly AlertReason[] }
  | { readonly do: 'extend'; readonly reasons: readonly AlertReason[] }
  | { readonly do: 'resolve'; readonly resolution: AlertResolution }

/** Reasons that are over only once data has moved again: a connection that was activated may fail at once. */
const untilSuccess: readonly AlertReason[] = [
  'connection_broken',
  'connection_offline',
  'columns_changed',
  'transfer_failed',
]

export function judge(facts: Facts): Verdict {
  const { incidentReasons: open, openedTime, successTime } = facts
  // The server keeps its log for a connection that is disabled, too.
  const isLookedAt = facts.live || (facts.status !== 'deleted' && isLogKept(facts))
  if (!facts.covers || !isLookedAt) {
    return open ? { do: 'resolve', resolution: facts.covers ? 'stopped' : 'rule_changed' } : { do: 'nothing' }
  }
  const found: readonly AlertReason[] = facts.live ? reasonsOf(facts) : ['log_kept']
  if (!open) return found.length > 0 ? { do: 'open', reasons: found } : { do: 'nothing' }
  if (found.length > 0) {
    const all = alertReasons.filter((reason) => open.includes(reason) || found.includes(reason))
    return all.length > open.length ? { do: 'extend', reasons: all } : { do: 'nothing' }
  }
  const waits = open.some((reason) => untilSuccess.includes(reason) && isLookedFor(reason, facts))
  const moved = successTime !== null && openedTime !== null && successTime > openedTime
  return waits && !moved ? { do: 'nothing' } : { do: 'resolve', resolution: recoveryOf(open, facts) }
}

/** Reasons of a rule that the connection meets, the worst first. */
function reasonsOf(facts: Facts): AlertReason[] {
  const { status, accepted, rejected, rejectedPercent, noSuccessHours, volumePercent, volumes, behindMinutes } = facts
  const { audienceBelow, smallestAudience } = facts
  const found: Record<AlertReason, boolean> = {
    connection_broken: facts.connectionBroken && status === 'broken',
    connection_offline: facts.connectionBroken && status === 'offline',
    columns_changed: facts.transferFailed && facts.transferStatus === 'failed' && facts.errorCode === 'columns_changed',
    transfer_failed: facts.transferFailed && facts.transferStatus === 'failed' && facts.errorCode !== 'columns_changed',
    transfer_partial: rejectedPercent !== null && shareOf(rejected, accepted) * 100 > rejectedPercent,
    no_success: noSuccessHours !== null && facts.idleHours > noSuccessHours,
    volume_unusual:
      volumePercent !== null && volumes !== null && isVolumeUnusual(volumes[0] ?? 0, volumes.slice(1), volumePercent),
    log_kept: isLogKept(facts),
    behind_stream: behindMinutes !== null && (facts.behindSeconds ?? 0) >= behindMinutes * 60,
    audience_small: audienceBelow !== null && smallestAudience !== null && smallestAudience < audienceBelow,
  }
  return alertReasons.filter((reason) => found[reason])
}

const isLogKept = ({ logKeptGb, logKeptBytes, logAtRisk }: Facts): boolean =>
  logKeptGb !== null && (logAtRisk || (logKeptBytes ?? 0) >= logKeptGb * 1024 ** 3)

const shareOf = (rejected: number | null, accepted: number | null): number =>
  rejected ? rejected / (rejected + (accepted ?? 0)) : 0

function isLookedFor(reason: AlertReason, facts: Facts): boolean {
  switch (reason) {
    case 'connection_broken':
    case 'connection_offline':
      return facts.connectionBroken
    case 'columns_changed':
    case 'transfer_failed':
      return facts.transferFailed
    case 'transfer_partial':
      return facts.rejectedPercent !== null
    case 'no_success':
      return facts.noSuccessHours !== null
    case 'volume_unusual':
      return facts.volumePercent !== null
    case 'log_kept':
      return facts.logKeptGb !== null
    case 'behind_stream':
      return facts.behindMinutes !== null
    case 'audience_small':
      return facts.audienceBelow !== null
  }
}

const recoveryOf = (reasons: readonly AlertReason[], facts: Facts): AlertResolution =>
  reasons.some((reason) => isLookedFor(reason, facts)) ? 'recovered' : 'rule_changed'
