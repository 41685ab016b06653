import type { ConnectionRule, RuleResult } from '@penstock/wire'
import { limits } from '@penstock/wire/rules'
import type { RuleCount } from './counts.ts'

/** Judges counts by rules. */

/** All that rules know of a transfer. */
export type Judged = {
  readonly read: number
  readonly rejected: number
  /** How many of the records read are skipped: they are not judged. */
  readonly skipped: number
  readonly counts: readonly RuleCount[]
  /** The most records that a rule compares with each other, and whether there were more. */
  readonly uniqueRowsMax: number
  readonly isBeyondUnique: boolean
  /** The median of the records read by earlier transfers, and the number of these transfers; `null` if no rule needs it. */
  readonly usual: { readonly rows: number; readonly transfers: number } | null
  /** When it is judged, in milliseconds. */
  readonly nowMs: number
  /** A few records, as in a test or a preview. Their number has no meaning. */
  readonly isSample: boolean
}

type Verdict = Pick<RuleResult, 'outcome' | 'message'>

/** The results of all rules at the end of a transfer. */
export const judgeAll = (rules: readonly ConnectionRule[], judged: Judged): readonly RuleResult[] =>
  rules.map((rule, place) => resultOf(rule, judge(rule, place, judged)))

/**
 * The results of rules that are already broken while the transfer runs, whatever follows. A share is judged from
 * `limits.ruleShareRowsMin` records on.
 * @returns only the results of broken rules
 */
export const brokenSoFar = (rules: readonly ConnectionRule[], judged: Judged): readonly RuleResult[] =>
  rules.flatMap((rule, place) => {
    if (!isFinal(rule, judged)) return []
    const verdict = judge(rule, place, judged)
    return verdict.outcome === 'broken' ? [resultOf(rule, verdict)] : []
  })

const resultOf = ({ check, action, column }: ConnectionRule, verdict: Verdict): RuleResult => ({
  check,
  action,
  column: column ?? null,
  ...verdict,
})

function isFinal({ check, percent, count, min, max }: ConnectionRule, { read, skipped }: Judged): boolean {
  if (check === 'freshness') return false
  if (check === 'rows' || check === 'volume') return max !== undefined && (min === undefined || read >= min)
  return count !== undefined || (percent ?? 0) === 0 || read - skipped >= limits.ruleShareRowsMin
}

const kept = (message: string): Verdict => ({ outcome: 'kept', message })
const broken = (message: string): Verdict => ({ outcome: 'broken', message })
const notChecked = (message: string): Verdict => ({ outcome: 'not_checked', message })
const decided = (isBroken: boolean, message: string): Verdict => (isBroken ? broken(message) : kept(message))

const shown = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 })
const records = (n: number): string => `${shown(n)} ${n === 1 ? 'record' : 'records'}`
const bounds = (min: number | undefined, max: number | undefined, unit = ''): string =>
  [min === undefined ? [] : `at least ${shown(min)}${unit}`, max === undefined ? [] : `at most ${shown(max)}${unit}`]
    .flat()
    .join(', ')
const isOutside = (value: number, { min, max }: ConnectionRule): boolean =>
  value < (min ?? Number.NEGATIVE_INFINITY) || value > (max ?? Number.POSITIVE_INFINITY)

function judge(rule: ConnectionRule, place: number, judged: Judged): Verdict {
  const { read, rejected, isSample } = judged
  switch (rule.check) {
    case 'rejected':
      return rejectedVerdict(rule, read - judged.skipped, rejected)
    case 'rows':
      if (isSample) return notChecked('A few records were read, and their number says nothing.')
      return decided(isOutside(read, rule), `${records(read)} read, ${bounds(rule.min, rule.max)}.`)
    case 'volume':
      return volumeVerdict(rule, judged)
    default:
      return columnVerdict(rule, judged.counts[place], judged)
  }
}

function rejectedVerdict({ count, percent }: ConnectionRule, read: number, rejected: number): Verdict {
  const share = read === 0 ? 0 : (rejected / read) * 100
  const isBroken = rejected > (count ?? Number.POSITIVE_INFINITY) || share > (percent ?? 100)
  const most = [count === undefined ? [] : shown(count), percent === undefined ? [] : `${shown(percent)} %`].flat()
  const words = `${shown(rejected)} of ${records(read)} rejected (${shown(share)} %), at most ${most.join(' and ')}.`
  return decided(isBroken, words)
}

function volumeVerdict(rule: ConnectionRule, { read, usual, isSample }: Judged): Verdict {
  if (isSample) return notChecked('A few records were read, and their number says nothing.')
  if (!usual || usual.transfers < limits.ruleTransfersMin) {
    return notChecked(`At least ${limits.ruleTransfersMin} earlier transfers without failure say what is usual.`)
  }
  if (usual.rows === 0) return notChecked('The usual number of records is 0.')
  const percent = (read / usual.rows) * 100
  const words = `${records(read)} read, ${shown(percent)} % of the usual ${shown(usual.rows)}, ${bounds(rule.min, rule.max, ' %')}.`
  return decided(isOutside(percent, rule), words)
}

function columnVerdict(rule: ConnectionRule, count: RuleCount | undefined, judged: Judged): Verdict {
  const { nowMs, isBeyondUnique, uniqueRowsMax } = judged
  const read = judged.read - judged.skipped
  const { column = '', check, percent = 0 } = rule
  if (count?.missing) return broken(`The source has no column ${column}.`)
  if (!count || read === 0) return notChecked('There was no record to judge.')
  if (check === 'freshness') return freshnessVerdict(rule, count.newest, nowMs)
  const first = count.first === null ? '' : ` The first one is record ${shown(count.first)}.`
  if (check === 'unique') {
    if (count.broken > 0) return broken(`${column} repeats an earlier value in ${records(count.broken)}.${first}`)
    if (isBeyondUnique) {
      return notChecked(`Values are compared in transfers of up to ${records(uniqueRowsMax)}.`)
    }
    return kept(`${column} has no value twice in ${records(read)}.`)
  }
  const share = (count.broken / read) * 100
  const what = {
    empty: 'is empty',
    values: 'has a value that is not accepted',
    range: `is no number ${rangeWords(rule)}`,
  }[check as 'empty' | 'values' | 'range']
  const words = `${column} ${what} in ${shown(count.broken)} of ${records(read)} (${shown(share)} %), at most ${shown(percent)} %.${first}`
  return decided(share > percent, words)
}

const rangeWords = ({ min, max }: ConnectionRule): string =>
  min === undefined
    ? `up to ${shown(max ?? 0)}`
    : max === undefined
      ? `from ${shown(min)}`
      : `from ${shown(min)} to ${shown(max)}`

function freshnessVerdict({ column = '', hours = 0 }: ConnectionRule, newest: number | null, nowMs: number): Verdict {
  if (newest === null) return broken(`${column} has no time, such as 2026-11-26T08:00:00Z.`)
  const age = Math.max(0, (nowMs - newest) / 3_600_000)
  return decided(age > hours, `The newest time in ${column} is ${shown(age)} hours old, at most ${shown(hours)}.`)
}
