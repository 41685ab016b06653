import { Skeleton, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { bytes, count, percent } from '../../components/numbers.ts'
import { type Column, NameLink, ResourceTable } from '../../components/resource-table.tsx'
import type { Volume } from '../../components/volume.ts'
import { reports as say } from '../../strings/reports.ts'
import type { Reports } from './use-reports.ts'

/** The volume of each sub-account or connection, and of all that were found. */
export function ReportTable({
  accountId,
  query,
  total,
  empty,
}: {
  accountId: string | undefined
  query: UseQueryResult<Reports, Error>
  /** Of all pages; undefined while it is not known. */
  total: Volume | undefined
  empty: ReactNode
}) {
  const pathOf = (id: string) => (accountId ? `/accounts/${accountId}/connections/${id}` : `/accounts/${id}/reports`)
  const figure = (text: (volume: Volume) => ReactNode): Omit<Column<Reports['reply'][number]>, 'header'> => ({
    right: true,
    nowrap: true,
    cell: ({ total: volume }) => text(volume),
    footer: total ? text(total) : <Skeleton height={14} width={48} ml="auto" />,
  })
  return (
    <ResourceTable
      label={say.title}
      query={query}
      empty={empty}
      columns={[
        {
          header: accountId ? say.connection : say.account,
          wraps: true,
          names: true,
          cell: ({ id, name }) => <NameLink to={pathOf(id)}>{name}</NameLink>,
          footer: say.total(count(query.data?.total ?? 0)),
        },
        { header: say.read, from: 'sm', ...figure(({ read }) => count(read)) },
        { header: say.accepted, ...figure(({ accepted }) => count(accepted)) },
        {
          header: say.rejected,
          ...figure(({ rejected }) => (
            <Text span inherit {...(rejected > 0 ? {} : { c: 'dimmed' })}>
              {count(rejected)}
            </Text>
          )),
        },
        { header: say.replayed, from: 'lg', ...figure(({ replayed }) => count(replayed)) },
        {
          header: say.acceptance,
          from: 'md',
          ...figure(({ read, accepted }) => (read === 0 ? '–' : percent(Math.min(1, accepted / read)))),
        },
        { header: say.bytes, from: 'md', ...figure((volume) => bytes(volume.bytes)) },
      ]}
    />
  )
}
