import {
  type Connector,
  date,
  defineConnector,
  type Fields,
  multiSelect,
  number,
  type RecordField,
  select,
  text,
} from '@penstock/connector'
import { discoveriesOf } from './listing.ts'
import { labelsOf } from './names.ts'
import type { ReportColumn } from './report-columns.ts'
import type { FreeNames, ReadFacts, ReportDays, ReportSource } from './report-facts.ts'

/**
 * Creates a connector from the facts. Throws immediately, as a programmer's error, if facts break a rule of `defineConnector`
 * or name a column that they do not state.
 */
export function reportSource(facts: ReportSource): Connector {
  assertFacts(facts)
  if (Object.keys(facts.presets).length === 0) throw new Error(`${facts.slug}: a report needs a preset`)
  const { platformApi, auth, settings, accounts, levels, always, breakdowns, presets, free, ...rest } = facts
  const { columns, nulls, days, report, parts, readers, metricsMax, refuses, changed, check, listed, ...definition } =
    rest
  const run = () => import('./run/reports.ts')
  return defineConnector({
    ...definition,
    notes: notesOf(facts),
    check: async (context) => (await import('./run/check-reports.ts')).checkReports(facts, context),
    source: {
      open: async (context) => (await run()).openReports(facts, context),
      backfill: { by: 'days' },
      fields: { ...fieldsOf(facts), ...settings },
      records: recordsOf(columns),
      ...(listed && { discover: discoveriesOf(facts, formsOf(facts)) }),
    },
  })
}

/** The notes of the facts, and notes that apply to every report. */
function notesOf({ notes = '', always, columns, days, readers = 1, platformApi, name }: ReportSource): string {
  const platform = typeof platformApi === 'function' ? name : platformApi.name
  const key = always.filter((one) => columns[one]?.isDay || columns[one]?.of === 'account')
  return [
    notes,
    `By default, each transfer reads the last ${days.lookBack} days again, because ${platform} restates them.`,
    `Rows differ by ${key.join(', ')}, the ID of the level and every breakdown: write them to a database with the mode Upsert and these key columns.`,
    `Databases and warehouses then delete the rows of these days that ${platform} no longer reports. At other destinations, these rows stay.`,
    'If the platform refuses an account, the account is a rejected row with the reason. The other accounts are read.',
    readers > 1
      ? `Up to ${readers} workers share a transfer of several accounts or many days. Each of them reports a refused account as a rejected row.`
      : '',
  ]
    .filter(Boolean)
    .join(' ')
}

/** The settings that every report has. */
function fieldsOf({ accounts, levels, breakdowns, presets, free = {}, columns, days }: ReportSource): Fields {
  const metrics = Object.keys(columns).filter((name) => columns[name]?.kind === 'metric')
  const names = Object.keys(presets)
  const [usual] = Object.values(presets)
  const isOne = names.length < 2
  const usually = (ofPreset: readonly string[] = []): string => {
    if (!isOne) return 'by default as in the report'
    return ofPreset.length > 0 ? `by default ${ofPreset.join(', ')}` : 'by default none'
  }
  return {
    accountIds: text({
      asked: true,
      label: accounts.label,
      description: accounts.all
        ? `Separated by commas: ${accounts.example}. By default all`
        : `Separated by commas: ${accounts.example}`,
      required: !accounts.all,
    }),
    ...(!isOne && {
      preset: select({
        asked: true,
        label: 'Report',
        description: 'Predefined level, breakdowns and metrics. The settings below override them',
        options: names,
        default: names[0] ?? '',
      }),
    }),
    level: select({
      ...(isOne && { asked: true as const }),
      label: 'Level',
      description: isOne
        ? 'Each row is for one of these and one day'
        : 'Each row is for one of these and one day. By default as in the report',
      options: Object.keys(levels),
      labels: labelsOf(Object.keys(levels)),
      ...(isOne && { default: usual?.level ?? Object.keys(levels)[0] ?? '' }),
    }),
    ...dayFields(days),
    ...(breakdowns.length > 0 && {
      breakdowns: multiSelect({
        label: 'Breakdowns',
        description: isOne
          ? 'Split rows further. The platform refuses some combinations'
          : 'Split rows further. The platform refuses some combinations. By default as in the report',
        options: breakdowns,
      }),
    }),
    ...freeField('otherBreakdowns', free.breakdowns),
    metrics: multiSelect({
      label: 'Metrics',
      description: `Metrics to read; ${usually(usual?.metrics)}`,
      options: metrics,
    }),
    ...freeField('otherMetrics', free.metrics),
    lookBackDays: lookBack(days),
    vanishedRows: select({
      label: 'Vanished rows',
      description: 'Delete rows that the platform no longer reports, if the destination can',
      options: ['Delete', 'Keep'],
      default: 'Delete',
    }),
  }
}

