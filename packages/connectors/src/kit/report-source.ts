import { type Connector, date, defineConnector, multiSelect, number, select, text } from '@penstock/connector'
import { discoveriesOf } from './listing.ts'
import type { ReportSource } from './report-facts.ts'

/** Makes a connector of the facts. Fails at once, as a programmer's error, on facts that break a rule of `defineConnector`. */
export function reportSource(facts: ReportSource): Connector {
  const { platformApi, auth, settings, accounts, levels, always, breakdowns, usualMetrics, ...rest } = facts
  const { columns, days, job, check, listed, ...definition } = rest
  const run = () => import('./run/reports.ts')
  const metrics = Object.keys(columns).filter((name) => columns[name]?.kind === 'metric')
  const [usualLevel = ''] = Object.keys(levels)
  return defineConnector({
    ...definition,
    check: async (context) => (await run()).checkReports(facts, context),
    source: {
      open: async (context) => (await run()).openReports(facts, context),
      fields: {
        accountIds: text({
          label: accounts.label,
          description: `Accounts whose reports are read, separated by commas: ${accounts.example}`,
          required: true,
        }),
        level: select({
          label: 'Level',
          description: 'A row is of one of these, and of one day',
          options: Object.keys(levels),
          default: usualLevel,
        }),
        startDate: date({
          label: 'First day',
          description: `First day to read, in the time zone of the account; by default ${days.lookBack} days ago`,
        }),
        endDate: date({ label: 'Last day', description: 'Last day to read; by default today' }),
        breakdowns: multiSelect({
          label: 'Breakdowns',
          description: 'Each breaks every row down further; platforms refuse some combinations',
          options: breakdowns,
        }),
        metrics: multiSelect({
          label: 'Metrics',
          description: `Figures to read; by default ${usualMetrics.join(', ')}`,
          options: metrics,
        }),
        lookBackDays: number({
          label: 'Look-back window in days',
          description: 'So many of the latest days are read again by each transfer, since the platform restates them',
          min: 0,
          max: days.backMax,
          default: days.lookBack,
        }),
        ...settings,
      },
      records: Object.fromEntries(
        Object.entries(columns).map(([name, { kind, type, description }]) => [
          name,
          { kind, type, description, required: false },
        ]),
      ),
      ...(listed && { discover: discoveriesOf(facts, { accountIds: { pattern: accounts.id } }) }),
    },
  })
}
