import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { ParametersOf, ResultOf } from '@penstock/client'
import { errors, type FieldDefinition } from '@penstock/wire'
import { IconChevronDown, IconChevronRight, IconLock, IconRefreshAlert } from '@tabler/icons-react'
import { type ClipboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { Changed, isChanged } from '../../components/changed.tsx'
import { Failure } from '../../components/failure.tsx'
import { errorsOf, isOfFields } from '../../components/fields/field-errors.ts'
import { FieldForm } from '../../components/fields/field-form.tsx'
import {
  changesOf,
  countingFields,
  errorsOfForms,
  type FormField,
  type FormValue,
  type FormValues,
  isSecretSet,
  valuesOf,
  withDefinitions,
} from '../../components/fields/form-field.ts'
import { useFirstField } from '../../components/focus-return.ts'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { authorization as sayAuthorization } from '../../strings/authorization.ts'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { ConnectionsNamed, ofConnection } from './connections-named.tsx'
import { takesUrl, valuesOfUrl } from './database-url.ts'
import { forgetCheck } from './kept-checks.ts'
import type { ConnectorOfAccount } from './of-account.ts'
import { baseOf, wordsOfValues } from './versions.ts'

const basePath = 'body.secretConfig'

type Opened = ResultOf<'getConnectorConfiguration'>

/** Fields of a form that are not needed if the connector is authorized with a click. */
type ByClick = {
  /** Names of the fields that a click fills. */
  readonly fields: readonly string[]
  /** Whether it is connected. */
  readonly authorized: boolean
  /** Whether these fields are shown from the first. */
  readonly unfolded: boolean
}

/** The form of a connector's configuration. Saving replaces the version that was opened, so no change is lost. */
export function ConfigureForm({
  accountId,
  connectorId,
  configurationId,
  name,
  configuration,
  definitions,
  byClick,
  readAgain,
  onChanged,
  onTakeTheirs,
  onCheck,
  onClose,
}: ConnectorOfAccount & {
  name: string
  configuration: Opened
  definitions: readonly FieldDefinition[]
  /** Undefined where the connector cannot be connected with a click, so that its credentials are entered. */
  byClick: ByClick | undefined
  readAgain: () => Promise<Opened>
  /** Says whether there is something that is not saved yet. */
  onChanged: (changed: boolean) => void
  onTakeTheirs: () => void
  /** Undefined if this deployment cannot check the connector. */
  onCheck: (() => void) | undefined
  onClose: () => void
}) {
  const save = useWrite('configureConnector')
  const forbidden = useForbidden('configureConnector')
  // Lists are read again at any time; the form keeps the version that it was opened with.
  const [opened] = useState(configuration)
  const fieldsOf = ({ reply }: Opened) => withDefinitions(reply.secretConfig[0]?.configuration ?? [], definitions)
  const [fields] = useState(() => fieldsOf(opened))
  const [before] = useState(() => valuesOf(fields))
  const [values, setValues] = useState(before)
  const [theirs, setTheirs] = useState<Opened>()
  const [failure, setFailure] = useState<unknown>()
  const [judged, setJudged] = useState<Readonly<Record<string, string>>>({})
  const fieldErrors = useMemo(() => ({ ...judged, ...errorsOf(failure, basePath) }), [judged, failure])
  const changes = changesOf(before, values, fields)
  const changed = Object.keys(changes).length > 0
  /** Changed values by which the state of connections describes other data. */
  const labels =
    opened.states === 0
      ? []
      : fields.filter(({ name, keepsState }) => !keepsState && name in changes).map(({ label }) => label)
  useEffect(() => onChanged(changed), [changed, onChanged])
  const { editable, env, lastUpdated } = opened.reply
  const [parts] = useState(() => partsOf(fields, before, byClick))
  const [unfolded, setUnfolded] = useState(
    () => byClick !== undefined && (byClick.unfolded || isEntered(fields, byClick)),
  )
  const isFolded = byClick !== undefined && !unfolded && !Object.keys(fieldErrors).some((one) => parts.folded.has(one))
  const isEmpty = isFolded && parts.shown.size === 0
  const form = { fields, values, lastUpdated }
  const errorsIn = (names: ReadonlySet<string>, elsewhere: boolean) =>
    Object.fromEntries(
      Object.entries(fieldErrors).filter(
        ([field]) => names.has(field) || (elsewhere && !fields.some((one) => one.name === field)),
      ),
    )

  const send = async (secretConfig: Body['secretConfig'], ifMatch: string | undefined, next: () => void) => {
    setFailure(undefined)
    const wrong = errorsOfForms(fields, values)
    setJudged(wrong)
    if (Object.keys(wrong).length > 0) return
    try {
      const body = { secretConfig, ...(configurationId === undefined ? {} : { configurationId }) }
      await save.mutateAsync({ accountId, id: connectorId, body, ifMatch })
      forgetCheck({ accountId, connectorId, configurationId })
      notifyDone(say.saved(name))
      next()
    } catch (error) {
      setFailure(error)
    }
  }
  const saveMine = (version: string | undefined) =>
    void send(changesOf(baseOf(before, theirs ? fieldsOf(theirs) : fields), values, fields), version, onClose)
  const change = (field: string, value: FormValue) =>
    setValues((now) => withLoopback(fields, before, { ...now, [field]: value }, field))

  const hasUrl = takesUrl(fields)
  /** The URL of a database fills the form, and is not shown: it has a password. */
  const fill = (event: ClipboardEvent) => {
    const found = hasUrl ? valuesOfUrl(event.clipboardData.getData('text')) : undefined
    if (!found) return
    event.preventDefault()
    setValues((now) => {
      const next = withLoopback(fields, before, { ...now, ...found }, 'host')
      return found.tlsMode ? { ...next, tlsMode: found.tlsMode } : next
    })
    notifyDone(say.filledIn(fields.filter((field) => field.name in found).map(({ label }) => label)))
  }
  const element = useRef<HTMLFormElement>(null)
  useFirstField(element)

  return (
    <form
      ref={element}
      noValidate
      onPasteCapture={fill}
      onSubmit={(event) => {
        event.preventDefault()
        if (editable && !forbidden) void send(changes, opened.etag, onCheck ?? onClose)
      }}
    >
      <Stack gap="lg">
        {!editable && (
          <Alert color="gray" icon={<IconLock aria-hidden />} title={say.madeIn(env)}>
            {errors.not_editable.message}
          </Alert>
        )}
        {fields.length === 0 && <Text size="sm">{say.asksNothing}</Text>}
        {hasUrl && (
          <Text size="sm" c="dimmed">
            {say.pasteUrl}
          </Text>
        )}
        {(parts.shown.size > 0 || failure !== undefined) && (
          <FieldForm {...form} onChange={change} only={parts.shown} fieldErrors={errorsIn(parts.shown, true)} />
        )}
        {byClick && (
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            style={{ alignSelf: 'flex-start' }}
            aria-expanded={!isFolded}
            leftSection={
              isFolded ? <IconChevronRight size={16} aria-hidden /> : <IconChevronDown size={16} aria-hidden />
            }
            onClick={() => setUnfolded(isFolded)}
          >
            {sayAuthorization.byHand}
          </Button>
        )}
        {byClick && !isFolded && (
          <FieldForm {...form} onChange={change} only={parts.folded} fieldErrors={errorsIn(parts.folded, false)} />
        )}
        {labels.length > 0 && (
          <Alert color="yellow" icon={<IconRefreshAlert aria-hidden />} title={say.startsAfresh} role="alert">
            {say.startsAfreshHelp(labels, opened.states)}
          </Alert>
        )}
        {isChanged(failure) ? (
          <Changed
            mine={wordsOfValues(fields, before, values)}
            readTheirs={async () => {
              const now = await readAgain()
              setTheirs(now)
              return { version: now.etag, fields: wordsOfValues(fieldsOf(now)) }
            }}
            onKeepTheirs={onTakeTheirs}
            onSaveMine={saveMine}
          />
        ) : (
          failure !== undefined &&
          !isOfFields(failure, basePath) &&
          (isOfFields(failure, basePath, ofConnection) ? (
            <ConnectionsNamed error={failure} accountId={accountId} />
          ) : (
            <Failure error={failure} />
          ))
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {isEmpty ? components.close : components.cancel}
          </Button>
          {isEmpty && byClick?.authorized && onCheck && (
            <Button variant="light" onClick={onCheck}>
              {say.check}
            </Button>
          )}
          {!isEmpty && onCheck && (
            <ReasonedButton
              variant="default"
              disabled={!editable || save.isPending}
              reason={forbidden}
              onClick={() => void send(changes, opened.etag, onClose)}
            >
              {components.save}
            </ReasonedButton>
          )}
          {!isEmpty && (
            <ReasonedButton type="submit" loading={save.isPending} disabled={!editable} reason={forbidden}>
              {onCheck ? say.saveAndCheck : components.save}
            </ReasonedButton>
          )}
        </Group>
      </Stack>
    </form>
  )
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i

/**
 * A server on this machine rarely has a certificate that anyone trusts: TLS is off for it, unless the user has set the mode.
 * @param field the field that was changed
 */
function withLoopback(fields: readonly FormField[], before: FormValues, values: FormValues, field: string): FormValues {
  const mode = fields.find(({ name }) => name === 'tlsMode')
  // A server that was saved keeps its mode.
  if (field !== 'host' || before.host || !mode?.options?.includes('disable')) return values
  if (loopback.test(String(values.host ?? '').trim())) {
    return values.tlsMode === before.tlsMode ? { ...values, tlsMode: 'disable' } : values
  }
  return values.tlsMode === 'disable' && before.tlsMode !== undefined ? { ...values, tlsMode: before.tlsMode } : values
}

type Body = ParametersOf<'configureConnector'>['body']

/**
 * Which fields are shown, and which are folded because a click fills them. Other fields can be saved only once the
 * connector is connected, so before that all of them are folded.
 */
function partsOf(fields: readonly FormField[], saved: FormValues, byClick: ByClick | undefined) {
  const asked = new Set(countingFields(fields, saved).map(({ name }) => name))
  const isShown = ({ name }: FormField) =>
    !byClick || (byClick.authorized && asked.has(name) && !byClick.fields.includes(name))
  const names = (of: readonly FormField[]): ReadonlySet<string> => new Set(of.map(({ name }) => name))
  return { shown: names(fields.filter(isShown)), folded: names(fields.filter((field) => !isShown(field))) }
}

/** Whether there are credentials that were entered. */
const isEntered = (fields: readonly FormField[], { fields: filled, authorized }: ByClick) =>
  !authorized && fields.some((field) => filled.includes(field.name) && isSecretSet(field))
