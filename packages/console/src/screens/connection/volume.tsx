import { Card, Skeleton, Text, Title } from '@mantine/core'
import { Empty } from '../../components/page.tsx'
import { VolumeChart } from '../../components/volume-chart.tsx'
import { connection as say } from '../../strings/connection.ts'
import type { VolumeOfConnection } from './use-volume.ts'

const heightPx = 240

/** Records that the connection moved, by day. */
export function VolumeCard({ volume }: { volume: VolumeOfConnection | undefined }) {
  const isNone = volume !== undefined && volume.total.accepted + volume.total.rejected === 0
  return (
    <Card withBorder padding="lg">
      <Title order={2} size="h4">
        {say.volume}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {say.volumeHelp}
      </Text>
      {isNone ? (
        <Empty title={say.noVolume} />
      ) : volume ? (
        <VolumeChart periods={volume.periods} volumes={volume.days} heightPx={heightPx} />
      ) : (
        <Skeleton h={heightPx} />
      )}
    </Card>
  )
}
