import { Anchor, Card, Group, Skeleton, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'react-router'
import { dayAfter, dayOf, everyDay } from '../../components/days.ts'
import { Loaded } from '../../components/loaded.tsx'
import { count, percent, shortCount } from '../../components/numbers.ts'
import { stillRejected, useVolume, type VolumeSum } from '../../components/volume.ts'
import { VolumeChart } from '../../components/volume-chart.tsx'
import { pathOf } from '../../shell/account.ts'
import { overview as say } from '../../strings/overview.ts'
import type { Figure } from './figures.tsx'

const days = 30
const heightPx = 240

/** The days of the overview. */
export const lately = () => {
  const endDate = dayOf(Date.now())
  return { startDate: dayAfter(endDate, 1 - days), endDate }
}

/** Recent volume. */
export const useMoved = (accountId: string | undefined): UseQueryResult<VolumeSum, Error> =>
  useVolume({ accountId, ...lately() })

/** The same as two figures. */
export function figuresOf(accountId: string | undefined, moved: VolumeSum | undefined): Figure[] {
  const to = pathOf(accountId, 'reports')
  const { read = 0, accepted } = moved?.total ?? {}
  const rejected = moved && stillRejected(moved.total)
  const shown = (n: number | undefined) => (n === undefined ? undefined : n < 100_000 ? count(n) : shortCount(n))
  const part = read > 0 && rejected ? say.rejectedPart(percent(Math.min(1, rejected / read))) : say.lately(days)
  return [
    {
      label: say.delivered,
      value: shown(accepted),
      exactly: accepted === undefined ? undefined : count(accepted),
      note: say.lately(days),
      to,
    },
    {
      label: say.rejected,
      value: shown(rejected),
      exactly: rejected === undefined ? undefined : count(rejected),
      note: part,
      to,
    },
  ]
}

/** The same by day. */
export function Moved({
  accountId,
  moved,
}: {
  accountId: string | undefined
  moved: UseQueryResult<VolumeSum, Error>
}) {
  const { startDate, endDate } = lately()
  return (
    <Card withBorder h="100%">
      <Group justify="space-between" mb="md" gap="xs">
        <Title order={2} size="h5">
          {say.moved(days)}
        </Title>
        <Anchor component={Link} to={pathOf(accountId, 'reports')} size="sm">
          {say.toReports}
        </Anchor>
      </Group>
      <Loaded query={moved} skeleton={<Skeleton height={heightPx} radius="sm" />}>
        {({ total, days }) =>
          total.accepted + total.rejected === 0 ? (
            <Text size="sm" c="dimmed" ta="center" py="xl">
              {say.movedNone}
            </Text>
          ) : (
            <VolumeChart heightPx={heightPx} periods={everyDay(startDate, endDate)} volumes={days} />
          )
        }
      </Loaded>
    </Card>
  )
}
