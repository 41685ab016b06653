import { Skeleton } from '@mantine/core'
import { Empty } from '../../components/page.tsx'
import { Section } from '../../components/section.tsx'
import { VolumeChart } from '../../components/volume-chart.tsx'
import { connection as say } from '../../strings/connection.ts'
import type { VolumeOfConnection } from './use-volume.ts'

const heightPx = 240

/** Records that the connection moved, by day. */
export function VolumeCard({ volume }: { volume: VolumeOfConnection | undefined }) {
  const isNone = volume !== undefined && volume.total.accepted + volume.total.rejected === 0
  return (
    <Section title={say.volume} help={say.volumeHelp}>
      {isNone ? (
        <Empty title={say.noVolume} />
      ) : volume ? (
        <VolumeChart periods={volume.periods} volumes={volume.days} heightPx={heightPx} />
      ) : (
        <Skeleton h={heightPx} />
      )}
    </Section>
  )
}
