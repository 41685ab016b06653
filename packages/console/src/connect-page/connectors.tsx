import { Alert, Badge, Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { createClient, PenstockError, type ResultOf } from '@penstock/client'
import type { CheckResult, ConnectPage, FieldDefinition } from '@penstock/wire'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { callBy, queryClient, useRead, useWrite } from '../api/queries.ts'
import { basePath } from '../base-path.ts'
import { Logo } from '../components/connector-name.tsx'
import { Failure } from '../components/failure.tsx'
import { errorsOf, isOfFields } from '../components/fields/field-errors.ts'
import { FieldForm } from '../components/fields/field-form.tsx'
import { changesOf, errorsOfForms, valuesOf, withDefinitions } from '../components/fields/form-field.ts'
import { Lines, Loaded } from '../components/loaded.tsx'
import { isConnectable, useAuthorization } from '../screens/connectors/use-connect.ts'
import { authorization as sayAuthorization } from '../strings/authorization.ts'
import { connectPage as say } from '../strings/connect-page.ts'
import { BrandButton } from './brand.tsx'
import { ByClick } from './by-click.tsx'
import { report } from './embedder.ts'
import { Heading } from './frame.tsx'
import { Ways } from './ways.tsx'

/** The connectors of a link, one below the other: each is saved and checked on its own. */

type OnPage = ConnectPage['connectors'][number]
/** Whether a connector is configured, and how its last check ended. */
type State = { readonly configured: boolean; readonly check?: CheckResult | 'running' | undefined }

type Step = {
  page: ConnectPage
  /** Called with each refusal: the link may have ended. */
  onOver: (error: unknown) => void
  onFinish: (outcome: 'completed' | 'cancelled') => Promise<void>
}

/** @param token of the page, with which all its calls are made */
export function Connectors({ token, ...step }: Step & { token: string }) {
  const [isReady] = useState(() => {
    callBy(createClient({ baseUrl: basePath, token }))
    return true
  })
  return <QueryClientProvider client={queryClient}>{isReady && <Steps {...step} />}</QueryClientProvider>
}

function Steps({ page, onOver, onFinish }: Step) {
  const [states, setStates] = useState<Readonly<Record<string, State>>>(() =>
    Object.fromEntries(page.connectors.map(({ connectorId, configured }) => [connectorId, { configured }])),
  )
  const all = Object.values(states)
  const first = page.connectors.find(({ connectorId }) => !states[connectorId]?.configured)
  return (
    <>
      <Heading>{say.title(page.connectors.map(({ name }) => name))}</Heading>
      {page.connectors.map((connector) => (
        <Connector
          key={connector.connectorId}
          accountId={page.accountId}
          connector={connector}
          state={states[connector.connectorId] ?? { configured: false }}
          unfolded={connector === first}
          onState={(state) => setStates((now) => ({ ...now, [connector.connectorId]: state }))}
          onOver={onOver}
        />
      ))}
      <Ways
        ready={all.every(({ configured, check }) => configured && check !== 'running')}
        checked={all.every(({ check }) => check === undefined || check === 'running' || check.ok)}
        onFinish={onFinish}
      />
    </>
  )
}

type Props = {
  accountId: string
  connector: OnPage
  state: State
  /** It is the one to connect next. */
  unfolded: boolean
  onState: (state: State) => void
  onOver: (error: unknown) => void
}

function Connector({ accountId, connector, state, unfolded, onState, onOver }: Props) {
  const { connectorId, name, logo, checkable } = connector
  const [changing, setChanging] = useState(unfolded)
  const checking = useWrite('checkConnector')
  const { configured, check } = state
  useEffect(() => {
    if (unfolded) setChanging(true)
  }, [unfolded])

  const runCheck = async () => {
    onState({ configured: true, check: 'running' })
    try {
      const { reply } = await checking.mutateAsync({ accountId, id: connectorId })
      onState({ configured: true, check: reply })
      report(reply.ok ? { type: 'configured', connectorId } : { type: 'failed', reason: 'check_failed', connectorId })
      if (reply.ok) setChanging(false)
    } catch (error) {
      onState({ configured: true })
      onOver(error)
    }
  }
  const saved = () => {
    if (checkable) return void runCheck()
    onState({ configured: true })
    setChanging(false)
    report({ type: 'configured', connectorId })
  }
  return (
    <Paper withBorder p="lg" component="section" aria-label={name}>
      <Stack>
        <Group justify="space-between" gap="xs">
          <Group gap="sm" wrap="nowrap">
            <Logo src={logo} size={28} />
            <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Title>
          </Group>
          <Status state={state} />
        </Group>
        {check === 'running' ? (
          <Text size="sm" c="dimmed" role="status">
            {say.checking}
          </Text>
        ) : (
          check && <Checked check={check} onAgain={() => void runCheck()} />
        )}
        {changing ? (
          <Form
            accountId={accountId}
            connector={connector}
            busy={check === 'running'}
            onSaved={saved}
            onOver={onOver}
          />
        ) : (
          configured && (
            <Button variant="default" size="compact-sm" w="fit-content" onClick={() => setChanging(true)}>
              {say.change}
            </Button>
          )
        )}
      </Stack>
    </Paper>
  )
}

/** It goes to a line of its own before any of it is cut. */
const whole = { flex: 'none' } as const

function Status({ state: { configured, check } }: { state: State }) {
  if (!configured)
    return (
      <Badge variant="light" color="gray" style={whole}>
        {say.notYet}
      </Badge>
    )
  if (check === undefined || check === 'running') {
    return (
      <Badge variant="light" color="teal" style={whole}>
        {say.unchecked}
      </Badge>
    )
  }
  return (
    <Badge variant="light" color={check.ok ? 'teal' : 'red'} style={whole}>
      {check.ok ? say.ready : say.failed}
    </Badge>
  )
}

function Checked({ check: { ok, checks, message }, onAgain }: { check: CheckResult; onAgain: () => void }) {
  if (ok) {
    return (
      <Group gap="xs" wrap="nowrap" role="status">
        <IconCircleCheck size={20} color="var(--mantine-color-teal-6)" aria-hidden />
        <Text size="sm">{say.checkOk}</Text>
      </Group>
    )
  }
  const failed = checks.filter((step) => !step.ok)
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.checkFailed} role="alert">
      <Stack gap="xs" align="flex-start">
        <List size="sm">
          {(failed.length > 0 ? failed : [{ name: '', message }]).map((step) => (
            <List.Item key={step.name} style={{ overflowWrap: 'anywhere' }}>
              {step.message}
            </List.Item>
          ))}
        </List>
        <Text size="sm">{say.checkHelp}</Text>
        <Button size="compact-sm" variant="default" onClick={onAgain}>
          {say.checkAgain}
        </Button>
      </Stack>
    </Alert>
  )
}

