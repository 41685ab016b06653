import { Alert, Anchor, Badge, Box, Group, Stack, Text } from '@mantine/core'
import { type AlertRule, alertConditionNames } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useForbidden, useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { type OpenDialog, useDialog } from '../../components/form-dialog.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { type Column, ResourceTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf, useAccountId } from '../../shell/account.ts'
import { access } from '../../strings/access.ts'
import { type ConditionTexts, alerts as say } from '../../strings/alerts.ts'
import { SaveRule } from './save-rule.tsx'

export const rulesOf = (accountId: string | undefined, address: ListAddress) => ({
  accountId,
  query: foundOf(address),
})

/** A rule is created for what the page shows: the organization, or a sub-account. */
export function CreateRule() {
  const accountId = useAccountId()
  const isLimited = (useMe()?.accountIds ?? null) !== null
  const forbidden = useForbidden('createAlertRule')
  const [dialog, open] = useDialog()
  return (
    <>
      <AddButton
        reason={forbidden ?? (isLimited && accountId === undefined ? say.inAccount : undefined)}
        onClick={() => open((close) => <SaveRule accountId={accountId ?? null} onClose={close} />)}
      >
        {say.create}
      </AddButton>
      {dialog}
    </>
  )
}

export function Rules({ accountId }: { accountId: string | undefined }) {
  const address = useAddress()
  const query = useRead('listAlertRules', rulesOf(accountId, address), { keep: true })
  const [dialog, open] = useDialog()
  const none = address.value('q') ? say.noRulesFound : accountId ? say.noRulesOfAccount : say.noRules
  return (
    <>
      <ResourceTable
        label={say.rules}
        top
        query={query}
        empty={<Empty title={none} />}
        columns={columns}
        actions={(rule) => <Actions rule={rule} open={open} />}
      />
      {dialog}
    </>
  )
}

const columns: readonly Column<AlertRule>[] = [
  { header: say.name, wraps: true, cell: (rule) => <About rule={rule} /> },
  { header: say.looksFor, from: 'sm', w: '28%', folded: true, cell: (rule) => <Conditions rule={rule} /> },
  { header: say.sendsTo, from: 'md', w: '28%', wraps: true, folded: true, cell: (rule) => <Channels rule={rule} /> },
]

function About({
  rule: { id, name, accountId, connectionIds, enabled, mutedUntil, openIncidents },
}: {
  rule: AlertRule
}) {
  const path = pathOf(useAccountId(), 'alerts')
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
        <Anchor component={Link} to={`${path}?ruleId=${id}`} size="sm">
          {say.openIncidents(count(openIncidents), openIncidents === 1)}
        </Anchor>
      )}
    </>
  )
}

/** The failures that a rule looks for, in words. */
export const conditionsOf = ({ conditions }: AlertRule): string[] =>
  alertConditionNames.flatMap((name) => {
    const bound = conditions[name]
    const { line }: ConditionTexts = say.condition[name]
    return bound === null || bound === false ? [] : line(typeof bound === 'number' ? count(bound) : '')
  })

function Conditions({ rule }: { rule: AlertRule }) {
  return (
    <Stack gap={2}>
      {conditionsOf(rule).map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </Stack>
  )
}

/** Where a rule sends its messages, in words. */
export function channelsOf({ emails, emailRoles, slackUrl, teamsUrl }: AlertRule): string[] {
  const lines = [
    ...emailRoles.map((role) => `${say.channel.email}: ${access.role[role]}`),
    ...emails.map((email) => `${say.channel.email}: ${email}`),
    ...(slackUrl === null ? [] : [say.channel.slack]),
    ...(teamsUrl === null ? [] : [say.channel.teams]),
  ]
  return lines.length > 0 ? lines : [say.noOne]
}

function Channels({ rule }: { rule: AlertRule }) {
  const { deliveryError } = rule
  return (
    <Stack gap={2}>
      {channelsOf(rule).map((line) => (
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

function Actions({ rule, open }: { rule: AlertRule; open: OpenDialog }) {
  const { id, name, mutedUntil } = rule
  const reason = useForbidden('updateAlertRule')
  const [test, mute] = [useWrite('testAlertRule'), useWrite('muteAlertRule')]
  const sendTest = () =>
    void notifyOutcome(test.mutateAsync({ id }), ({ reply: { queued } }) => say.tested(count(queued), queued === 1))
  const muteFor = (seconds: number | null) => () => {
    const until = seconds === null ? null : Math.floor(Date.now() / 1_000) + seconds
    void notifyOutcome(mute.mutateAsync({ id, body: { until } }), until === null ? say.unmuted : say.mutedNow)
  }
  const edit = () => open((close) => <SaveRule rule={rule} accountId={rule.accountId} onClose={close} />)
  const remove = () => open((close) => <RemoveRule rule={rule} onClose={close} />)
  return (
    <ActionsMenu
      label={say.actions(name)}
      groups={[
        [
          { label: say.edit, reason, onClick: edit },
          { label: say.test, reason, onClick: sendTest },
        ],
        mutedUntil === null
          ? Object.entries(say.spans).map(([seconds, span]) => ({
              label: say.mute(span),
              reason,
              onClick: muteFor(Number(seconds)),
            }))
          : [{ label: say.unmute, reason, onClick: muteFor(null) }],
        [{ label: say.remove, reason, destructive: true, onClick: remove }],
      ]}
    />
  )
}

function RemoveRule({ rule: { id, name }, onClose }: { rule: AlertRule; onClose: () => void }) {
  return (
    <ConfirmWrite
      title={say.removeTitle(name)}
      action={say.remove}
      operation="deleteAlertRule"
      parameters={{ id }}
      done={say.removed(name)}
      onClose={onClose}
    >
      {say.removeHelp}
    </ConfirmWrite>
  )
}
