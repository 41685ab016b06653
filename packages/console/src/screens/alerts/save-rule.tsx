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
  UnstyledButton,
} from '@mantine/core'
import {
  type AlertConditionName,
  type AlertRule,
  alertAmounts,
  alertConditionNames,
  type Connection,
  isAlertAmount,
  limits,
  noAlertConditions,
  type UserRole,
  userRoleNames,
} from '@penstock/wire'

import { IconAlertTriangle, IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { useMe } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { count } from '../../components/numbers.ts'
import { PickSeveral } from '../../components/pick-several.tsx'
import { access } from '../../strings/access.ts'
import { type ConditionTexts, alerts as say } from '../../strings/alerts.ts'
import { PickConnections } from './pick-connections.tsx'

type Conditions = AlertRule['conditions']

const startConditions: Conditions = {
  ...noAlertConditions,
  transferFailed: true,
  connectionBroken: true,
  logKeptGb: alertAmounts.logKeptGb.usual,
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
        conditions: !Object.values(conditions).some(isSet) && say.chooseOne,
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

/** The conditions that only some connections can meet: they read a change log or a stream, or feed an audience. */
const specialConditions: ReadonlySet<AlertConditionName> = new Set([
  'logKeptGb',
  'behindMinutes',
  'audienceBelow',
  'matchFellPercent',
])

const isSet = (bound: Conditions[AlertConditionName]): boolean => bound !== null && bound !== false

/** Asks what to look for, in sentences that contain the bounds. Special conditions are folded until one is set. */
function PickConditions({
  value,
  error,
  onChange,
}: {
  value: Conditions
  error: string | undefined
  onChange: (value: Conditions) => void
}) {
  const id = useId()
  const [opened, setOpened] = useState(
    alertConditionNames.some((one) => specialConditions.has(one) && isSet(value[one])),
  )
  const lines = (special: boolean) =>
    alertConditionNames
      .filter((name) => specialConditions.has(name) === special)
      .map((name) => (
        <Condition
          key={name}
          name={name}
          bound={value[name]}
          onChange={(bound) => onChange({ ...value, [name]: bound })}
        />
      ))
  const Chevron = opened ? IconChevronDown : IconChevronRight
  return (
    <Fieldset legend={say.messageWhen}>
      <Stack gap="sm">
        {lines(false)}
        <UnstyledButton
          aria-expanded={opened}
          aria-controls={opened ? id : undefined}
          onClick={() => setOpened(!opened)}
        >
          <Group gap="xs" wrap="nowrap">
            <Chevron size={16} aria-hidden style={{ flex: 'none' }} />
            <Text size="sm" fw={600}>
              {say.moreConditions}
            </Text>
          </Group>
        </UnstyledButton>
        {opened && (
          <Stack id={id} gap="sm">
            {lines(true)}
          </Stack>
        )}
        {error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </Fieldset>
  )
}

/** A condition: its checkbox, and its bound while it is on. */
function Condition<N extends AlertConditionName>({
  name,
  bound,
  onChange,
}: {
  name: N
  bound: Conditions[N]
  onChange: (bound: number | boolean | null) => void
}) {
  const amount = isAlertAmount(name) ? alertAmounts[name] : undefined
  const { ask, help, unit }: ConditionTexts = say.condition[name]
  return (
    <Group gap="sm" align="center">
      <Checkbox
        label={ask(count(typeof bound === 'number' ? bound : (amount?.usual ?? 0)))}
        description={help}
        checked={isSet(bound)}
        onChange={({ currentTarget: { checked } }) => onChange(amount ? (checked ? amount.usual : null) : checked)}
        style={{ flex: '1 1 260px' }}
      />
      {amount && unit && typeof bound === 'number' && (
        <NumberInput
          aria-label={unit.label}
          min={amount.min}
          max={amount.max}
          allowDecimal={amount.isDecimal ?? false}
          suffix={` ${unit.suffix}`}
          value={bound}
          onChange={(next) => onChange(typeof next === 'number' ? next : amount.min)}
          w={130}
        />
      )}
    </Group>
  )
}
