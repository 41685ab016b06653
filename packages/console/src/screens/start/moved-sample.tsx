import { Alert, Anchor, Box, Button, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { Reject, Transfer } from '@penstock/wire'
import { IconArrowRight } from '@tabler/icons-react'
import { Link, useNavigate } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Empty, Page } from '../../components/page.tsx'
import { recordColumns } from '../../components/record-values.tsx'
import { type Column, DataTable } from '../../components/resource-table.tsx'
import { Section } from '../../components/section.tsx'
import { TransferBadge, transferColors } from '../../components/status.tsx'
import { pathOf } from '../../shell/account.ts'
import { start } from '../../strings/start.ts'
import { isActive } from '../connection/use-connection.ts'

const { moved: say } = start
const rowsShown = 5
const soonMs = 500

/** The result of the sample: the counts, the rows in the table, the rejected rows, and the next steps. */
export function MovedSample({ accountId }: { accountId: string }) {
  const query = useRead('getSample', { accountId })
  return (
    <Loaded query={query} lines={8}>
      {({ reply: { connectionId, transferId, table } }) =>
        connectionId === null || transferId === null ? (
          <Page title={say.title}>
            <Empty
              title={say.gone}
              action={
                <Button component={Link} to={pathOf(accountId, 'start')} variant="default">
                  {say.back}
                </Button>
              }
            />
          </Page>
        ) : (
          <Moved accountId={accountId} connectionId={connectionId} transferId={transferId} table={table ?? ''} />
        )
      }
    </Loaded>
  )
}

type SampleIds = { accountId: string; connectionId: string; transferId: string; table: string }

function Moved({ table, ...ids }: SampleIds) {
  const { accountId, connectionId: id, transferId } = ids
  const query = useRead(
    'getTransfer',
    { accountId, id, transferId },
    { againAfterMs: (result) => (!result || isActive(result.reply) ? soonMs : 0) },
  )
  const transfer = query.data?.reply
  const rejects = useRejects({ accountId, id, transferId }, transfer !== undefined && !isActive(transfer))
  const isOver = transfer !== undefined && !isActive(transfer)
  const accepted = transfer?.records.accepted ?? 0
  const seconds = isOver ? Math.max(1, (transfer.finishedTime ?? 0) - (transfer.startedTime ?? 0)) : 0
  return (
    <Page
      title={!isOver ? say.waiting : accepted === 0 ? say.none : `${say.arrived(count(accepted))} ${table}`}
      help={isOver && accepted > 0 && say.in(count(seconds), count(transfer.records.rejected))}
    >
      <Loaded query={query} lines={6}>
        {({ reply }) => (
          <>
            {reply.status === 'failed' && (
              <Alert color="red" title={say.failed}>
                {reply.error?.message}
              </Alert>
            )}
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
              <Counts transfer={reply} />
              {isOver && <Rejected transfer={reply} />}
            </SimpleGrid>
            {isOver && rejects.isSettled && accepted > 0 && <Rows accountId={accountId} table={table} />}
          </>
        )}
      </Loaded>
      {isOver && rejects.isSettled && <Next accountId={accountId} />}
    </Page>
  )
}

/** Read, sent, accepted and rejected, each as a bar of what was read. */
function Counts({ transfer }: { transfer: Transfer }) {
  const { read, sent, accepted, rejected } = transfer.records
  const bars = [
    [say.read, say.readFrom, read, 'water.6'],
    [say.sent, say.sentTo, sent, 'water.6'],
    [say.accepted, say.acceptedAs, accepted, `${transferColors.succeeded}.6`],
    [say.rejected, say.rejectedWith, rejected, `${transferColors.failed}.6`],
  ] as const
  return (
    <Section title={say.counts} action={<TransferBadge transfer={transfer} />} region>
      <Stack gap="md">
        {bars.map(([label, help, n, color]) => (
          <Box key={label}>
            <Group justify="space-between" gap="xs">
              <Text size="sm">
                <b>{label}</b>{' '}
                <Text span inherit c="dimmed">
                  {help}
                </Text>
              </Text>
              <Text size="sm" fw={600} className="figures">
                {count(n)}
              </Text>
            </Group>
            <Progress value={read === 0 ? 0 : (n / read) * 100} color={color} mt={4} aria-hidden />
          </Box>
        ))}
      </Stack>
      <Group gap="sm">
        <Button component={Link} variant="default" to={transferPath(transfer)}>
          {say.transfer}
        </Button>
        <Remove accountId={transfer.accountId} />
      </Group>
    </Section>
  )
}

