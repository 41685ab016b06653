import {
  Alert,
  Checkbox,
  Fieldset,
  Group,
  NumberInput,
  PasswordInput,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { type AlertRule, type Connection, limits, type UserRole, userRoleNames } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { useMe } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { PickSeveral } from '../../components/pick-several.tsx'
import { access } from '../../strings/access.ts'
import { alerts as say } from '../../strings/alerts.ts'
import { PickConnections } from './pick-connections.tsx'

const amounts = {
  rejectedPercent: { start: 5, min: 0, max: 100, suffix: say.percent },
  noSuccessHours: { start: 26, min: 1, max: limits.alertNoSuccessHoursMax, suffix: say.hours },
  volumePercent: {
    start: 50,
    min: limits.alertVolumePercentMin,
    max: limits.alertVolumePercentMax,
    suffix: say.percent,
  },
  logKeptGb: { start: 10, min: 1, max: limits.alertLogKeptGbMax, suffix: say.gibibytes },
  behindMinutes: { start: 15, min: 1, max: limits.alertBehindMinutesMax, suffix: say.minutes },
  audienceBelow: { start: 1_000, min: 1, max: limits.alertAudienceBelowMax, suffix: say.people },
} as const
const helpOf: Partial<Record<Amount, string>> = { volumePercent: say.volumeHelp, logKeptGb: say.logHelp }
type Amount = keyof typeof amounts
type Conditions = AlertRule['conditions']

const startConditions: Conditions = {
  transferFailed: true,
  connectionBroken: true,
  rejectedPercent: null,
  noSuccessHours: null,
  volumePercent: null,
  logKeptGb: 10,
  behindMinutes: null,
  audienceBelow: null,
}

/** Creates a rule, or changes one. @param accountId of the rule; null: it is of the organization */
export function SaveRule({
  rule,
  accountId,
  connection,
  onClose,
}: {
  rule?: AlertRule
  accountId: string | null
  /** The connection for which a new rule is proposed. */
  connection?: Pick<Connection, 'id' | 'name'>
  onClose: () => void
}) {
  const [create, update] = [useWrite('createAlertRule'), useWrite('updateAlertRule')]
  const sendsMail = useMe()?.mail ?? true
  const [name, setName] = useState(rule?.name ?? connection?.name ?? '')
  const [enabled, setEnabled] = useState(rule?.enabled ?? true)
  const [connectionIds, setConnectionIds] = useState<readonly string[]>(
    rule?.connectionIds ?? (connection ? [connection.id] : []),
  )
  const [conditions, setConditions] = useState(
    rule?.conditions ?? { ...startConditions, logKeptGb: connection ? null : startConditions.logKeptGb },
  )
  const [roles, setRoles] = useState<UserRole[]>(rule?.emailRoles ?? ['owner'])
  const [emails, setEmails] = useState<string[]>(rule?.emails ?? [])
  const [slackUrl, setSlackUrl] = useState(rule?.slackUrl ?? '')
  const [teamsUrl, setTeamsUrl] = useState(rule?.teamsUrl ?? '')
  const save = async () => {
    const body = {
      name: name.trim(),
      enabled,
      conditions,
      emails,
      emailRoles: roles,
      connectionIds: connectionIds.length > 0 ? [...connectionIds] : null,
      slackUrl: slackUrl.trim() || null,
      teamsUrl: teamsUrl.trim() || null,
    }
    const { reply } = rule
      ? await update.mutateAsync({ id: rule.id, body })
      : await create.mutateAsync({ body: { ...body, accountId } })
    const { name: saved, deliveryError } = reply
    return deliveryError ? { title: say.savedBut(saved), message: deliveryError.message } : say.saved(saved)
  }
  return (
    <FormDialog
      title={rule ? say.editOf(rule.name) : say.create}
      size="lg"
      invalid={{
        conditions: !Object.values(conditions).some((one) => one !== null && one !== false) && say.chooseOne,
      }}
      onSubmit={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            label={say.name}
            description={accountId === null ? say.forOrganization : say.forAccount}
            required
            maxLength={limits.nameLengthMax}
            data-autofocus
            value={name}
            error={errorOf('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PickConnections
            accountId={accountId ?? undefined}
            value={connectionIds}
            error={errorOf('connectionIds')}
            onChange={setConnectionIds}
          />
          <PickConditions value={conditions} error={errorOf('conditions')} onChange={setConditions} />
          <Fieldset legend={say.messages}>
            <Stack>
              <PickSeveral
                label={say.roles}
                description={say.rolesHelp}
                data={userRoleNames.map((role) => ({ value: role, label: access.role[role] }))}
                value={roles}
                onChange={(next) => setRoles(next as UserRole[])}
              />
              <TagsInput
                label={say.emails}
                description={say.emailsHelp}
                maxTags={limits.alertEmailsMax}
                value={emails}
                error={errorOf('emails')}
                onChange={setEmails}
                acceptValueOnBlur
              />
              {(
                [
                  ['slackUrl', say.urlHelp, slackUrl, setSlackUrl],
                  ['teamsUrl', `${say.teamsHelp} ${say.urlHelp}`, teamsUrl, setTeamsUrl],
                ] as const
              ).map(([key, help, value, change]) => (
                <PasswordInput
                  key={key}
                  label={say[key]}
                  description={help}
                  autoComplete="off"
                  maxLength={limits.alertUrlLengthMax}
                  value={value}
                  error={errorOf(key)}
                  onChange={({ currentTarget }) => change(currentTarget.value)}
                />
              ))}
              {!sendsMail && roles.length + emails.length > 0 && (
                <Alert color="orange" title={say.noMail} icon={<IconAlertTriangle aria-hidden />} role="status">
                  {say.noMailHelp}
                </Alert>
              )}
              {roles.length + emails.length === 0 && slackUrl.trim() === '' && teamsUrl.trim() === '' && (
                <Alert color="yellow" title={say.reachesNoOne} role="status">
                  {say.reachesNoOneHelp}
                </Alert>
              )}
            </Stack>
          </Fieldset>
          <Switch label={say.enabled} checked={enabled} onChange={() => setEnabled(!enabled)} />
        </>
      )}
    </FormDialog>
  )
}

/** Asks what to look for, in sentences. */
function PickConditions({
  value,
  error,
  onChange,
}: {
  value: Conditions
  error: string | undefined
  onChange: (value: Conditions) => void
}) {
  const change = (part: Partial<Conditions>) => onChange({ ...value, ...part })
  return (
    <Fieldset legend={say.messageWhen}>
      <Stack gap="sm">
        {(['transferFailed', 'connectionBroken'] as const).map((key) => (
          <Checkbox
            key={key}
            label={say.ask[key]}
            checked={value[key]}
            onChange={({ currentTarget }) => change({ [key]: currentTarget.checked })}
          />
        ))}
        {(Object.keys(amounts) as Amount[]).map((key) => {
          const { start, min, max, suffix } = amounts[key]
          const amount = value[key]
          return (
            <Group key={key} gap="sm" align="center">
              <Checkbox
                label={say.ask[key]}
                description={helpOf[key]}
                checked={amount !== null}
                onChange={({ currentTarget }) => change({ [key]: currentTarget.checked ? start : null })}
                style={{ flex: '1 1 260px' }}
              />
              {amount !== null && (
                <NumberInput
                  aria-label={say.amount[key]}
                  min={min}
                  max={max}
                  allowDecimal={key === 'rejectedPercent'}
                  suffix={` ${suffix}`}
                  value={amount}
                  onChange={(next) => change({ [key]: typeof next === 'number' ? next : min })}
                  w={130}
                />
              )}
            </Group>
          )
        })}
        {error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </Fieldset>
  )
}
