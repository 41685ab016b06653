import { Anchor, Badge, Box, Group, Pill, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import type { AlertIncident, AlertReason } from '@penstock/wire'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.tsx'
import { Empty } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { statusColors, transferColors } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { alerts as say } from '../../strings/alerts.ts'
import { components } from '../../strings/components.ts'

const isResolved = ({ value }: ListAddress) => value('show') === 'resolved'

export const incidentsOf = (accountId: string | undefined, address: ListAddress) => ({
  accountId,
  query: {
    open: !isResolved(address),
    ruleId: address.value('ruleId') || undefined,
    ...{ size: pageSize, offset: address.page * pageSize },
  },
})

export const reasonColors: Readonly<Record<AlertReason, string>> = {
  connection_broken: statusColors.broken,
  connection_offline: statusColors.offline,
  transfer_failed: transferColors.failed,
  transfer_partial: transferColors.partial,
  no_success: 'orange',
  volume_unusual: 'yellow',
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
      <PagedList query={query} empty={<Empty title={isResolved(address) ? say.noneResolved : say.noneOpen} />}>
        {(reply) => <IncidentTable incidents={reply} showsAccount={accountId === undefined} />}
      </PagedList>
    </Stack>
  )
}

function IncidentTable({ incidents, showsAccount }: { incidents: readonly AlertIncident[]; showsAccount: boolean }) {
  return (
    <ListTable label={say.incidents}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.connection}</Table.Th>
          <Table.Th visibleFrom="sm" w="30%">
            {say.what}
          </Table.Th>
          <Table.Th visibleFrom="sm">{say.since}</Table.Th>
          <Table.Th visibleFrom="lg">{say.rule}</Table.Th>
          <Table.Th w={150}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {incidents.map((incident) => (
          <Table.Tr key={incident.id} style={{ verticalAlign: 'top' }}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor
                component={Link}
                to={`/accounts/${incident.accountId}/connections/${incident.connectionId}`}
                fw={550}
              >
                {incident.connectionName}
              </Anchor>
              {showsAccount && (
                <Text size="sm" c="dimmed">
                  {incident.accountName}
                </Text>
              )}
              <Box hiddenFrom="sm" mt={6} fz="sm">
                <Reasons incident={incident} />
                <Times incident={incident} />
              </Box>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Reasons incident={incident} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Times incident={incident} />
            </Table.Td>
            <Table.Td visibleFrom="lg" style={{ overflowWrap: 'anywhere' }}>
              {incident.ruleName}
            </Table.Td>
            <Table.Td ta="right">
              <Acknowledge incident={incident} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ListTable>
  )
}

function Reasons({ incident: { reasons, transferId, accountId, connectionId } }: { incident: AlertIncident }) {
  return (
    <Stack gap={4} align="flex-start">
      {reasons.map((reason) => (
        <Badge key={reason} variant="dot" color={reasonColors[reason]} fw={500}>
          {say.reason[reason]}
        </Badge>
      ))}
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
  const send = () => {
    acknowledge
      .mutateAsync({ id })
      .then(() => notifyDone(say.acknowledged))
      .catch(notifyFailure)
  }
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
