import { Box, Card, Skeleton, Text, Title } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { count } from '../../parts/numbers.ts'
import { Empty } from '../../parts/page.tsx'
import { strings } from '../../strings/index.ts'
import type { Volume } from './use-volume.ts'

const say = strings.connection
const heightPx = 240
const VolumeChart = lazy(() => import('./volume-chart.tsx'))

/** What the connection moved, day by day. */
export function VolumeCard({ volume }: { volume: Volume | undefined }) {
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
        <Box role="img" aria-label={say.volumeSummary(count(volume.total.accepted), count(volume.total.rejected))}>
          <Suspense fallback={<Skeleton h={heightPx} />}>
            <VolumeChart days={volume.days} height={heightPx} />
          </Suspense>
        </Box>
      ) : (
        <Skeleton h={heightPx} />
      )}
    </Card>
  )
}
