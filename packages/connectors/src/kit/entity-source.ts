import { type Connector, defineConnector, type Fields, select, text } from '@penstock/connector'
import { discoveriesOf } from './listing.ts'
import { labelsOf } from './names.ts'
import type { ReadFacts, ReportSource } from './report-facts.ts'
import { assertFacts, dayFields, formsOf, lookBack, recordsOf } from './report-source.ts'

/**
 * A source of present objects of a platform, such as campaigns and ads, as a statement of facts. It is a report source without
 * days: each transfer reads the complete list of each account. `levels` are the kinds of entities. A connection reads one of
 * them. A row has the columns `always` and the columns of its level. `report` says how a list is read. `to.from` and `to.to`
 * are the day of the transfer. The account and `levels.x.key` identify a row. With `days`, entities are listed by the day on
 * which they were created, which is a column of `always`. A transfer reads the days since the last transfer, and some earlier
 * days again, since entities change.
 */
export type EntitySource = Omit<ReportSource, 'breakdowns' | 'changed' | 'days' | 'free' | 'metricsMax' | 'presets'> &
  Pick<ReadFacts, 'days'>

/**
 * Creates a connector from the facts. Throws immediately, as a programmer's error, if facts break a rule of `defineConnector`
 * or name a column that they do not state.
 */
export function entitySource(facts: EntitySource): Connector {
  const read: ReadFacts = { ...facts, breakdowns: [], presets: {} }
  assertFacts(read)
  const {
    platformApi,
    auth,
    settings,
    accounts,
    levels,
    always,
    columns,
    nulls,
    report,
    parts,
    readers,
    days,
    ...rest
  } = facts
  const { refuses, check, listed, ...definition } = rest
  return defineConnector({
    ...definition,
    notes: notesOf(facts),
    check: async (context) => (await import('./run/check-reports.ts')).checkReports(read, context),
    source: {
      open: async (context) => (await import('./run/reports.ts')).openReports(read, context),
      ...(days && { backfill: { by: 'days' as const } }),
      fields: { ...fieldsOf(facts), ...settings },
      records: recordsOf(columns),
      ...(listed && { discover: discoveriesOf(facts, formsOf(facts)) }),
    },
  })
}

/** The notes of the facts, and notes that apply to every list. */
function notesOf({ notes = '', always, columns, levels, platformApi, name, days }: EntitySource): string {
  const platform = typeof platformApi === 'function' ? name : platformApi.name
  const account = always.find((one) => columns[one]?.of === 'account')
  const keys = Object.entries(levels).map(([level, { key }]) => `${[account, ...key].join(', ')} (${level})`)
  return [
    notes,
    days
      ? `Each transfer reads the objects of ${platform} that were created since the last transfer. By default, it reads objects of the last ${days.lookBack} days again, because they change.`
      : `Each transfer reads all current objects of ${platform}.`,
    `Write the rows to a database with the mode Upsert and the key columns of their level: ${keys.join('; ')}.`,
    `Databases and warehouses then delete the rows that ${platform} no longer lists. At other destinations, these rows stay.`,
    'If the platform refuses an account, the account is a rejected row with the reason. The other accounts are read.',
  ]
    .filter(Boolean)
    .join(' ')
}

/** The settings that every list has. */
const fieldsOf = ({ accounts, levels, days }: EntitySource): Fields => ({
  accountIds: text({
    asked: true,
    label: accounts.label,
    description: accounts.all
      ? `Separated by commas: ${accounts.example}. By default all`
      : `Separated by commas: ${accounts.example}`,
    required: !accounts.all,
  }),
  level: select({
    asked: true,
    label: 'Level',
    description: 'Each row describes one of these',
    options: Object.keys(levels),
    labels: labelsOf(Object.keys(levels)),
    default: Object.keys(levels)[0] ?? '',
  }),
  ...(days && { ...dayFields(days), lookBackDays: lookBack(days, 'because objects change after they were created') }),
  vanishedRows: select({
    label: 'Vanished rows',
    description: 'Delete rows that the platform no longer lists, if the destination can',
    options: ['Delete', 'Keep'],
    default: 'Delete',
  }),
})
