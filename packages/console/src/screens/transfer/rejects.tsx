import { ActionIcon, Alert, Button, Code, Group, Menu, Stack, Text } from '@mantine/core'
import { type Connection, limits, operations, type Reject, type Transfer } from '@penstock/wire'
import { IconChevronDown, IconDownload, IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { download } from '../../api/download.ts'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { Loaded } from '../../components/loaded.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Toolbar } from '../../components/page.tsx'
import { Pager, pageSize } from '../../components/pager.tsx'
import { recordColumns } from '../../components/record-values.tsx'
import { type Column, DataTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Section } from '../../components/section.tsx'
import { rejectEdits } from '../../strings/reject-edits.ts'
import { transfer as say } from '../../strings/transfer.ts'
import { isActive } from '../connection/use-connection.ts'
import { EditReject } from './edit-reject.tsx'
import { KeepRejects } from './keep-rejects.tsx'
import { ReasonFilter } from './reason-filter.tsx'

const chunk = limits.pageSizeMax

/** The records that were not taken: by reason, to search, and all of them to download. */
export function Rejects({ transfer, connection }: { transfer: Transfer; connection: Connection }) {
  const { value, page } = useAddress()
  const q = value('q').trim()
  const reason = value('reason')
  const from = reason !== '' ? 0 : Math.floor((page * pageSize) / chunk) * chunk
  const { accountId, connectionId, id, records } = transfer
  const moves = isActive(transfer)
  const forbidden = useForbidden('editRejects')
  const [edited, setEdited] = useState<Reject>()
  const query = useRead(
    'listRejects',
    { accountId, id: connectionId, transferId: id, query: { size: chunk, offset: from, ...(q ? { q } : {}) } },
    { keep: true, againAfterMs: moves ? 3_000 : 0 },
  )
  const total = query.data?.total ?? 0
  const actions = (total > 0 || q !== '') && (
    <Group gap="sm">
      <KeepRejects connection={connection} />
      <Download transfer={transfer} />
    </Group>
  )
  return (
    <Section title={say.rejects} action={actions}>
      <Loaded query={query} quiet>
        {({ reply }) => {
          if (total === 0 && q === '') {
            if (records.rejected > 0) return <Empty title={say.rejectsGone} help={say.rejectsGoneHelp} />
            return moves ? (
              <Empty title={say.rejectsSoFar} />
            ) : (
              <Empty title={say.rejectsNone} {...(records.read > 0 ? { help: say.rejectsNoneHelp } : {})} />
            )
          }
          const fitting = reply.filter((one) => reason === '' || one.reason === reason)
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
              {q !== '' && records.rejected > limits.rejectsSearchedMax && (
                <Text size="sm" c="dimmed">
                  {say.searched(count(limits.rejectsSearchedMax))}
                </Text>
              )}
              {shown.length === 0 ? (
                <Empty title={say.noneFound} />
              ) : (
                <DataTable
                  label={say.rejects}
                  top
                  horizontalSpacing="sm"
                  verticalSpacing="xs"
                  fz="sm"
                  highlightOnHover
                  rows={shown}
                  columns={columns}
                  keyOf={({ number }) => number}
                  actions={
                    !moves && !transfer.test && forbidden === undefined
                      ? (reject) => reject.editable && <Edit reject={reject} onEdit={setEdited} />
                      : false
                  }
                />
              )}
              <Pager total={reason === '' ? total : fitting.length} />
              {!moves && q === '' && records.rejected > total && reply.every(({ count }) => count === 1) && (
                <Alert color="gray" p="xs">
                  {say.tooMany}
                </Alert>
              )}
            </Stack>
          )
        }}
      </Loaded>
      {edited && <EditReject transfer={transfer} reject={edited} onClose={() => setEdited(undefined)} />}
    </Section>
  )
}

function Edit({ reject, onEdit }: { reject: Reject; onEdit: (reject: Reject) => void }) {
  const label = `${rejectEdits.edit}: ${reject.row ?? reject.number}`
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={rejectEdits.edit}
      onClick={() => onEdit(reject)}
    >
      <IconPencil size={16} aria-hidden />
    </ActionIcon>
  )
}

const columns: readonly Column<Reject>[] = [
  { header: say.row, w: 90, cell: ({ row, count: n }) => (row === null ? say.unknownRow(count(n)) : count(row)) },
  { header: say.field, from: 'sm', w: 160, cell: ({ field }) => field && <Code>{field}</Code> },
  {
    header: rejectEdits.state,
    from: 'md',
    w: 140,
    cell: ({ structural, superseded, edited }) =>
      superseded ? rejectEdits.superseded : edited ? rejectEdits.corrected : structural ? rejectEdits.structural : null,
  },
  ...recordColumns(say),
]

const endings = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const
type DownloadType = keyof typeof endings

/** Saves all the records that a transfer rejected. */
function Download({ transfer: { accountId, connectionId, id } }: { transfer: Transfer }) {
  const [busy, setBusy] = useState(false)
  const save = (type: DownloadType) => () => {
    const path = operations.listRejects.path.replace('{id}', connectionId).replace('{transferId}', id)
    setBusy(true)
    download(path, { accountId }, type, say.fileName(id, endings[type]))
      .catch(notifyFailure)
      .finally(() => setBusy(false))
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
        <Menu.Item onClick={save('text/csv')}>{say.downloadCsv}</Menu.Item>
        <Menu.Item onClick={save('application/x-ndjson')}>{say.downloadNdjson}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
