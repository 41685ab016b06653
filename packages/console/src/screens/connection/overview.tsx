import { Card, Flex, Grid, SimpleGrid, Stack, Text } from '@mantine/core'
import { type ConnectionDetails, type Transfer, uploadedFileConnectorId } from '@penstock/wire'
import { count } from '../../components/numbers.ts'
import { connection as say } from '../../strings/connection.ts'
import { AudienceCard } from './audience-card.tsx'
import { Funnel } from './funnel.tsx'
import { RowsComeAgain, useRepeats } from './rows-come-again.tsx'
import { ScheduleCard } from './schedule-card.tsx'
import { SetCard } from './set-card.tsx'
import { useVolumeOf } from './use-volume.ts'
import { VolumeCard } from './volume.tsx'

/** How the connection does: its figures, what came through, and when it runs next. */
export function Overview({
  connection,
  latest,
  reason,
}: {
  connection: ConnectionDetails
  latest: Transfer | undefined
  /** Why its schedule cannot be changed. */
  reason: string | undefined
}) {
  const volume = useVolumeOf(connection)
  const { monthlyVolume, usedVolume, totalVolume } = connection
  const repeats = useRepeats(connection)
  return (
    <Stack gap="md">
      {repeats && usedVolume > 0 && (
        <RowsComeAgain
          connection={connection}
          repeats={repeats}
          latest={latest}
          quiet={connection.src.connectorId === uploadedFileConnectorId}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <Figure label={say.deliveredMonth} n={monthlyVolume} />
        <Figure label={say.delivered} n={usedVolume} />
        <Figure label={say.readAll} n={totalVolume} />
      </SimpleGrid>
      <Grid gap="md" align="stretch">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Funnel latest={latest} volume={volume} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <ScheduleCard connection={connection} reason={reason} />
        </Grid.Col>
      </Grid>
      <SetCard connection={connection} />
      <AudienceCard connection={connection} />
      <VolumeCard volume={volume} />
    </Stack>
  )
}

function Figure({ label, n }: { label: string; n: number }) {
  return (
    <Card withBorder padding="md">
      <Flex
        direction={{ base: 'row', xs: 'column' }}
        align={{ base: 'baseline', xs: 'flex-start' }}
        justify="space-between"
        gap={4}
      >
        <Text size="sm" c="dimmed">
          {label}
        </Text>
        <Text fz={{ base: 20, xs: 26 }} fw={650} lh={1.2} className="figures">
          {count(n)}
        </Text>
      </Flex>
    </Card>
  )
}
