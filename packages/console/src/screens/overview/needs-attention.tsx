import { Anchor, Badge, Box, Button, Card, Group, List, Select, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { type AttentionEntry, attentionReasons } from '@penstock/wire'
import { IconCircleCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Pager } from '../../components/pager.tsx'
import { statusColors, transferColors } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf } from '../../shell/account.ts'
import { failing as sayFailing } from '../../strings/failing.ts'
import { overview as say } from '../../strings/overview.ts'
import { standing } from '../../strings/standing.ts'
import { Reconnect } from '../connectors/reconnect.tsx'
import { type CauseGroup, causeGroupsOf } from '../failing/cause.ts'
import { GroupCure } from '../failing/group-cure.tsx'
import { titleOf, whereAndSince } from '../failing/titles.ts'
import { groupedMax, useFailing } from '../failing/use-failing.ts'
import { attentionSize, type Concern, type Kind, ofEntry, useAttention, useReason } from './attention.ts'

const colors: Readonly<Record<Kind, string>> = {
  broken: statusColors.broken,
  offline: statusColors.offline,
  transfer_failed: transferColors.failed,
  transfer_retrying: transferColors.partial,
  transfer_partial: transferColors.partial,
  not_configured: statusColors['In-progress'],
  dependency_failed: transferColors.partial,
  log_kept: transferColors.partial,
  connector: 'gray',
}

/** Leads to the open incidents of alert rules, if there are any. */
function OpenIncidents({ accountId }: { accountId: string | undefined }) {
  const isForbidden = useForbidden('listAlertIncidents') !== undefined
  const { data } = useRead(
    'listAlertIncidents',
    { accountId, query: { open: true, size: 1 } },
    { enabled: !isForbidden },
  )
  if (!data?.total) return null
  return (
    <Anchor component={Link} to={`${accountId ? `/accounts/${accountId}` : ''}/alerts`} size="sm" mr="auto">
      {say.openIncidents(count(data.total), data.total === 1)}
    </Anchor>
  )
}

