import { Anchor, Skeleton, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import { ListTable } from '../../components/list-table.tsx'
import { bytes, count, percent } from '../../components/numbers.ts'
import type { Volume } from '../../components/volume.ts'
import { reports as say } from '../../strings/reports.ts'
import type { ReportEntry } from './use-reports.ts'

/** The volume of each sub-account or connection, and of all that were found. */
export function ReportTable({
  accountId,
  entries,
  total,
  of,
}: {
  accountId: string | undefined
  entries: readonly ReportEntry[]
  /** Of all pages; undefined while it is not known. */
  total: Volume | undefined
  /** How many there are on all pages. */
  of: number
}) {
  const pathOf = (id: string) => (accountId ? `/accounts/${accountId}/connections/${id}` : `/accounts/${id}/reports`)
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{accountId ? say.connection : say.account}</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            {say.read}
          </Table.Th>
          <Table.Th ta="right">{say.accepted}</Table.Th>
          <Table.Th ta="right">{say.rejected}</Table.Th>
          <Table.Th ta="right" visibleFrom="lg">
            {say.replayed}
          </Table.Th>
          <Table.Th ta="right" visibleFrom="md" style={{ whiteSpace: 'nowrap' }}>
            {say.acceptance}
          </Table.Th>
          <Table.Th ta="right" visibleFrom="md">
            {say.bytes}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map(({ id, name, total: volume }) => (
          <Table.Tr key={id}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor component={Link} to={pathOf(id)} fw={550} fz="inherit" lineClamp={2}>
                {name}
              </Anchor>
            </Table.Td>
            <Figures volume={volume} />
          </Table.Tr>
        ))}
      </Table.Tbody>
      <Table.Tfoot style={{ borderTop: '2px solid var(--mantine-color-default-border)' }}>
        <Table.Tr fw={650}>
          <Table.Th scope="row">{say.total(count(of))}</Table.Th>
          <Figures volume={total} />
        </Table.Tr>
      </Table.Tfoot>
    </ListTable>
  )
}

function Figures({ volume }: { volume: Volume | undefined }) {
  const cell = (text: (volume: Volume) => string) =>
    volume ? text(volume) : <Skeleton height={14} width={48} ml="auto" />
  const isRejected = volume !== undefined && volume.rejected > 0
  return (
    <>
      <Table.Td ta="right" visibleFrom="sm">
        {cell(({ read }) => count(read))}
      </Table.Td>
      <Table.Td ta="right">{cell(({ accepted }) => count(accepted))}</Table.Td>
      <Table.Td ta="right">
        <Text span inherit {...(isRejected ? {} : { c: 'dimmed' })}>
          {cell(({ rejected }) => count(rejected))}
        </Text>
      </Table.Td>
      <Table.Td ta="right" visibleFrom="lg">
        {cell(({ replayed }) => count(replayed))}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="md">
        {cell(({ read, accepted }) => (read === 0 ? '–' : percent(Math.min(1, accepted / read))))}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="md" style={{ whiteSpace: 'nowrap' }}>
        {cell((volume) => bytes(volume.bytes))}
      </Table.Td>
    </>
  )
}
