import { Stack, Text } from '@mantine/core'
import type { AudienceReport } from '@penstock/wire'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { matchOf, sizeOf } from '../../components/audience-size.ts'
import { shortPeriod } from '../../components/days.ts'
import { signedCount } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { reports as say } from '../../strings/reports.ts'

type Audience = AudienceReport['audiences'][number]

/** The audiences that the connections of a sub-account feed: their sizes at the end of the period, and the change in it. */
export function AudienceTable({
  accountId,
  ...query
}: {
  accountId: string
  startDate: string
  endDate: string
  q: string | undefined
}) {
  const page = pageOf(useAddress())
  const report = useRead('reportAudiences', { accountId, query: { ...query, ...page } }, { keep: true })
  const lines = (text: (audience: Audience) => ReactNode) => (row: AudienceReport) => (
    <Stack gap={4}>
      {row.audiences.map((audience) => (
        <Text key={audience.id} size="sm" truncate maw={320}>
          {text(audience)}
        </Text>
      ))}
    </Stack>
  )
  const names = lines(({ id, name }) => name ?? id)
  const inOneLine = lines(({ id, name, last }) => `${name ?? id}: ${sizeOf(last)}`)
  return (
    <ResourceTable
      label={say.views.audiences}
      query={report}
      empty={query.q ? <Empty title={say.noneFound} /> : <Empty title={say.noAudiences} help={say.noAudiencesHelp} />}
      keyOf={({ connectionId }) => connectionId}
      columns={[
        {
          header: say.connection,
          wraps: true,
          names: true,
          cell: ({ connectionId, connectionName }) => (
            <NameLink to={`/accounts/${accountId}/connections/${connectionId}`}>{connectionName}</NameLink>
          ),
        },
        {
          header: say.audience,
          from: 'sm',
          cell: (row) => (row.audiences.length > 0 ? names(row) : whyNone(row)),
          folded: (row) => (row.audiences.length > 0 ? inOneLine(row) : whyNone(row)),
        },
        { header: say.size, from: 'sm', nowrap: true, cell: lines(({ last }) => sizeOf(last)) },
        { header: say.change, from: 'sm', cell: lines(changeOf) },
        { header: say.matched, from: 'md', cell: lines(({ last }) => matchOf(last) || '–') },
        { header: say.status, from: 'lg', cell: lines(({ status }) => status ?? '–') },
      ]}
    />
  )
}

const whyNone = ({ problem }: AudienceReport) => (
  <Text size="sm" c="dimmed">
    {problem ?? say.noMeasurement}
  </Text>
)

/** The change of a size in words. The upper end of a range counts, as it does in alerts. */
function changeOf({ first, last }: Audience): string {
  if (first?.high == null || last.high === null) return say.noEarlier
  return say.sinceDay(signedCount(last.high - first.high), shortPeriod(first.day))
}
