import {
  Checkbox,
  Fieldset,
  Group,
  Modal,
  MultiSelect,
  NumberInput,
  PasswordInput,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type AlertRule, limits, type UserRole, userRoleNames } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { notifyDone } from '../../components/notify.tsx'
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
} as const
type Amount = keyof typeof amounts
type Conditions = AlertRule['conditions']

const startConditions: Conditions = {
  ...{ transferFailed: true, connectionBroken: true },
  ...{ rejectedPercent: null, noSuccessHours: null, volumePercent: null },
}

/** Creates a rule, or changes one. @param accountId of the rule; null: it is of the organization */
export function SaveRule({
  rule,
  accountId,
  onClose,
}: {
  rule?: AlertRule
  accountId: string | null
  onClose: () => void
}) {
  const [create, update] = [useWrite('createAlertRule'), useWrite('updateAlertRule')]
  const [name, setName] = useState(rule?.name ?? '')
  const [enabled, setEnabled] = useState(rule?.enabled ?? true)
  const [connectionIds, setConnectionIds] = useState<readonly string[]>(rule?.connectionIds ?? [])
  const [conditions, setConditions] = useState(rule?.conditions ?? startConditions)
  const [roles, setRoles] = useState<UserRole[]>(rule?.emailRoles ?? ['owner'])
  const [emails, setEmails] = useState<string[]>(rule?.emails ?? [])
  const [slackUrl, setSlackUrl] = useState(rule?.slackUrl ?? '')
  const [teamsUrl, setTeamsUrl] = useState(rule?.teamsUrl ?? '')
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [failure, setFailure] = useState<unknown>()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setFailure(undefined)
    setErrors({})
    if (!Object.values(conditions).some((one) => one !== null && one !== false)) {
      return setErrors({ conditions: say.chooseOne })
    }
    const body = {
      ...{ name: name.trim(), enabled, conditions, emails, emailRoles: roles },
      connectionIds: connectionIds.length > 0 ? [...connectionIds] : null,
      ...{ slackUrl: slackUrl.trim() || null, teamsUrl: teamsUrl.trim() || null },
    }
    try {
      const { reply } = rule
        ? await update.mutateAsync({ id: rule.id, body })
        : await create.mutateAsync({ body: { ...body, accountId } })
      notifyDone(say.saved(reply.name))
      onClose()
    } catch (error) {
      const blamed = error instanceof PenstockError ? error.details : []
      const known = blamed.flatMap(({ field, message }) => {
        const [, key = ''] = /^body\.(name|conditions|emails|slackUrl|teamsUrl|connectionIds)\b/.exec(field) ?? []
        return key ? [[key, message] as const] : []
      })
      if (known.length > 0 && known.length === blamed.length) setErrors(Object.fromEntries(known))
      else setFailure(error)
    }
  }
  return (
    <Modal opened onClose={onClose} title={rule ? say.editOf(rule.name) : say.create} size="lg">
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <TextInput
            label={say.name}
            description={accountId === null ? say.forOrganization : say.forAccount}
            required
            maxLength={limits.nameLengthMax}
            data-autofocus
            value={name}
            error={errors.name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PickConnections
            accountId={accountId ?? undefined}
            value={connectionIds}
            error={errors.connectionIds}
            onChange={setConnectionIds}
          />
          <PickConditions value={conditions} error={errors.conditions} onChange={setConditions} />
          <Fieldset legend={say.messages}>
            <Stack>
              <MultiSelect
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
                error={errors.emails}
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
                  error={errors[key]}
                  onChange={({ currentTarget }) => change(currentTarget.value)}
                />
              ))}
            </Stack>
          </Fieldset>
          <Switch label={say.enabled} checked={enabled} onChange={() => setEnabled(!enabled)} />
          {failure !== undefined && <Failure error={failure} />}
          <FormButtons busy={create.isPending || update.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
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
                {...(key === 'volumePercent' ? { description: say.volumeHelp } : {})}
                checked={amount !== null}
                onChange={({ currentTarget }) => change({ [key]: currentTarget.checked ? start : null })}
                style={{ flex: '1 1 260px' }}
              />
              {amount !== null && (
                <NumberInput
                  aria-label={say.amount[key]}
                  {...{ min, max }}
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
