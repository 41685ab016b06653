import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { strings } from '../strings/index.ts'
import { shortPeriod } from './days.ts'
import { count, shortCount } from './numbers.ts'
import { runColors } from './status.tsx'
import { noVolume, type Volume } from './volume.ts'

const say = strings.parts
const minTickGapPx = 24

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
  return (
    <BarChart
      h={heightPx}
      data={data}
      dataKey="period"
      type="stacked"
      series={[
        { name: 'accepted', label: say.accepted, color: `${runColors.succeeded}.6` },
        { name: 'rejected', label: say.rejected, color: `${runColors.failed}.6` },
      ]}
      valueFormatter={count}
      yAxisProps={{ tickFormatter: shortCount, width: 48, allowDecimals: false }}
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
