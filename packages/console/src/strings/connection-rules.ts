import type { Blackout, ConnectionRule, RuleAction, RuleCheck, RuleKey, RuleOutcome, Weekday } from '@penstock/wire'
import { count } from '../components/numbers.ts'

const except = (percent: number | undefined) => (percent ? `, except for up to ${percent}% of the records` : '')
const between = (min: number | undefined, max: number | undefined, unit = '') =>
  [min === undefined ? [] : `at least ${count(min)}${unit}`, max === undefined ? [] : `at most ${count(max)}${unit}`]
    .flat()
    .join(' and ')

const days: Record<Weekday, string> = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
}

/** The texts about the rules of a connection. */
export const connectionRules = {
  title: 'Rules',
  help: 'Rules check each transfer. A rule can stop the transfer, if possible before it delivers anything.',
  none: 'No rules',
  edit: 'Edit the rules',
  saved: 'The rules were saved. Running transfers keep their earlier rules.',
  add: 'Add a rule',
  remove: (n: number) => `Remove rule ${n}`,
  rule: (n: number) => `Rule ${n}`,
  check: 'Check',
  action: 'If the rule fails',
  checks: {
    rejected: 'Rejected records',
    rows: 'Number of records',
    volume: 'Records compared with usual',
    freshness: 'Age of the newest record',
    empty: 'Empty values',
    unique: 'Unique values',
    values: 'Accepted values',
    range: 'Number range',
  } satisfies Record<RuleCheck, string>,
  actions: {
    stop: 'Stop the transfer',
    warn: 'Continue and send an event',
    record: 'Continue and show the result',
  } satisfies Record<RuleAction, string>,
  keys: {
    column: 'Source column',
    count: 'Maximum rejected records',
    percent: 'Maximum share (%)',
    hours: 'Maximum age (hours)',
    values: 'Accepted values',
    min: 'Minimum',
    max: 'Maximum',
  } satisfies Record<RuleKey, string>,
  inPercent: { min: 'Minimum (% of usual)', max: 'Maximum (% of usual)' },
  volumeHelp: 'The usual number is the median of the last 10 transfers that did not fail.',
  freshnessHelp: 'The column must contain ISO 8601 dates or times, or Unix times.',

  blackout: 'Quiet hours',
  blackoutHelp:
    'No transfers start at these times of the week. Scheduled transfers wait, and running transfers continue.',
  addWindow: 'Add a time',
  window: (n: number) => `Time ${n}`,
  removeWindow: (n: number) => `Remove time ${n}`,
  from: 'From',
  to: 'To',
  days,
  windowWords: (window: Blackout['windows'][number]) =>
    `${window.days.map((day) => days[day]).join(', ')} ${window.from} to ${window.to}`,

  results: 'Rules',
  outcome: 'Result',
  outcomes: { kept: 'Passed', broken: 'Failed', not_checked: 'Not checked' } satisfies Record<RuleOutcome, string>,

  /** A rule in words. */
  words({ check, column = '', count: most, percent, hours, values = [], min, max }: ConnectionRule): string {
    switch (check) {
      case 'rejected':
        return `Rejected records: ${between(undefined, most)}${most !== undefined && percent !== undefined ? ' and ' : ''}${between(undefined, percent, '%')}`
      case 'rows':
        return `Records read: ${between(min, max)}`
      case 'volume':
        return `Records read, compared with the usual number: ${between(min, max, '%')}`
      case 'freshness':
        return `The newest time in ${column} is at most ${hours} ${hours === 1 ? 'hour' : 'hours'} old`
      case 'empty':
        return `${column} is empty in at most ${percent}% of the records`
      case 'unique':
        return `The values of ${column} are unique`
      case 'values':
        return `${column} contains only ${values.slice(0, 5).join(', ')}${values.length > 5 ? ' …' : ''}${except(percent)}`
      case 'range':
        return `${column} is ${between(min, max)}${except(percent)}`
    }
  },
}
