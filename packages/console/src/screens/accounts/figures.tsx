import { Anchor, Group, Progress, Text } from '@mantine/core'
import type { AccountFigures } from '@penstock/wire'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { dayAfter, dayOf, everyDay } from '../../components/days.ts'
import { count, percent, shortCount } from '../../components/numbers.ts'
import { accounts as say } from '../../strings/accounts.ts'

/** Cells of the list of sub-accounts. */

const trendDays = 14
/** Width and height of the bars, in pixels. */
const [trendWidth, trendHeight] = [84, 22]
const barWidth = trendWidth / trendDays
/** Above this share of a limit, the bar warns. */
const nearLimit = 0.9

type Of = { readonly account: AccountFigures }

/** Connections by state: in words, and as parts of a bar. The failing ones lead to the overview of the sub-account. */
export function Connections({
  account: {
    id,
    connections: { failing, active, draft, disabled },
  },
}: Of) {
  const other = draft + disabled
  const total = failing + active + other
  if (total === 0) {
    return (
      <Text size="sm" c="dimmed">
        {say.noConnections}
      </Text>
    )
  }
  const part = (n: number) => (100 * n) / total
  return (
    <>
      <Text size="sm" component="div">
        {failing > 0 && (
          <>
            <Anchor component={Link} to={`/accounts/${id}`} inherit fw={650} c="var(--mantine-color-error)">
              {say.failing(count(failing))}
            </Anchor>
            {' · '}
          </>
        )}
        {say.active(count(active))}
        {other > 0 && (
          <Text span inherit c="dimmed">
            {' · '}
            {say.other(count(other))}
          </Text>
        )}
      </Text>
      <Progress.Root size={6} mt={4} aria-hidden>
        <Progress.Section value={part(failing)} color="red" />
        <Progress.Section value={part(active)} color="teal" />
        <Progress.Section value={part(other)} color="gray.5" />
      </Progress.Root>
    </>
  )
}

/** Rows of this month, next to those of each of the last days. All rows of a page share one report. */
export function Rows({ account: { id, rowsThisMonth }, ids }: Of & { ids: readonly string[] }) {
  const today = dayOf(Date.now())
  const first = dayAfter(today, 1 - trendDays)
  const { data } = useRead('reportAccounts', {
    query: { startDate: first, endDate: today, accountIds: ids.join(','), size: ids.length },
  })
  const days = data?.reply.find(({ accountId }) => accountId === id)?.days ?? []
  const accepted = new Map(days.map((day) => [day.day, day.accepted]))
  const bars = everyDay(first, today).map((day) => accepted.get(day) ?? 0)
  const most = Math.max(1, ...bars)
  return (
    <Group gap="sm" wrap="nowrap">
      <svg width={trendWidth} height={trendHeight} role="img" aria-label={say.trend(bars.map(shortCount).join(', '))}>
        <title>{say.trendTitle}</title>
        {bars.map((n, at) => {
          const height = n === 0 ? 1 : Math.max(2, (n / most) * trendHeight)
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
              key={at}
              x={at * barWidth}
              y={trendHeight - height}
              width={barWidth - 2}
              height={height}
              rx={1}
              fill={n === 0 ? 'var(--mantine-color-default-border)' : 'var(--mantine-color-water-5)'}
            />
          )
        })}
      </svg>
      <Text size="sm" fw={600} title={count(rowsThisMonth)} className="figures">
        {shortCount(rowsThisMonth)}
      </Text>
    </Group>
  )
}

/** Connections of the sub-account, next to their limit. */
export function Limit({ account: { connections, connectionsMax } }: Of) {
  const used = connections.failing + connections.active + connections.draft + connections.disabled
  const share = used / connectionsMax
  const isNear = share >= nearLimit
  return (
    <>
      <Text size="sm" {...(isNear && { fw: 600 })} title={percent(share)}>
        {say.of(count(used), count(connectionsMax))}
      </Text>
      <Progress value={100 * share} size={6} mt={4} color={isNear ? 'orange' : 'water'} aria-hidden />
    </>
  )
}
