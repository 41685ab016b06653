import { Anchor, Badge, Button, Group, Pill, Stack, Text } from '@mantine/core'
import type { AlertIncident, AlertReason } from '@penstock/wire'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { notifyOutcome } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { statusColors, transferColors } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf } from '../../shell/account.ts'
import { alerts as say } from '../../strings/alerts.ts'

const isResolved = ({ value }: ListAddress) => value('show') === 'resolved'

export const incidentsOf = (accountId: string | undefined, address: ListAddress) => ({
  accountId,
  query: { open: !isResolved(address), ruleId: address.value('ruleId') || undefined, ...pageOf(address) },
})

/** Other reasons are yellow. */
const reasonColors: Readonly<Partial<Record<AlertReason, string>>> = {
  connection_broken: statusColors.broken,
  connection_offline: statusColors.offline,
  columns_changed: transferColors.failed,
  transfer_failed: transferColors.failed,
  transfer_partial: transferColors.partial,
  no_success: 'orange',
}

export function Incidents({ accountId }: { accountId: string | undefined }) {
  const address = useAddress()
  const query = useRead('listAlertIncidents', incidentsOf(accountId, address), { keep: true })
  const ruleId = address.value('ruleId')
  return (
    <Stack gap="md">
      {ruleId && (
        <Group>
          <Pill
            size="lg"
            withRemoveButton
            removeButtonProps={{ 'aria-label': say.showAllRules, 'aria-hidden': false, tabIndex: 0 }}
            onRemove={() => address.change({ ruleId: '' })}
          >
            {say.ofRule(query.data?.reply[0]?.ruleName ?? ruleId)}
          </Pill>
        </Group>
      )}
      <ResourceTable
        label={say.incidents}
        top
        query={query}
        empty={isResolved(address) ? <Empty title={say.noneResolved} /> : <NoneOpen accountId={accountId} />}
        columns={[
          {
            header: say.connection,
            wraps: true,
            cell: (incident) => (
              <>
                <NameLink to={`/accounts/${incident.accountId}/connections/${incident.connectionId}`}>
                  {incident.connectionName}
                </NameLink>
                {accountId === undefined && (
                  <Text size="sm" c="dimmed">
                    {incident.accountName}
                  </Text>
                )}
              </>
            ),
          },
          {
            header: say.what,
            from: 'sm',
            w: '30%',
            folded: true,
            cell: (incident) => <Reasons incident={incident} />,
          },
          { header: say.since, from: 'sm', folded: true, cell: (incident) => <Times incident={incident} /> },
          { header: say.rule, from: 'lg', wraps: true, cell: ({ ruleName }) => ruleName },
        ]}
        actions={(incident) => <Acknowledge incident={incident} />}
        actionsW={150}
      />
    </Stack>
  )
}

/** That no incident is open. It does not say that all is well while a connection is broken that no rule covers. */
function NoneOpen({ accountId }: { accountId: string | undefined }) {
  const { data } = useRead('listAttention', { accountId, query: { size: 1 } })
  const n = data?.total ?? 0
  if (n === 0) return <Empty title={say.noneOpen} />
  return (
    <Empty
      title={say.noneOpenBut(count(n), n === 1)}
      help={say.noneOpenButHelp}
      action={
        <Button component={Link} to={pathOf(accountId)} variant="default">
          {say.needsAttention}
        </Button>
      }
    />
  )
}

function Reasons({ incident }: { incident: AlertIncident }) {
  const { reasons, numbers, table, columns, transferId, accountId, connectionId } = incident
  return (
    <Stack gap={4} align="flex-start">
      {reasons.map((reason) => (
        <Badge key={reason} variant="dot" color={reasonColors[reason] ?? 'yellow'} fw={500}>
          {say.reason[reason]}
        </Badge>
      ))}
      {numbers.map((sentence) => (
        <Text key={sentence} size="sm" c="dimmed">
          {sentence}
        </Text>
      ))}
      {(table !== null || columns.length > 0) && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {say.place(table, columns)}
        </Text>
      )}
      {transferId && (
        <Anchor
          component={Link}
          to={`/accounts/${accountId}/connections/${connectionId}/transfers/${transferId}`}
          size="sm"
        >
          {say.transfer}
        </Anchor>
      )}
    </Stack>
  )
}

function Times({ incident: { openedTime, resolvedTime, resolution } }: { incident: AlertIncident }) {
  return (
    <>
      <Time seconds={openedTime} />
      {resolution && (
        <Text size="sm" c="dimmed">
          {say.until} <Time seconds={resolvedTime} /> · {say.resolution[resolution]}
        </Text>
      )}
    </>
  )
}

function Acknowledge({ incident }: { incident: AlertIncident }) {
  const { id, connectionName, resolvedTime, acknowledgedTime, acknowledgedBy } = incident
  const acknowledge = useWrite('acknowledgeAlertIncident')
  const forbidden = useForbidden('acknowledgeAlertIncident')
  if (acknowledgedTime !== null) {
    return (
      <Text size="sm" c="dimmed">
        {say.acknowledgedBy(acknowledgedBy?.name ?? say.someone)}
      </Text>
    )
  }
  if (resolvedTime !== null) return null
  const send = () => void notifyOutcome(acknowledge.mutateAsync({ id }), say.acknowledged)
  return (
    <ReasonedButton
      size="compact-sm"
      variant="default"
      reason={forbidden}
      loading={acknowledge.isPending}
      aria-label={say.acknowledgeOf(connectionName)}
      onClick={send}
    >
      {say.acknowledge}
    </ReasonedButton>
  )
}