/** Problems in a sub-account or in the organization. */
export function NeedsAttention({ accountId }: { accountId: string | undefined }) {
  const attention = useAttention(accountId)
  const reason = useReason()
  const failing = useFailing(accountId, { size: groupedMax, enabled: reason === undefined })
  const nFailing = reason === undefined ? (failing.data?.total ?? 0) : 0
  // All at once: what arrived later would move what is read already.
  const isRead = reason !== undefined || failing.data !== undefined || failing.isError
  const shown = (isRead ? attention : { ...attention, data: undefined }) as typeof attention
  const isLong = reason !== undefined || nFailing + (attention.data?.total ?? 0) > attentionSize
  return (
    <Card withBorder component="section" aria-label={say.attention}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h5">
          {say.attention}
        </Title>
        <OpenIncidents accountId={accountId} />
        {isLong && <ReasonFilter />}
      </Group>
      <Loaded query={shown} lines={6}>
        {({ concerns, total, moreConnectors }) => (
          <>
            {nFailing > 0 && failing.data && (
              <FailingGroups accountId={accountId} connections={failing.data.reply} total={nFailing} />
            )}
            {concerns.length === 0 && total === 0 ? (
              nFailing > 0 ? null : reason ? (
                <Text size="sm" c="dimmed" py="md">
                  {say.noneOfReason}
                </Text>
              ) : (
                <Group gap="sm" wrap="nowrap" py="md">
                  <ThemeIcon variant="light" color="teal" size="lg" radius="xl">
                    <IconCircleCheck size={22} aria-hidden />
                  </ThemeIcon>
                  <div>
                    <Text fw={550}>{say.attentionNone}</Text>
                    <Text size="sm" c="dimmed">
                      {say.attentionNoneHelp}
                    </Text>
                  </div>
                </Group>
              )
            ) : (
              <Stack gap={0} aria-busy={attention.isPlaceholderData} opacity={attention.isPlaceholderData ? 0.55 : 1}>
                <List
                  inert={attention.isPlaceholderData}
                  listStyleType="none"
                  spacing={0}
                  styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}
                >
                  {concerns.map((concern) => (
                    <List.Item key={concern.kind + concern.key}>
                      <Row {...concern} />
                    </List.Item>
                  ))}
                </List>
                {moreConnectors && (
                  <Anchor component={Link} to={moreConnectors.to} size="sm" pt="sm">
                    {say.more(count(moreConnectors.n), say.reasons.connector)}
                  </Anchor>
                )}
                {total > attentionSize && (
                  <Box pt="sm">
                    <Pager total={total} size={attentionSize} />
                  </Box>
                )}
              </Stack>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

/** Failing connections: those with the same cause are one line with one cure. */
function FailingGroups({
  accountId,
  connections,
  total,
}: {
  accountId: string | undefined
  connections: readonly AttentionEntry[]
  total: number
}) {
  const groups = causeGroupsOf(connections)
  const list = `${pathOf(accountId, 'connections')}?last=failing`
  return (
    <List
      listStyleType="none"
      spacing={0}
      styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}
      aria-label={standing.connection.failing}
    >
      {groups.slice(0, attentionSize).map((group) => {
        const [first] = group.connections
        return (
          <List.Item key={group.cause.key}>
            {group.connections.length === 1 && first ? (
              <Row {...ofEntry(first, accountId === undefined)} />
            ) : (
              <GroupRow group={group} to={list} />
            )}
          </List.Item>
        )
      })}
      {(groups.length > attentionSize || groups.length < total) && (
        <List.Item>
          <Anchor component={Link} to={list} size="sm">
            {sayFailing.showAll(count(total))}
          </Anchor>
        </List.Item>
      )}
    </List>
  )
}

function GroupRow({ group, to }: { group: CauseGroup; to: string }) {
  const title = titleOf(group)
  const { accounts, since } = whereAndSince(group.connections)
  return (
    <Group
      gap="sm"
      py="sm"
      justify="space-between"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group gap="sm" wrap="nowrap" align="flex-start" style={{ flex: '1 1 16rem' }} miw={0}>
        <Badge variant="light" color={group.cause.kind === 'waiting' ? 'yellow' : 'red'} autoContrast>
          {count(group.connections.length)}
        </Badge>
        <Box miw={0}>
          <Anchor component={Link} to={to} fw={550} size="sm">
            {title}
          </Anchor>
          <Text size="sm" c="dimmed" component="div" mt={4}>
            {sayFailing.connections(group.connections.length)}
            {accounts && ` · ${accounts}`}
            {since !== undefined && (
              <>
                {' · '}
                {sayFailing.since} <Time seconds={since} />
              </>
            )}
          </Text>
        </Box>
      </Group>
      <GroupCure cause={group.cause} title={title} connections={group.connections} />
    </Group>
  )
}

function ReasonFilter() {
  const { change } = useAddress()
  return (
    <Select
      aria-label={say.reason}
      data={[
        { value: '', label: say.everyReason },
        ...attentionReasons.map((value) => ({ value, label: say.reasons[value] })),
      ]}
      value={useReason() ?? ''}
      onChange={(reason) => change({ reason: reason ?? '' })}
      allowDeselect={false}
      checkIconPosition="right"
      size="xs"
      w={150}
    />
  )
}

function Row({ kind, name, to, accountName, why, action, refused }: Concern) {
  const button = (
    <Button
      component={Link}
      to={action.to}
      size="compact-sm"
      variant="light"
      aria-label={`${action.label}: ${name}`}
      style={{ flex: 'none', maxWidth: '100%' }}
    >
      {action.label}
    </Button>
  )
  return (
    <Group
      gap="sm"
      py="sm"
      justify="space-between"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Box miw={0} style={{ flex: '1 1 16rem' }}>
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Badge variant="dot" color={colors[kind]} fw={500} style={{ flex: 'none' }}>
            {say.reasons[kind]}
          </Badge>
          <Anchor component={Link} to={to} fw={550} size="sm" truncate title={name}>
            {name}
          </Anchor>
          {accountName && (
            <Text span size="sm" c="dimmed" truncate visibleFrom="xs" style={{ flexShrink: 1000, minWidth: 64 }}>
              {say.inAccount(accountName)}
            </Text>
          )}
        </Group>
        {accountName && (
          <Text size="sm" c="dimmed" truncate hiddenFrom="xs" mt={4}>
            {say.inAccount(accountName)}
          </Text>
        )}
        <Text size="sm" c="dimmed" mt={4} lineClamp={2} style={{ overflowWrap: 'anywhere' }} title={why}>
          {why}
        </Text>
      </Box>
      {refused ? (
        <Reconnect {...refused} variant="light">
          {button}
        </Reconnect>
      ) : (
        button
      )}
    </Group>
  )
}
