import { Card, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAddress } from '../../components/address.ts'
import { everyDay, everyMonth, rangeOfDays } from '../../components/days.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { useVolume, type VolumeOf, type VolumeSum } from '../../components/volume.ts'
import { VolumeChart } from '../../components/volume-chart.tsx'
import { useAccountId } from '../../shell/account.ts'
import { reports as say } from '../../strings/reports.ts'
import { AudienceTable } from './audiences.tsx'
import { Download } from './download.tsx'
import { type Period, usePeriod } from './period.ts'
import { errorId, PeriodPicker } from './period-picker.tsx'
import { ReportTable } from './table.tsx'
import { useReports } from './use-reports.ts'

const chartHeightPx = 280

/** Volume by sub-account, or by connection of one, by day or by month; and the sizes of the audiences of a sub-account. */
export function Component() {
  const accountId = useAccountId()
  const address = useAddress()
  const period = usePeriod()
  const isSound = period.fieldError === undefined
  const of: VolumeOf = {
    accountId,
    startDate: period.startDate,
    endDate: period.endDate,
    q: address.value('q') || undefined,
  }
  const isOfAudiences = accountId !== undefined && address.value('view') === 'audiences'
  return (
    <Page
      title={say.title}
      help={isSound ? say.help(rangeOfDays(period.startDate, period.endDate)) : undefined}
      actions={<Download of={of} by={isOfAudiences ? undefined : period.by} disabled={!isSound} />}
    >
      <Toolbar>
        {accountId && (
          <SegmentedControl
            aria-label={say.view}
            data={[
              { value: '', label: say.views.records },
              { value: 'audiences', label: say.views.audiences },
            ]}
            value={isOfAudiences ? 'audiences' : ''}
            onChange={(view) => address.change({ view })}
          />
        )}
        <SearchBox label={accountId ? say.searchConnections : say.searchAccounts} />
        <PeriodPicker period={period} grouped={!isOfAudiences} />
      </Toolbar>
      {period.fieldError && (
        <div id={errorId} role="alert">
          <Empty title={period.fieldError.message} help={say.errorHelp} />
        </div>
      )}
      {isSound &&
        (isOfAudiences ? (
          <AudienceTable accountId={accountId} startDate={of.startDate} endDate={of.endDate} q={of.q} />
        ) : (
          <Records of={of} period={period} />
        ))}
    </Page>
  )
}

/** The volume as a chart, and of each sub-account or connection. */
function Records({ of, period }: { of: VolumeOf; period: Period }) {
  const volume = useVolume(of)
  const reports = useReports(of, pageOf(useAddress()))
  return (
    <>
      <Chart volume={volume} period={period} />
      <ReportTable
        accountId={of.accountId}
        query={reports}
        total={volume.data?.total}
        empty={
          of.q ? (
            <Empty title={say.noneFound} />
          ) : of.accountId ? (
            <Empty title={say.noConnections} help={say.noConnectionsHelp} />
          ) : (
            <Empty title={say.noAccounts} help={say.noAccountsHelp} />
          )
        }
      />
    </>
  )
}

function Chart({
  volume,
  period: { startDate, endDate, by },
}: {
  volume: UseQueryResult<VolumeSum, Error>
  period: Period
}) {
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {say.chart(by)}
        </Title>
        <Loaded query={volume} skeleton={<Skeleton height={chartHeightPx} radius="sm" />}>
          {({ total, days, months }) =>
            total.read === 0 && total.accepted === 0 && total.rejected === 0 ? (
              <Group h={120} justify="center">
                <Text c="dimmed" size="sm">
                  {say.noVolume}
                </Text>
              </Group>
            ) : (
              <VolumeChart
                heightPx={chartHeightPx}
                periods={by === 'day' ? everyDay(startDate, endDate) : everyMonth(startDate, endDate)}
                volumes={by === 'day' ? days : months}
              />
            )
          }
        </Loaded>
      </Stack>
    </Card>
  )
}
