import { Anchor, Group, Stack, Text } from '@mantine/core'
import type { Connection, ConnectionDetails, Transfer } from '@penstock/wire'
import { limits } from '@penstock/wire'
import { IconCalendarTime, IconList, IconPencil } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { nameOfSet, setTagOf } from '../../components/connection-set.ts'
import { ConnectorName } from '../../components/connector-name.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { ActionsMenu } from '../../components/reasoned.tsx'
import { DataTable } from '../../components/resource-table.tsx'
import { Section } from '../../components/section.tsx'
import { nextRunOf } from '../../components/standing.ts'
import { ConnectionBadge, NextRunWords } from '../../components/status.tsx'
import { pathOf } from '../../shell/account.ts'
import { connectionSet as say } from '../../strings/connection-set.ts'
import { connections as words } from '../../strings/connections.ts'
import { EditSchedule } from './edit-schedule.tsx'
import { RenameSet } from './rename-set.tsx'

/** The other connections that were created together with this one, how they are doing, and actions for all of them. */
export function SetCard({ connection }: { connection: ConnectionDetails }) {
  const { accountId, id } = connection
  const tag = setTagOf(useRead('getConnectionLabels', { accountId, id }).data?.reply.tags ?? [])
  return tag === undefined ? null : <OfSet connection={connection} tag={tag} />
}

function OfSet({ connection, tag }: { connection: ConnectionDetails; tag: string }) {
  const { accountId, id } = connection
  const query = useRead(
    'listConnections',
    { accountId, query: { tags: tag, size: limits.pageSizeMax } },
    { keep: true },
  )
  const live = (query.data?.reply ?? []).filter(({ deleted }) => !deleted)
  const others = live.filter((one) => one.id !== id)
  const forbidden = useForbidden('setSchedule')
  const mayLabel = useForbidden('setConnectionLabels')
  const [dialog, open] = useDialog()
  const name = nameOfSet(tag)
  const list = `${pathOf(accountId, 'connections')}?${new URLSearchParams({ tags: tag })}`
  const setSchedule = () =>
    open((close) => <EditSchedule connection={connection} schedule={undefined} set={{ name, live }} onClose={close} />)
  return (
    <Section
      title={say.card}
      help={say.cardHelp(name)}
      action={
        <ActionsMenu
          label={say.more}
          groups={[
            [
              {
                label: say.setSchedule,
                icon: <IconCalendarTime size={16} aria-hidden />,
                reason: forbidden,
                onClick: setSchedule,
              },
              {
                label: say.rename,
                icon: <IconPencil size={16} aria-hidden />,
                reason: mayLabel,
                onClick: () =>
                  open((close) => <RenameSet accountId={accountId} tag={tag} live={live} onClose={close} />),
              },
              { label: say.showAll, icon: <IconList size={16} aria-hidden />, to: list },
            ],
          ]}
        />
      }
    >
      <Loaded query={query} lines={2} quiet>
        {() =>
          others.length === 0 ? <Text size="sm">{say.none}</Text> : <Others others={others} label={say.others(name)} />
        }
      </Loaded>
      {dialog}
    </Section>
  )
}

function Others({ others, label }: { others: readonly Connection[]; label: string }) {
  const accountId = others[0]?.accountId ?? ''
  const connectionIds = others.map(({ id }) => id).join(',')
  const query = { connectionIds, size: limits.pageSizeMax }
  const transfers = useRead('listAllTransfers', { accountId, query: { ...query, latest: true } }).data?.reply
  const schedules = useRead(
    'listSchedules',
    { accountId, query },
    { enabled: useForbidden('listSchedules') === undefined },
  ).data?.reply
  const latestOf = (id: string): Transfer | undefined => transfers?.find(({ connectionId }) => connectionId === id)
  return (
    <DataTable
      label={label}
      rows={others}
      columns={[
        {
          header: words.name,
          names: true,
          wraps: true,
          cell: ({ id, name, dest }) => (
            <Stack gap={2}>
              <Anchor component={Link} to={pathOf(accountId, `connections/${id}`)} fz="sm" fw={500}>
                {name}
              </Anchor>
              <Group fz="sm" c="dimmed">
                <ConnectorName logo={dest.connectorLogo} name={dest.connectorName} size={16} />
              </Group>
            </Stack>
          ),
        },
        {
          header: words.status,
          cell: ({ id, status }) => <ConnectionBadge status={status} transfer={latestOf(id)} />,
        },
        {
          header: words.nextRun,
          from: 'sm',
          cell: ({ id, status }) => (
            <NextRunWords
              next={nextRunOf(
                status,
                latestOf(id),
                schedules?.find(({ connectionId }) => connectionId === id),
              )}
            />
          ),
        },
      ]}
    />
  )
}
