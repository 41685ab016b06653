import {
  type AlertAmountName,
  type AlertConditions,
  type AlertReason,
  alertConditionOf,
  alertReasons,
  type ConnectionStatus,
} from '@penstock/wire'
import { isVolumeUnusual } from './volume.ts'

/** The reasons of incidents: when a connection meets each, and what messages say of it. */

/** Facts of a connection that rules need, as of now. */
export type Facts = {
  status: ConnectionStatus
  /** Whether data could move, were the connection not broken or offline: neither it nor its sub-account is off or deleted. */
  live: boolean
  /** The newest transfer that ended and was not cancelled. Null if there is no such transfer. */
  transferStatus: string | null
  errorCode: string | null
  transferTime: Date | null
  /** The newest transfer that succeeded completely or partially. Null if there is no such transfer. */
  successTime: Date | null
  accepted: number | null
  rejected: number | null
  /** Hours since the last success, or since the connection was created or became active after it. */
  idleHours: number
  /**
   * Records of the last whole day and of the same weekday in earlier weeks, the newest first. Null if the rule does not need
   * them.
   */
  volumes: number[] | null
  /** How much of its log the source server retains for the connection. Null if it retains nothing or the size is not known. */
  logKeptBytes: number | null
  /** Whether that server does not have changes that are still to be read, or soon removes them. */
  logAtRisk: boolean
  /**
   * The age of the oldest event that the connection has not delivered. Null if the connection reads no stream, or the rule does
   * not need it.
   */
  behindSeconds: number | null
  /** The people of its smallest audience, as the platform last reported. Null if not known. */
  smallestAudience: number | null
  /** Of the audience whose match rate fell the most: the rate, 0 to 1, and its earlier average. Null if not known. */
  matchRate: number | null
  matchRateBefore: number | null
}

type Reason<R extends AlertReason> = {
  readonly what: string
  readonly todo: string
  /** The numbers for which it is met, in a sentence. */
  readonly numbers?: (facts: Facts, bound: number) => string
  /** Judges a connection under a rule that looks for it. @param bound of the condition, if it has one */
  readonly isMet: (
    facts: Facts,
    bound: (typeof alertConditionOf)[R] extends AlertAmountName ? number : boolean,
  ) => boolean
  /**
   * The incident is about the newest transfer, and ends only after a transfer has succeeded: a connection that was activated
   * can fail immediately.
   */
  readonly untilSuccess?: true
  /** It is looked for while the connection is disabled, too. */
  readonly whileDisabled?: true
}

const hasFailed = ({ transferStatus }: Facts) => transferStatus === 'failed'