type FormProps = {
  accountId: string
  connector: OnPage
  busy: boolean
  onSaved: () => void
  onOver: (error: unknown) => void
}

/** Reads the data of the form. A pending authorization is not drawn again with the form, whose key changes. */
function Form(props: FormProps) {
  const { accountId, connector, onSaved, onOver } = props
  const { connectorId, platform } = connector
  const of = { accountId, id: connectorId }
  const definition = useRead('getConnectorDefinition', { id: connectorId })
  const configuration = useRead('getConnectorConfiguration', of)
  const authorization = useAuthorization({ accountId, connectorId }, definition.data?.reply)
  const grant = authorization.data?.reply
  return (
    <Loaded query={configuration} lines={4}>
      {(opened) => (
        <Loaded query={definition} lines={4}>
          {({ reply }) => {
            if (reply.authorization && authorization.isPending) return <Lines lines={4} />
            const byClick = isConnectable(grant) ? reply.authorization : null
            return (
              <Stack gap="lg">
                {byClick && (
                  <ByClick
                    accountId={accountId}
                    connectorId={connectorId}
                    platform={platform}
                    authorized={grant?.authorized === true}
                    onConnected={onSaved}
                    onOver={onOver}
                  />
                )}
                <Fields
                  // The form starts from values that were granted or saved meanwhile.
                  key={opened.etag}
                  {...props}
                  opened={opened}
                  definitions={reply.secretFields}
                  byClick={byClick && { fields: byClick.fields, authorized: grant?.authorized === true }}
                />
              </Stack>
            )
          }}
        </Loaded>
      )}
    </Loaded>
  )
}

function Fields({
  accountId,
  connector,
  busy,
  onSaved,
  onOver,
  opened,
  definitions,
  byClick,
}: FormProps & {
  opened: ResultOf<'getConnectorConfiguration'>
  definitions: readonly FieldDefinition[]
  /** The fields that a click fills, and whether it has; null if they are entered. */
  byClick: { readonly fields: readonly string[]; readonly authorized: boolean } | null
}) {
  const { connectorId, checkable } = connector
  const save = useWrite('configureConnector')
  const [fields] = useState(() => withDefinitions(opened.reply.secretConfig[0]?.configuration ?? [], definitions))
  const [before] = useState(() => valuesOf(fields))
  const [values, setValues] = useState(before)
  const [failure, setFailure] = useState<unknown>()
  const [judged, setJudged] = useState<Readonly<Record<string, string>>>({})
  const [byHand, setByHand] = useState(byClick === null)
  const fieldErrors = useMemo(() => ({ ...judged, ...errorsOf(failure, 'body.secretConfig') }), [judged, failure])
  // Fields that a click fills are shown only to users who prefer to enter them. The rest can be saved once access is
  // granted.
  const filled = new Set(byHand ? [] : (byClick?.fields ?? []))
  const shown = new Set(
    byHand || byClick?.authorized ? fields.map(({ name }) => name).filter((name) => !filled.has(name)) : [],
  )

  const send = async () => {
    setFailure(undefined)
    const wrong = errorsOfForms(fields, values)
    setJudged(wrong)
    if (Object.keys(wrong).length > 0) return
    try {
      const secretConfig = changesOf(before, values, fields)
      await save.mutateAsync({ accountId, id: connectorId, body: { secretConfig }, ifMatch: opened.etag })
      onSaved()
    } catch (error) {
      setFailure(error)
      if (error instanceof PenstockError && error.status === 401) onOver(error)
    }
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Stack gap="lg">
        {byClick && (
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            w="fit-content"
            aria-expanded={byHand}
            onClick={() => setByHand(!byHand)}
          >
            {sayAuthorization.byHand}
          </Button>
        )}
        {byHand && fields.length === 0 && <Text size="sm">{say.nothing}</Text>}
        {shown.size > 0 && (
          <FieldForm
            fields={fields}
            values={values}
            fieldErrors={fieldErrors}
            lastUpdated={opened.reply.lastUpdated}
            only={shown}
            onChange={(field, value) => setValues((now) => ({ ...now, [field]: value }))}
          />
        )}
        {failure !== undefined && !isOfFields(failure, 'body.secretConfig') && <Failure error={failure} />}
        {(byHand || shown.size > 0) && (
          <Group justify="flex-end">
            <BrandButton type="submit" loading={save.isPending || busy}>
              {checkable ? say.saveAndCheck : say.save}
            </BrandButton>
          </Group>
        )}
      </Stack>
    </form>
  )
}
