import '@mantine/charts/styles.css'
import { LineChart } from '@mantine/charts'
import type { ConnectionState } from '@penstock/wire'
import { shortPeriod } from '../../components/days.ts'
import { count, shortCount } from '../../components/numbers.ts'
import { audiences as say } from '../../strings/audiences.ts'

export type FoundAudience = NonNullable<ConnectionState['audiences']>['found'][number]

/** The size of an audience by day, and how many people matched if the platform says it. Only ever loaded lazily. */
export default function AudienceLines({ days, heightPx }: { days: FoundAudience['days']; heightPx: number }) {
  const hasMatched = days.some(({ matched }) => matched !== null)
  return (
    <LineChart
      h={heightPx}
      data={days.map(({ day, high, matched }) => ({ day: shortPeriod(day), size: high, matched }))}
      dataKey="day"
      series={[
        { name: 'size', label: say.size, color: 'indigo.6' },
        ...(hasMatched ? [{ name: 'matched', label: say.matched, color: 'teal.6' }] : []),
      ]}
      valueFormatter={count}
      yAxisProps={{ tickFormatter: shortCount, width: 48 }}
      xAxisProps={{ minTickGap: 24, interval: 'equidistantPreserveStart' }}
      gridAxis="x"
      tickLine="none"
      withLegend={hasMatched}
      lineChartProps={{ margin: { top: 12, right: 12 } }}
      lineProps={{ isAnimationActive: false }}
    />
  )
}
