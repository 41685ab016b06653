import { Badge, Select, Stack, Text } from '@mantine/core'
import {
  type ConnectionDetails,
  type ConnectionTable,
  type ConnectionTableStatus,
  connectionTableStatuses,
} from '@penstock/wire'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { Confirm } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ActionsMenu } from '../../components/reasoned.tsx'
import { type Column, ResourceTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { statusColors } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { connectionTables as say } from '../../strings/connection-tables.ts'
import type { Reasons } from './reasons.ts'

const liveMs = 3_000
const idleMs = 10_000

/** Whether the connection moves many tables. */
export const movesTables = ({ srcConnectionConfig }: ConnectionDetails): boolean =>
  srcConnectionConfig.dataSourceType === 'Many Tables'

/** The tables of a connection, each with its last result and what can be done with it. */
export function Tables({
  connection,
  reasons,
  moves,
}: {
  connection: ConnectionDetails
  reasons: Reasons
  /** Whether a transfer is active. */
  moves: boolean
}) {
  const address = useAddress()
  const status = connectionTableStatuses.find((one) => one === address.value('status'))
  const { accountId, id } = connection
  const query = useRead(
    'listConnectionTables',
    { accountId, id, query: { status, ...foundOf(address) } },
    { keep: true, againAfterMs: moves ? liveMs : idleMs },
  )
  const isFiltered = status !== undefined || address.value('q') !== ''
  const empty = isFiltered ? <Empty title={say.noneFound} /> : <Empty title={say.none} help={say.noneHelp} />
  return (
    <>
      <Toolbar>
        <SearchBox label={say.search} />
        <Select
          aria-label={say.status}
          placeholder={say.anyStatus}
          data={connectionTableStatuses.map((one) => ({ value: one, label: say.statuses[one] }))}
          value={status ?? null}
          clearable
          clearButtonProps={{ 'aria-label': say.anyStatus }}
          onChange={(next) => address.change({ status: next ?? '' })}
          w={180}
        />
      </Toolbar>
      <Stack gap="md" mt="md">
        <ResourceTable
          label={say.title}
          query={query}
          quiet
          empty={empty}
          keyOf={({ table }) => table}
          columns={columns}
          actions={(table) => <Actions table={table} connection={connection} reasons={reasons} />}
        />
      </Stack>
    </>
  )
}

const colors: Readonly<Record<ConnectionTableStatus, string>> = {
  active: statusColors.active,
  failing: statusColors.failing,
  paused: 'gray',
  missing: 'yellow',
}

const Status = ({ status }: ConnectionTable) => (
  <Badge variant="dot" color={colors[status]} fw={500} style={{ flex: 'none' }}>
    {say.statuses[status]}
  </Badge>
)

const counted = (of: 'read' | 'accepted' | 'rejected'): Column<ConnectionTable> => ({
  header: say[of],
  from: of === 'accepted' ? 'sm' : 'md',
  right: true,
  cell: ({ lastResult }) => (lastResult ? count(lastResult.records[of]) : '–'),
})

const columns: readonly Column<ConnectionTable>[] = [
  {
    header: say.table,
    wraps: true,
    names: true,
    cell: ({ table, destination, lastResult, changes }) => (
      <>
        {table}
        {destination !== null && (
          <Text size="xs" c="dimmed">
            {say.to(destination)}
          </Text>
        )}
        {lastResult?.error && (
          <Text size="xs" c="dimmed" mt={4} lineClamp={3}>
            {lastResult.error.message}
          </Text>
        )}
        {changes.length > 0 && (
          <Text size="xs" mt={4}>
            {say.changes(changes.length)}
          </Text>
        )}
      </>
    ),
  },
  { header: say.status, from: 'sm', folded: true, cell: (table) => <Status {...table} /> },
  counted('read'),
  counted('accepted'),
  counted('rejected'),
  {
    header: say.lastTime,
    from: 'lg',
    nowrap: true,
    cell: ({ lastResult }) =>
      lastResult && (
        <>
          {say.results[lastResult.status]} <Time seconds={lastResult.finishedTime} />
        </>
      ),
  },
]

function Actions({
  table: { table, status },
  connection,
  reasons,
}: {
  table: ConnectionTable
  connection: ConnectionDetails
  reasons: Reasons
}) {
  const { accountId, id } = connection
  const of = { accountId, id }
  const forbidden = useForbiddenOf()
  const [set, start, reset] = [
    useWrite('setConnectionTables'),
    useWrite('startTransfer'),
    useWrite('resetConnectionState'),
  ]
  const [dialog, open] = useDialog()
  const isPaused = status === 'paused'
  const whyNotMoved = isPaused ? say.isPaused : status === 'missing' ? say.isMissing : reasons.run
  const tables = [table]
  const run = () => start.mutateAsync({ ...of, body: { tables } })
  const pause = () =>
    notifyOutcome(
      set.mutateAsync({ ...of, body: { tables, paused: !isPaused } }),
      (isPaused ? say.resumed : say.paused)(table),
    )
  const copyAgain = async () => {
    await reset.mutateAsync({ ...of, body: { cursor: true, tables } })
    await run()
    return say.started(table)
  }
  return (
    <>
      <ActionsMenu
        label={say.actions(table)}
        loading={set.isPending || start.isPending}
        groups={[
          [
            { label: say.run, reason: whyNotMoved, onClick: () => void notifyOutcome(run(), say.started(table)) },
            {
              label: isPaused ? say.resume : say.pause,
              reason: forbidden('setConnectionTables') ?? (connection.editable ? undefined : reasons.edit),
              onClick: () => void pause(),
            },
          ],
          [
            {
              label: say.copyAgain,
              reason: forbidden('resetConnectionState') ?? whyNotMoved,
              destructive: true,
              onClick: () =>
                open((close) => (
                  <Confirm title={say.copyTitle(table)} action={say.copyAgain} onConfirm={copyAgain} onClose={close}>
                    {say.copyHelp}
                  </Confirm>
                )),
            },
          ],
        ]}
      />
      {dialog}
    </>
  )
}