export const reasons: { readonly [R in AlertReason]: Reason<R> } = {
  connection_broken: {
    what: 'The connection is broken',
    todo: 'Fix the connector or the platform, then activate the connection.',
    isMet: ({ status }) => status === 'broken',
    untilSuccess: true,
  },
  connection_offline: {
    what: 'The connection is offline',
    todo: 'Check that the platform can be reached. The connection becomes active once it answers.',
    isMet: ({ status }) => status === 'offline',
    untilSuccess: true,
  },
  columns_changed: {
    what: 'Columns changed, and the transfer stopped',
    todo: 'Look at the changes, and accept them or restore the columns.',
    isMet: (facts) => hasFailed(facts) && facts.errorCode === 'columns_changed',
    untilSuccess: true,
  },
  transfer_failed: {
    what: 'A transfer failed',
    todo: 'Look at the transfer, then start it again.',
    isMet: (facts) => hasFailed(facts) && facts.errorCode !== 'columns_changed',
    untilSuccess: true,
  },
  transfer_partial: {
    what: 'A transfer rejected more records than the rule allows',
    todo: 'Look at the rejected records and their reasons.',
    numbers: ({ rejected, accepted }, percent) =>
      `${count(rejected)} of ${count((rejected ?? 0) + (accepted ?? 0))} records were rejected. The rule allows ${percent}%.`,
    isMet: ({ rejected, accepted }, percent) =>
      rejected !== null && rejected > 0 && (rejected / (rejected + (accepted ?? 0))) * 100 > percent,
  },
  no_success: {
    what: 'No transfer has succeeded for longer than the rule allows',
    todo: 'Check the schedule and the last transfers of the connection.',
    numbers: ({ idleHours }, hours) =>
      `No transfer has succeeded for ${count(Math.floor(idleHours))} hours. The rule allows ${count(hours)}.`,
    isMet: ({ idleHours }, hours) => idleHours > hours,
  },
  volume_unusual: {
    what: 'The records of the last day are far from usual',
    todo: 'Check the source and the last transfers of the connection.',
    numbers: ({ volumes }) => {
      const [last, ...earlier] = volumes ?? []
      return `The last day has ${count(last ?? null)} records. The same weekday of earlier weeks: ${earlier.map(count).join(', ')}.`
    },
    isMet: ({ volumes }, percent) => volumes !== null && isVolumeUnusual(volumes[0] ?? 0, volumes.slice(1), percent),
  },
  log_kept: {
    what: 'The server of the source keeps much of its log for the connection, or will not have its changes',
    todo: 'Run a transfer. If the connection is not needed, drop its replication slot in the console.',
    numbers: ({ logKeptBytes, logAtRisk }, gib) =>
      logAtRisk
        ? 'The server has removed or will soon remove changes that were not read.'
        : `The server keeps ${tenths((logKeptBytes ?? 0) / 1024 ** 3)} GiB. The rule allows ${count(gib)} GiB.`,
    isMet: ({ logKeptBytes, logAtRisk }, gib) => logAtRisk || (logKeptBytes ?? 0) >= gib * 1024 ** 3,
    whileDisabled: true,
  },
  behind_stream: {
    what: 'Events of the stream wait for longer than the rule allows',
    todo: 'Look at the last transfers of the connection, and at the speed of the destination.',
    numbers: ({ behindSeconds }, minutes) =>
      `An event has waited for ${count(Math.floor((behindSeconds ?? 0) / 60))} minutes. The rule allows ${count(minutes)}.`,
    isMet: ({ behindSeconds }, minutes) => (behindSeconds ?? 0) >= minutes * 60,
  },
  audience_small: {
    what: 'An audience has fewer people than the rule allows',
    todo: 'Check the source, the rejected records, and the audience at the platform.',
    numbers: ({ smallestAudience }, people) =>
      `The smallest audience has ${count(smallestAudience)} people. The rule expects ${count(people)}.`,
    isMet: ({ smallestAudience }, people) => smallestAudience !== null && smallestAudience < people,
  },
  match_fell: {
    what: 'The platform matches fewer people of an audience than before',
    todo: 'Check the identifiers in the source, such as e-mail addresses, their mapping and their hashing.',
    numbers: ({ matchRate: rate, matchRateBefore: before }) =>
      `The platform matched ${tenths((rate ?? 0) * 100)}% of the people, ${tenths(before ? (1 - (rate ?? 0) / before) * 100 : 0)}% less than the average of ${tenths((before ?? 0) * 100)}% in the 7 days before.`,
    // A billionth, for what floating point loses.
    isMet: ({ matchRate: rate, matchRateBefore: before }, percent) =>
      rate !== null && before !== null && (before - rate) * 100 + 1e-9 >= percent * before,
  },
}

const count = (n: number | null): string => (n ?? 0).toLocaleString('en-US')
const tenths = (n: number): string => n.toLocaleString('en-US', { maximumFractionDigits: 1 })

/** Whether a rule looks for a reason. */
export const isLookedFor = (reason: AlertReason, rule: AlertConditions): boolean => {
  const bound = rule[alertConditionOf[reason]]
  return bound !== null && bound !== false
}

/** Reasons of a rule that the connection meets, the worst first. */
export const reasonsOf = (facts: Facts, rule: AlertConditions): AlertReason[] =>
  alertReasons.filter((reason) => {
    const { isMet, whileDisabled } = reasons[reason] as Reason<AlertReason>
    const isLookedAt = facts.live || (whileDisabled && facts.status !== 'deleted')
    return isLookedAt && isLookedFor(reason, rule) && isMet(facts, rule[alertConditionOf[reason]] as never)
  })

/** The numbers of reasons that a connection meets under a rule. */
export const numbersOf = (facts: Facts, rule: AlertConditions, found: readonly AlertReason[]): string[] =>
  found.flatMap((reason) => {
    const bound = rule[alertConditionOf[reason]]
    return typeof bound === 'number' ? (reasons[reason].numbers?.(facts, bound) ?? []) : []
  })
