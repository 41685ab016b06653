import { Anchor, Card, ColorSwatch, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { type ConnectionStatus, connectionStatuses } from '@penstock/wire'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { Lines } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { statusColors } from '../../components/status.tsx'
import { pathOf } from '../../shell/account.ts'
import { overview as say } from '../../strings/overview.ts'
import { standing as words } from '../../strings/standing.ts'

import { groupedMax, useFailing } from '../failing/use-failing.ts'

export type Counts = Readonly<Record<ConnectionStatus, number>>

export const countOf = (accountId: string | undefined, status: ConnectionStatus) => ({
  accountId,
  query: { status, size: 1 },
})

/** How many connections there are of each status; undefined until all are known. */
export function useCounts(accountId: string | undefined): { counts: Counts | undefined; error: Error | undefined } {
  const queries = {
    'In-progress': useRead('listConnections', countOf(accountId, 'In-progress')),
    active: useRead('listConnections', countOf(accountId, 'active')),
    disabled: useRead('listConnections', countOf(accountId, 'disabled')),
    deleted: useRead('listConnections', countOf(accountId, 'deleted')),
    broken: useRead('listConnections', countOf(accountId, 'broken')),
    offline: useRead('listConnections', countOf(accountId, 'offline')),
  } satisfies Record<ConnectionStatus, unknown>
  const entries = connectionStatuses.map((status) => [status, queries[status].data?.total] as const)
  const isWhole = entries.every(([, total]) => total !== undefined)
  return {
    counts: isWhole ? (Object.fromEntries(entries) as Counts) : undefined,
    error: Object.values(queries).find(({ error }) => error)?.error ?? undefined,
  }
}

/** Number of connections, without deleted ones. */
export const totalOf = (counts: Counts): number =>
  connectionStatuses.reduce((total, status) => total + (status === 'deleted' ? 0 : counts[status]), 0)

const ofBar = ['active', 'failing', 'In-progress', 'disabled', 'offline', 'broken'] as const

/** Connections by status: a bar of the parts, and beneath it each with the way to the list of them. */
export function ByStatus({ accountId, counts }: { accountId: string | undefined; counts: Counts | undefined }) {
  const total = counts && totalOf(counts)
  const failing = useFailing(accountId, { size: groupedMax }).data?.total ?? 0
  // An active connection fails with its newest transfer; the API counts it as active.
  const isFailing = counts ? Math.max(0, failing - counts.broken - counts.offline) : 0
  const shown = counts && { ...counts, active: Math.max(0, counts.active - isFailing), failing: isFailing }
  const list = pathOf(accountId, 'connections')
  return (
    <Card withBorder h="100%">
      <Stack gap="md">
        <Title order={2} size="h5">
          {say.byStatus}
        </Title>
        {!counts && <Lines lines={4} />}
        {counts && total === 0 && (
          <Text size="sm" c="dimmed">
            {say.byStatusNone}
          </Text>
        )}
        {shown && total !== undefined && total > 0 && (
          <>
            <Progress.Root size={14} radius="sm" aria-hidden>
              {ofBar
                .filter((status) => shown[status] > 0)
                .map((status) => (
                  <Progress.Section
                    key={status}
                    value={(shown[status] / total) * 100}
                    color={`${statusColors[status]}.6`}
                    withAria={false}
                    miw={4}
                  />
                ))}
            </Progress.Root>
            <Stack gap={10}>
              {ofBar.map((status) => (
                <Group key={status} justify="space-between" wrap="nowrap">
                  <Group gap="xs" wrap="nowrap">
                    <ColorSwatch
                      size={10}
                      color={`var(--mantine-color-${statusColors[status]}-6)`}
                      withShadow={false}
                      aria-hidden
                    />
                    <Anchor
                      component={Link}
                      to={status === 'failing' ? `${list}?last=failing` : `${list}?status=${status}`}
                      size="sm"
                    >
                      {words.connection[status]}
                    </Anchor>
                  </Group>
                  <Text size="sm" fw={550} className="figures">
                    {count(shown[status])}
                  </Text>
                </Group>
              ))}
            </Stack>
          </>
        )}
      </Stack>
    </Card>
  )
}