/** The settings of the days to read. */
export const dayFields = (days: ReportDays): Fields => ({
  startDate: date({
    asked: true,
    label: 'First day',
    description: `First day to read, in the time zone of the account; by default ${days.lookBack} days ago`,
  }),
  endDate: date({ keepsState: 'onward', label: 'Last day', description: 'Last day to read; by default today' }),
})

/** The setting of the days that are read again. @param why the reason, in a clause */
export const lookBack = (days: ReportDays, why = 'because the platform corrects its figures') =>
  number({
    purpose: 'lookBack',
    keepsState: 'onward',
    label: 'Look-back window in days',
    description: `Number of days that each transfer reads again, ${why}`,
    min: 0,
    max: days.backMax,
    default: days.lookBack,
  })

const freeField = (key: string, names: FreeNames | undefined): Fields =>
  names
    ? {
        [key]: text({
          label: names.label,
          description: `Additional names from the platform, separated by commas: ${names.example}`,
        }),
      }
    : {}

/** The forms of values that lists of the platform can have. */
export const formsOf = ({
  accounts,
  free,
}: Pick<ReportSource, 'accounts' | 'free'>): Readonly<Record<string, object>> => ({
  accountIds: { pattern: accounts.id },
  ...(free?.breakdowns && { otherBreakdowns: { pattern: free.breakdowns.pattern } }),
  ...(free?.metrics && { otherMetrics: { pattern: free.metrics.pattern } }),
})

/** The columns as the catalogue lists them, by their names. */
export const recordsOf = (columns: ReportSource['columns']): Record<string, RecordField> =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, recordOf(column)]))

const decimals: readonly ReportColumn['type'][] = ['money', 'micros', 'cents', 'percent']

const recordOf = ({ kind, type, description, levels }: ReportColumn): RecordField => ({
  kind,
  type: decimals.includes(type) ? 'decimal' : type === 'seconds' ? 'time' : type,
  description,
  required: false,
  ...(levels && { reports: levels }),
})

/** Fails on names that are not stated, and on rows without an account, or without a day if there are days. */
export function assertFacts({
  slug,
  columns,
  always,
  levels,
  breakdowns,
  presets,
  accounts,
  listed,
  ...facts
}: ReadFacts): void {
  const free = facts.free ? ['of free names'] : []
  const named = [
    ...always,
    ...Object.values(levels).flatMap(({ key, columns: others = [] }) => [...key, ...others]),
    ...breakdowns,
    ...(free.length > 0
      ? []
      : Object.values(presets).flatMap((preset) => [...(preset.breakdowns ?? []), ...preset.metrics])),
  ]
  const unknown = named.find((name) => !Object.hasOwn(columns, name))
  if (unknown !== undefined) throw new Error(`${slug}: ${unknown} is not a column`)
  const strange = Object.values(presets).find(({ level }) => level !== undefined && !Object.hasOwn(levels, level))
  if (strange) throw new Error(`${slug}: a preset has the unknown level ${strange.level}`)
  const isThere = (of: (column: ReportColumn | undefined) => boolean) =>
    always.filter((name) => of(columns[name])).length === 1
  if (!isThere((column) => column?.of === 'account'))
    throw new Error(`${slug}: every row needs one column of the account`)
  if (facts.days && !isThere((column) => column?.isDay === true)) {
    throw new Error(`${slug}: every row needs one column of the day`)
  }
  if (accounts.all && !listed?.accountIds) throw new Error(`${slug}: reads all accounts, and does not list them`)
  const isPages = typeof facts.report === 'object' && facts.report.form === 'pages'
  if (facts.metricsMax !== undefined && !isPages)
    throw new Error(`${slug}: only pages are read several times for metrics`)
}
