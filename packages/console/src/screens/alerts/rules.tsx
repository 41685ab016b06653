import { ActionIcon, Alert, Anchor, Badge, Box, Group, Menu, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import type { AlertRule } from '@penstock/wire'
import { IconAlertTriangle, IconDots, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useForbidden, useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { Confirm } from '../../components/confirm.tsx'
import { ListTable } from '../../components/list-table.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.tsx'
import { count } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { useAccountId } from '../../shell/account.ts'
import { access } from '../../strings/access.ts'
import { alerts as say } from '../../strings/alerts.ts'
import { components } from '../../strings/components.ts'
import { SaveRule } from './save-rule.tsx'

export const rulesOf = (accountId: string | undefined, { value, page }: ListAddress) => ({
  accountId,
  query: { q: value('q') || undefined, size: pageSize, offset: page * pageSize },
})

/** A rule is created for what the page shows: the organization, or a sub-account. */
export function CreateRule() {
  const accountId = useAccountId()
  const isLimited = (useMe()?.accountIds ?? null) !== null
  const forbidden = useForbidden('createAlertRule')
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ReasonedButton
        leftSection={<IconPlus size={18} aria-hidden />}
        reason={forbidden ?? (isLimited && accountId === undefined ? say.inAccount : undefined)}
        onClick={() => setOpen(true)}
      >
        {say.create}
      </ReasonedButton>
      {isOpen && <SaveRule accountId={accountId ?? null} onClose={() => setOpen(false)} />}
    </>
  )
}

type Doing = { readonly what: 'edit' | 'remove'; readonly rule: AlertRule }

export function Rules({ accountId }: { accountId: string | undefined }) {
  const address = useAddress()
  const query = useRead('listAlertRules', rulesOf(accountId, address), { keep: true })
  const remove = useWrite('deleteAlertRule')
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const none = address.value('q') ? say.noRulesFound : accountId ? say.noRulesOfAccount : say.noRules
  return (
    <>
      <PagedList query={query} empty={<Empty title={none} />}>
        {(reply) => <RuleTable rules={reply} onDo={setDoing} />}
      </PagedList>
      {doing?.what === 'edit' && <SaveRule rule={doing.rule} accountId={doing.rule.accountId} onClose={stop} />}
      {doing?.what === 'remove' && (
        <Confirm
          title={say.removeTitle(doing.rule.name)}
          action={say.remove}
          onClose={stop}
          onConfirm={async () => {
            await remove.mutateAsync({ id: doing.rule.id })
            notifyDone(say.removed(doing.rule.name))
          }}
        >
          {say.removeHelp}
        </Confirm>
      )}
    </>
  )
}

function RuleTable({ rules, onDo }: { rules: readonly AlertRule[]; onDo: (doing: Doing) => void }) {
  return (
    <ListTable label={say.rules}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.name}</Table.Th>
          <Table.Th visibleFrom="sm" w="28%">
            {say.looksFor}
          </Table.Th>
          <Table.Th visibleFrom="md" w="28%">
            {say.sendsTo}
          </Table.Th>
          <Table.Th w={56}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rules.map((rule) => (
          <Table.Tr key={rule.id} style={{ verticalAlign: 'top' }}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <About rule={rule} />
              <Box hiddenFrom="sm" mt={6}>
                <Conditions rule={rule} />
              </Box>
              <Box hiddenFrom="md" mt={6}>
                <Channels rule={rule} />
              </Box>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Conditions rule={rule} />
            </Table.Td>
            <Table.Td visibleFrom="md" style={{ overflowWrap: 'anywhere' }}>
              <Channels rule={rule} />
            </Table.Td>
            <Table.Td>
              <Actions rule={rule} onDo={onDo} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ListTable>
  )
}

function About({
  rule: { id, name, accountId, connectionIds, enabled, mutedUntil, openIncidents },
}: {
  rule: AlertRule
}) {
  const { hrefWith } = useIncidentsOf()
  return (
    <>
      <Group gap="xs">
        <Text span fw={550}>
          {name}
        </Text>
        {!enabled && <Badge variant="default">{say.off}</Badge>}
      </Group>
      <Box fz="sm" c="dimmed">
        {accountId === null ? say.wholeOrganization : <AccountName accountId={accountId} page="alerts" />}
        {connectionIds && ` · ${say.nConnections(count(connectionIds.length), connectionIds.length === 1)}`}
      </Box>
      {mutedUntil !== null && (
        <Text size="sm" c="dimmed">
          {say.muted} <Time seconds={mutedUntil} planned />
        </Text>
      )}
      {openIncidents > 0 && (
        <Anchor component={Link} to={hrefWith(id)} size="sm">
          {say.openIncidents(count(openIncidents), openIncidents === 1)}
        </Anchor>
      )}
    </>
  )
}

/** Where the open incidents of a rule are. */
function useIncidentsOf() {
  const accountId = useAccountId()
  return { hrefWith: (ruleId: string) => `${accountId ? `/accounts/${accountId}` : ''}/alerts?ruleId=${ruleId}` }
}

function Conditions({ rule: { conditions } }: { rule: AlertRule }) {
  const { transferFailed, connectionBroken, rejectedPercent, noSuccessHours, volumePercent } = conditions
  const lines = [
    transferFailed && say.condition.transferFailed,
    connectionBroken && say.condition.connectionBroken,
    rejectedPercent !== null && say.condition.rejectedPercent(count(rejectedPercent)),
    noSuccessHours !== null && say.condition.noSuccessHours(count(noSuccessHours)),
    volumePercent !== null && say.condition.volumePercent(count(volumePercent)),
  ]
  return (
    <Stack gap={2}>
      {lines
        .filter((line) => line !== false)
        .map((line) => (
          <Text key={line} size="sm">
            {line}
          </Text>
        ))}
    </Stack>
  )
}

function Channels({ rule: { emails, emailRoles, slackUrl, teamsUrl, deliveryError } }: { rule: AlertRule }) {
  const lines = [
    ...emailRoles.map((role) => `${say.channel.email}: ${access.role[role]}`),
    ...emails.map((email) => `${say.channel.email}: ${email}`),
    ...(slackUrl === null ? [] : [say.channel.slack]),
    ...(teamsUrl === null ? [] : [say.channel.teams]),
  ]
  return (
    <Stack gap={2}>
      {(lines.length > 0 ? lines : [say.noOne]).map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
      {deliveryError && (
        <Alert color="orange" p="xs" mt={4} icon={<IconAlertTriangle size={18} aria-hidden />}>
          <Text size="sm">
            {say.notSent(say.channel[deliveryError.channel])} {deliveryError.message}{' '}
            <Text span inherit>
              <Time seconds={deliveryError.time} />
            </Text>
          </Text>
        </Alert>
      )}
    </Stack>
  )
}

function Actions({ rule, onDo }: { rule: AlertRule; onDo: (doing: Doing) => void }) {
  const { id, name, mutedUntil } = rule
  const forbidden = useForbidden('updateAlertRule')
  const [test, mute] = [useWrite('testAlertRule'), useWrite('muteAlertRule')]
  const sendTest = () => {
    test
      .mutateAsync({ id })
      .then(({ reply: { queued } }) => notifyDone(say.tested(count(queued), queued === 1)))
      .catch(notifyFailure)
  }
  const muteFor = (seconds: number | null) => {
    const until = seconds === null ? null : Math.floor(Date.now() / 1_000) + seconds
    mute
      .mutateAsync({ id, body: { until } })
      .then(() => notifyDone(until === null ? say.unmuted : say.mutedNow))
      .catch(notifyFailure)
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={say.actions(name)}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <ReasonedItem reason={forbidden} onClick={() => onDo({ what: 'edit', rule })}>
          {say.edit}
        </ReasonedItem>
        <ReasonedItem reason={forbidden} onClick={sendTest}>
          {say.test}
        </ReasonedItem>
        <Menu.Divider />
        {mutedUntil === null ? (
          Object.entries(say.spans).map(([seconds, span]) => (
            <ReasonedItem key={seconds} reason={forbidden} onClick={() => muteFor(Number(seconds))}>
              {say.mute(span)}
            </ReasonedItem>
          ))
        ) : (
          <ReasonedItem reason={forbidden} onClick={() => muteFor(null)}>
            {say.unmute}
          </ReasonedItem>
        )}
        <Menu.Divider />
        <ReasonedItem reason={forbidden} destructive onClick={() => onDo({ what: 'remove', rule })}>
          {say.remove}
        </ReasonedItem>
      </Menu.Dropdown>
    </Menu>
  )
}