const transferPath = ({ accountId, connectionId, id }: Transfer) =>
  pathOf(accountId, `connections/${connectionId}/transfers/${id}`)

const rejectColumns: readonly Column<Reject>[] = [
  { header: say.row, w: 70, cell: ({ row }) => row !== null && count(row) },
  ...recordColumns(say),
]

/** The first rejected rows; the parts below them are drawn once they are there, so that nothing moves. */
function useRejects(of: { accountId: string; id: string; transferId: string }, enabled: boolean) {
  const forbidden = useForbidden('listRejects')
  const parameters = { ...of, query: { size: rowsShown } }
  const query = useRead('listRejects', parameters, { enabled: enabled && forbidden === undefined })
  return { forbidden, query, isSettled: forbidden !== undefined || !query.isPending }
}

function Rejected({ transfer }: { transfer: Transfer }) {
  const { accountId, connectionId, id, records } = transfer
  const { forbidden, query, isSettled } = useRejects({ accountId, id: connectionId, transferId: id }, true)
  return (
    <Section title={say.why}>
      {forbidden ? (
        <Text size="sm">{forbidden}</Text>
      ) : (
        <Loaded query={query} lines={4}>
          {({ reply }) => (
            <DataTable label={say.why} top fz="sm" verticalSpacing="xs" rows={[...reply]} columns={rejectColumns} />
          )}
        </Loaded>
      )}
      {isSettled && records.rejected > rowsShown && (
        <Anchor component={Link} to={transferPath(transfer)} size="sm">
          {say.all(count(records.rejected))}
        </Anchor>
      )}
    </Section>
  )
}

/** The first rows of the table, read from it. */
function Rows({ accountId, table }: { accountId: string; table: string }) {
  const forbidden = useForbidden('previewSample')
  const query = useRead('previewSample', { accountId }, { enabled: forbidden === undefined })
  return (
    <Section title={say.rows(table)}>
      {forbidden ? (
        <Text size="sm">{say.rowsForbidden}</Text>
      ) : (
        <Loaded query={query} lines={5}>
          {({ reply: { columns, rows } }) => (
            <DataTable
              label={say.rows(table)}
              fz="sm"
              verticalSpacing="xs"
              minWidth={720}
              keyOf={([id]) => id ?? ''}
              rows={rows.slice(0, rowsShown)}
              columns={columns.map((column, at) => ({
                header: column,
                nowrap: true,
                cell: (row: readonly (string | null)[]) => row[at],
              }))}
            />
          )}
        </Loaded>
      )}
    </Section>
  )
}

function Remove({ accountId }: { accountId: string }) {
  const forbidden = useForbidden('deleteSample')
  const navigate = useNavigate()
  return (
    <DialogButton
      reason={forbidden}
      variant="subtle"
      color="red"
      dialog={(close) => (
        <ConfirmWrite
          title={say.removeTitle}
          action={say.remove}
          operation="deleteSample"
          parameters={{ accountId }}
          onDone={() => navigate(pathOf(accountId, 'start'))}
          done={say.removed}
          onClose={close}
        >
          {say.removeHelp}
        </ConfirmWrite>
      )}
    >
      {say.remove}
    </DialogButton>
  )
}

function Next({ accountId }: { accountId: string }) {
  const ways = [
    [say.file, say.fileHelp, 'start'],
    [say.platform, say.platformHelp, 'connections/new'],
  ] as const
  return (
    <section aria-label={say.next}>
      <Title order={2} size="h4" mb="sm">
        {say.next}
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        {ways.map(([title, help, path]) => (
          <Button
            key={title}
            component={Link}
            to={pathOf(accountId, path)}
            variant="default"
            h="auto"
            py="sm"
            justify="space-between"
            rightSection={<IconArrowRight size={18} aria-hidden />}
          >
            <Box ta="left">
              <Text fw={600}>{title}</Text>
              <Text size="sm" c="dimmed">
                {help}
              </Text>
            </Box>
          </Button>
        ))}
      </SimpleGrid>
    </section>
  )
}
