import { Box, Group, PasswordInput } from '@mantine/core'
import { isSecretReference } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { describe } from '../../components/describe.ts'
import {
  countingFields,
  type FormField,
  isSecretSet,
  valuesOf,
  withDefinitions,
} from '../../components/fields/form-field.ts'
import { takesLines } from '../../components/fields/text-input.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { failing as say } from '../../strings/failing.ts'
import { forgetCheck, keepCheck } from '../connectors/kept-checks.ts'
import { type ConnectorOfAccount, parametersOf } from '../connectors/of-account.ts'

/** More secrets than this are entered in the form of the configuration. */
const secretsMax = 2

/** The secrets of a configuration; undefined if they cannot be entered here. */
export function useSecrets(of: ConnectorOfAccount, { enabled }: { enabled: boolean }) {
  const definition = useRead('getConnectorDefinition', { id: of.connectorId }, { enabled })
  const configuration = useRead('getConnectorConfiguration', parametersOf(of), { enabled })
  const connector = useRead('getConnector', { accountId: of.accountId, id: of.connectorId }, { enabled })
  const opened = configuration.data
  if (!definition.data || !connector.data || !opened?.reply.editable) return undefined
  const fields = withDefinitions(opened.reply.secretConfig[0]?.configuration ?? [], definition.data.reply.secretFields)
  const values = valuesOf(fields)
  const secrets = countingFields(fields, values).filter((field) => isSecretSet(field) && !field.readonly)
  // A new value is saved in the secret manager, not here.
  if (secrets.some(({ value }) => isSecretReference(value))) return undefined
  if (secrets.length === 0 || secrets.length > secretsMax || secrets.some(takesLines)) return undefined
  const text = (...names: string[]) => {
    const value = names.map((name) => values[name]).find((one) => typeof one === 'string' && one !== '')
    return typeof value === 'string' ? value : undefined
  }
  return {
    secrets,
    etag: opened.etag,
    checks: connector.data?.reply.integrated === true,
    user: text('user', 'username', 'userName'),
    host: text('host', 'server', 'account'),
  }
}
export type Secrets = NonNullable<ReturnType<typeof useSecrets>>

/** The field in which a new password is entered, where the refusal of the old one is shown. It is checked before anything runs. */
export function SecretCure({
  of,
  asked: { secrets, etag, checks, user, host },
  n,
  onBusy,
  onWorks,
}: {
  of: ConnectorOfAccount
  asked: Secrets
  /** How many connections run then. */
  n: number
  /** Called when the saving begins, and when it ends. */
  onBusy: (busy: boolean) => void
  /** Called when the new values are saved and the check passed. */
  onWorks: () => Promise<void>
}) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const save = useWrite('configureConnector')
  const check = useWrite('checkConnector')
  const forbidden = useForbidden('configureConnector')
  const send = async () => {
    const { accountId, connectorId, configurationId } = of
    const body = { secretConfig: values, ...(configurationId === undefined ? {} : { configurationId }) }
    await save.mutateAsync({ accountId, id: connectorId, body, ifMatch: etag })
    forgetCheck(of)
    if (checks) {
      const { reply } = await check.mutateAsync(parametersOf(of))
      keepCheck(of, reply)
      if (!reply.ok) return setProblem(say.checkFailed(reply.message))
    }
    await onWorks()
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || forbidden !== undefined || Object.values(values).every((value) => value === '')) return
    setBusy(true)
    onBusy(true)
    setProblem(undefined)
    try {
      await send()
    } catch (error) {
      const { title, help } = describe(error)
      setProblem([title, help].filter(Boolean).join('. '))
    } finally {
      setBusy(false)
      onBusy(false)
    }
  }
  const input = ({ name, label }: FormField, at: number) => (
    <PasswordInput
      key={name}
      label={say.secretOf(label, user, host)}
      placeholder={say.newSecret(label)}
      autoComplete="new-password"
      spellCheck={false}
      value={values[name] ?? ''}
      error={at === 0 && problem}
      visibilityToggleButtonProps={{ 'aria-label': say.show(label), tabIndex: 0 }}
      onChange={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
      style={{ flex: '1 1 16rem', maxWidth: '26rem' }}
    />
  )
  return (
    <Box component="form" w="100%" onSubmit={(event) => void submit(event)}>
      <Group align="flex-end" gap="sm">
        {secrets.map(input)}
        <ReasonedButton type="submit" loading={isBusy} reason={forbidden}>
          {say.saveAndRun(n)}
        </ReasonedButton>
      </Group>
    </Box>
  )
}
