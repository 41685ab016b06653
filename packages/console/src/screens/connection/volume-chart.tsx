import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { count, shortCount } from '../../parts/numbers.ts'
import { strings } from '../../strings/index.ts'
import type { Day } from './use-volume.ts'

const say = strings.connection
const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Bars of accepted and rejected records. What it says is said in words beside it, so readers of screens pass it by. */
export default function VolumeChart({ days, height }: { days: readonly Day[]; height: number }) {
  return (
    <BarChart
      h={height}
      data={days.map(({ day, accepted, rejected }) => ({
        day: shortDay.format(new Date(day)),
        [say.accepted]: accepted,
        [say.rejected]: rejected,
      }))}
      dataKey="day"
      type="stacked"
      series={[
        { name: say.accepted, color: 'teal.6' },
        { name: say.rejected, color: 'orange.6' },
      ]}
      withLegend
      legendProps={{ verticalAlign: 'bottom', height: 32 }}
      valueFormatter={count}
      tickLine="none"
      gridAxis="y"
      yAxisProps={{ width: 48, tickFormatter: shortCount, allowDecimals: false }}
      xAxisProps={{ minTickGap: 24 }}
      barProps={{ isAnimationActive: false, maxBarSize: 28 }}
      barChartProps={{ accessibilityLayer: false }}
    />
  )
}
