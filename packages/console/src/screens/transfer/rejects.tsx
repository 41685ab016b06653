import { Alert, Box, Button, Card, Code, Group, Menu, Stack, Table, Text, Title } from '@mantine/core'
import { limits, type Reject, type Transfer } from '@penstock/wire'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { Sideways } from '../../components/list-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyFailure } from '../../components/notify.tsx'
import { count } from '../../components/numbers.ts'
import { Empty, Toolbar } from '../../components/page.tsx'
import { Pager, pageSize } from '../../components/pager.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { transfer as say } from '../../strings/transfer.ts'
import { isActive } from '../connection/use-connection.ts'
import { type DownloadType, downloadRejects } from './download.ts'
import { ReasonFilter } from './reason-filter.tsx'

const chunk = limits.pageSizeMax

/** The records that were not taken: by reason, to search, and all of them to download. */
export function Rejects({ transfer }: { transfer: Transfer }) {
  const { value, page } = useAddress()
  const q = value('q').toLowerCase()
  const reason = value('reason')
  const isFiltered = q !== '' || reason !== ''
  const from = isFiltered ? 0 : Math.floor((page * pageSize) / chunk) * chunk
  const { accountId, connectionId, id, records } = transfer
  const moves = isActive(transfer)
  const query = useRead(
    'listRejects',
    { accountId, id: connectionId, transferId: id, query: { size: chunk, offset: from } },
    { keep: true, againAfterMs: moves ? 3_000 : 0 },
  )
  const total = query.data?.total ?? 0
  return (
    <Card withBorder padding="lg">
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={2} size="h4">
          {say.rejects}
        </Title>
        {total > 0 && <Download transfer={transfer} />}
      </Group>
      <Loaded query={query} quiet>
        {({ reply }) => {
          if (total === 0) {
            if (records.rejected > 0) return <Empty title={say.rejectsGone} help={say.rejectsGoneHelp} />
            return moves ? (
              <Empty title={say.rejectsSoFar} />
            ) : (
              <Empty title={say.rejectsNone} {...(records.read > 0 ? { help: say.rejectsNoneHelp } : {})} />
            )
          }
          const fitting = reply.filter((one) => (reason === '' || one.reason === reason) && fits(one, q))
          const start = page * pageSize - from
          const shown = fitting.slice(start, start + pageSize)
          return (
            <Stack gap="md">
              <ReasonFilter rejects={reply} />
              <Toolbar>
                <SearchBox label={say.search} />
              </Toolbar>
              {total > reply.length && (
                <Text size="sm" c="dimmed">
                  {say.fewer(count(reply.length), count(total))}
                </Text>
              )}
              {shown.length === 0 ? <Empty title={say.noneFound} /> : <RejectTable rejects={shown} />}
              <Pager total={isFiltered ? fitting.length : total} />
              {!moves && records.rejected > total && reply.every(({ count }) => count === 1) && (
                <Alert color="gray" p="xs">
                  {say.tooMany}
                </Alert>
              )}
            </Stack>
          )
        }}
      </Loaded>
    </Card>
  )
}

/** What is searched is what is shown. */
const fits = ({ row, field, reason, record }: Reject, q: string): boolean =>
  q === '' ||
  [row === null ? '' : String(row), field ?? '', reason, ...Object.entries(record).flat()].some((text) =>
    text?.toLowerCase().includes(q),
  )

function RejectTable({ rejects }: { rejects: readonly Reject[] }) {
  return (
    <Sideways label={say.rejects}>
      <Table horizontalSpacing="sm" verticalSpacing="xs" fz="sm" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={90}>{say.row}</Table.Th>
            <Table.Th w={160} visibleFrom="sm">
              {say.field}
            </Table.Th>
            <Table.Th>{say.reason}</Table.Th>
            <Table.Th visibleFrom="md">{say.record}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rejects.map((reject, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row can be rejected twice, and holds no state.
            <Table.Tr key={index} style={{ verticalAlign: 'top' }}>
              <Table.Td>{reject.row === null ? say.unknownRow(count(reject.count)) : count(reject.row)}</Table.Td>
              <Table.Td visibleFrom="sm">{reject.field && <Code>{reject.field}</Code>}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {reject.reason}
                <Box hiddenFrom="md" mt={4}>
                  <Shortened record={reject.record} />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="md">
                <Shortened record={reject.record} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Sideways>
  )
}

/** A record whose values were shortened by the service, so that they identify no one. */
function Shortened({ record }: { record: Reject['record'] }) {
  return (
    <Group gap={6} fz="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {Object.entries(record).map(([field, value]) => (
        <span key={field}>
          <Text span inherit c="dimmed">
            {field}:
          </Text>{' '}
          {value ?? '∅'}
        </span>
      ))}
    </Group>
  )
}

function Download({ transfer }: { transfer: Transfer }) {
  const [busy, setBusy] = useState(false)
  const download = async (type: DownloadType) => {
    setBusy(true)
    try {
      await downloadRejects(transfer, type)
    } catch (error) {
      notifyFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          size="sm"
          loading={busy}
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={16} aria-hidden />}
        >
          {say.download}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void download('text/csv')}>{say.downloadCsv}</Menu.Item>
        <Menu.Item onClick={() => void download('application/x-ndjson')}>{say.downloadNdjson}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
