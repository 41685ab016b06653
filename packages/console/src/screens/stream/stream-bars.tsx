import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { count, shortCount } from '../../components/numbers.ts'
import { transferColors } from '../../components/status.tsx'
import { streams as say } from '../../strings/streams.ts'
import type { Span, StreamVolume } from './volumes.ts'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayAndClock = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' })

/** Events by minute or hour: accepted ones, and on top of them repeated and refused ones. Only ever loaded lazily. */
export default function StreamBars({
  bars,
  span,
  heightPx,
  countsRepeated,
}: {
  bars: readonly StreamVolume[]
  span: Span
  heightPx: number
  countsRepeated: boolean
}) {
  const time = span === 'week' ? dayAndClock : clock
  return (
    <BarChart
      h={heightPx}
      data={bars.map((bar) => ({ ...bar, time: time.format(bar.time * 1000) }))}
      dataKey="time"
      type="stacked"
      series={[
        { name: 'accepted', label: say.accepted, color: `${transferColors.succeeded}.6` },
        ...(countsRepeated ? [{ name: 'duplicates', label: say.duplicates, color: 'gray.5' }] : []),
        { name: 'refused', label: say.refused, color: `${transferColors.failed}.6` },
      ]}
      valueFormatter={count}
      yAxisProps={{ tickFormatter: shortCount, width: 48, allowDecimals: false }}
      barChartProps={{ margin: { top: 10, right: 4 } }}
      xAxisProps={{ minTickGap: 32, interval: 'equidistantPreserveStart' }}
      gridAxis="x"
      tickLine="none"
      maxBarWidth={20}
      barProps={{ isAnimationActive: false }}
      withLegend
      legendProps={{ verticalAlign: 'bottom', height: 32 }}
      accessibilityLayer={false}
    />
  )
}
