import type { Blackout, ConnectionRule, RuleAction, RuleCheck, RuleKey, RuleOutcome, Weekday } from '@penstock/wire'

const most = (percent: number | undefined) => (percent ? ` in more than ${percent} % of the records` : '')
const between = (min: number | undefined, max: number | undefined, unit = '') =>
  [min === undefined ? [] : `at least ${min}${unit}`, max === undefined ? [] : `at most ${max}${unit}`]
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
  help: 'Rules judge each transfer. A broken rule that stops ends the transfer, if possible before it delivers anything.',
  none: 'No rules',
  edit: 'Edit the rules',
  saved: 'The rules were saved. Transfers that run keep the rules that they started with.',
  add: 'Add a rule',
  remove: (n: number) => `Remove rule ${n}`,
  rule: (n: number) => `Rule ${n}`,
  check: 'Check',
  action: 'If it is broken',
  checks: {
    rejected: 'Rejected records',
    rows: 'Number of records',
    volume: 'Number of records against the usual',
    freshness: 'Age of the newest record',
    empty: 'Empty values',
    unique: 'Values are unique',
    values: 'Accepted values',
    range: 'Range of numbers',
  } satisfies Record<RuleCheck, string>,
  actions: {
    stop: 'Stop the transfer',
    warn: 'Continue and send an event',
    record: 'Continue and show it',
  } satisfies Record<RuleAction, string>,
  keys: {
    column: 'Column of the source',
    count: 'At most so many records',
    percent: 'At most so many percent of the records',
    hours: 'At most so many hours',
    values: 'Accepted values',
    min: 'At least',
    max: 'At most',
  } satisfies Record<RuleKey, string>,
  inPercent: { min: 'At least, in percent of the usual', max: 'At most, in percent of the usual' },
  volumeHelp: 'Usual is the median of the last 10 transfers that did not fail.',
  freshnessHelp: 'The column has dates or times in the form of ISO 8601, or Unix times.',

  blackout: 'No transfers start',
  blackoutHelp: 'In these times of the week. Scheduled transfers wait until the end, and transfers that run continue.',
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
  outcomes: { kept: 'Kept', broken: 'Broken', not_checked: 'Not checked' } satisfies Record<RuleOutcome, string>,

  /** A rule in words. */
  words({ check, column = '', count, percent, hours, values = [], min, max }: ConnectionRule): string {
    switch (check) {
      case 'rejected':
        return `Rejected records: ${between(undefined, count)}${count !== undefined && percent !== undefined ? ' and ' : ''}${between(undefined, percent, ' %')}`
      case 'rows':
        return `Records read: ${between(min, max)}`
      case 'volume':
        return `Records read, compared with the usual number: ${between(min, max, ' %')}`
      case 'freshness':
        return `The newest time in ${column}: at most ${hours} hours old`
      case 'empty':
        return `${column} is empty in at most ${percent} % of the records`
      case 'unique':
        return `${column} has no value twice`
      case 'values':
        return `${column} does not have other values than ${values.slice(0, 5).join(', ')}${values.length > 5 ? ' …' : ''}${most(percent)}`
      case 'range':
        return `${column} is not outside ${between(min, max)}${most(percent)}`
    }
  },
}
