import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { components as say } from '../strings/components.ts'
import { shortPeriod } from './days.ts'
import { count, shortCount } from './numbers.ts'
import { transferColors } from './status.tsx'
import { noVolume, type Volume } from './volume.ts'

const minTickGapPx = 24
const ticks = 4

export type VolumeBarsProps = {
  /** Days or months, in order; those without volume too. */
  periods: readonly string[]
  volumes: ReadonlyMap<string, Volume>
  heightPx?: number
}

/** Records by day or month: what was accepted, and on top of it what was rejected. Only ever loaded lazily. */
export default function VolumeBars({ periods, volumes, heightPx = 260 }: VolumeBarsProps) {
  const data = periods.map((period) => {
    const { accepted, rejected } = volumes.get(period) ?? noVolume
    return { period: shortPeriod(period), accepted, rejected }
  })
  const top = roundTop(Math.max(...data.map(({ accepted, rejected }) => accepted + rejected)))
  return (
    <BarChart
      h={heightPx}
      data={data}
      dataKey="period"
      type="stacked"
      series={[
        { name: 'accepted', label: say.accepted, color: `${transferColors.succeeded}.6` },
        { name: 'rejected', label: say.rejected, color: `${transferColors.failed}.6` },
      ]}
      valueFormatter={count}
      yAxisProps={{
        tickFormatter: shortCount,
        width: 48,
        domain: [0, top],
        ticks: Array.from({ length: ticks + 1 }, (_, i) => (top / ticks) * i),
      }}
      barChartProps={{ margin: { top: 10, right: 4 } }}
      xAxisProps={{ minTickGap: minTickGapPx, interval: 'equidistantPreserveStart' }}
      gridAxis="x"
      tickLine="none"
      maxBarWidth={36}
      barProps={{ isAnimationActive: false }}
      withLegend
      legendProps={{ verticalAlign: 'bottom', height: 32 }}
      accessibilityLayer={false}
    />
  )
}

/** Where an axis ends whose ticks are all round numbers. @param max the greatest value that it must show */
function roundTop(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(max, ticks) / ticks))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step * ticks >= max)
  return (step ?? 10 * power) * ticks
}
