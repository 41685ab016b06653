import { Divider, Drawer, Group, Stack, Text, TextInput } from '@mantine/core'
import {
  type ConnectionConfig,
  type ConnectionDetails,
  type ConnectorDefinition,
  type FieldDefinition,
  limits,
} from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConnectorName } from '../../components/connector-name.tsx'
import { Failure } from '../../components/failure.tsx'
import {
  changesOf,
  countingFields,
  type FormField,
  type FormValues,
  valuesOf,
} from '../../components/fields/form-field.ts'
import { SettingsForm } from '../../components/fields/settings-form.tsx'
import { useDiscovery } from '../../components/fields/use-discovery.ts'
import { DialogForm } from '../../components/form-dialog.tsx'
import { Lines } from '../../components/loaded.tsx'
import { connection as say } from '../../strings/connection.ts'
import { PickConfiguration } from '../connectors/pick-configuration.tsx'
import { StartsAfresh } from './starts-afresh.tsx'

type Opened = { connection: ConnectionDetails; version: string | undefined }
type SideFields = { src: FormField[]; dest: FormField[] }

/** Edits the name and the settings of both sides: no change of another user is lost, since only the version that was opened is replaced. */
export function EditConnection({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const { connection } = opened
  const source = useRead('getConnectorDefinition', { id: connection.src.connectorId })
  const destination = useRead('getConnectorDefinition', { id: connection.dest.connectorId })
  const error = source.error ?? destination.error
  const definitions = source.data && destination.data && { src: source.data.reply, dest: destination.data.reply }
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title={say.editTitle(connection.name)}>
      {definitions ? (
        <Form opened={opened} definitions={definitions} onClose={onClose} />
      ) : error ? (
        <Failure error={error} />
      ) : (
        <Lines lines={6} />
      )}
    </Drawer>
  )
}

type Definitions = { src: ConnectorDefinition; dest: ConnectorDefinition }

const shown = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const fieldsOf = (definitions: Definitions, connection: ConnectionDetails): SideFields => {
  const withValues = (fields: readonly FieldDefinition[], config: ConnectionConfig) =>
    // The mapping has an editor of its own; what is saved of it stays.
    fields
      .filter(({ name }) => name !== 'mapping')
      .map((field): FormField => ({ ...field, value: shown(config[field.name]) }))
  return {
    src: withValues(definitions.src.source?.fields ?? [], connection.srcConnectionConfig),
    dest: withValues(definitions.dest.destination?.fields ?? [], connection.destConnectionConfig),
  }
}

/**
 * The stored settings with the changes; they replace all settings of the side. Settings that the service fills do not
 * change.
 */
function configOf(fields: readonly FormField[], stored: ConnectionConfig, values: FormValues): ConnectionConfig {
  const own = Object.entries(stored).filter(([name]) => !fields.some((field) => field.name === name && field.readonly))
  const changed = Object.entries({ ...Object.fromEntries(own), ...changesOf(valuesOf(fields), values) })
  return Object.fromEntries(changed.filter(([, value]) => value !== null))
}

function Form({ opened, definitions, onClose }: { opened: Opened; definitions: Definitions; onClose: () => void }) {
  // The comparison uses the connection as it was opened, though the page behind reads it again.
  const [{ connection, version }] = useState(opened)
  const [fields] = useState(() => fieldsOf(definitions, connection))
  const [name, setName] = useState(connection.name)
  const [src, setSrc] = useState(() => valuesOf(fields.src))
  const [dest, setDest] = useState(() => valuesOf(fields.dest))
  const update = useWrite('updateConnection')
  const { accountId, id } = connection
  const [configurations, setConfigurations] = useState({
    src: connection.srcConfigurationId,
    dest: connection.destConfigurationId,
  })
  const discovery = {
    src: useDiscovery(accountId, definitions.src, 'Source', configurations.src),
    dest: useDiscovery(accountId, definitions.dest, 'Destination', configurations.dest),
  }
  const theirs = useRead('getConnection', { accountId, id }, { enabled: false })

  const save = async (latest = version) => {
    const body = {
      name: name.trim(),
      srcConnectionConfig: configOf(fields.src, connection.srcConnectionConfig, src),
      destConnectionConfig: configOf(fields.dest, connection.destConnectionConfig, dest),
      ...(configurations.src === connection.srcConfigurationId ? {} : { srcConfigurationId: configurations.src }),
      ...(configurations.dest === connection.destConfigurationId ? {} : { destConfigurationId: configurations.dest }),
    }
    await update.mutateAsync({ accountId, id, body, ifMatch: latest })
    return say.saved(body.name)
  }
  const readTheirs = async () => {
    const { data } = await theirs.refetch()
    if (!data) return { version: undefined, fields: {} }
    const read = fieldsOf(definitions, data.reply)
    const values = { src: valuesOf(read.src), dest: valuesOf(read.dest) }
    return { version: data.etag, fields: texts(data.reply.name, read, values) }
  }
  return (
    <DialogForm versions={{ mine: texts(name, fields, { src, dest }), readTheirs }} onSubmit={save} onClose={onClose}>
      {(errorOf, errorsIn) => (
        <>
          <TextInput
            label={say.name}
            description={say.nameHelp}
            required
            maxLength={limits.nameLengthMax}
            data-autofocus
            value={name}
            error={errorOf('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {(['src', 'dest'] as const).map((side) => {
            const set = side === 'src' ? setSrc : setDest
            const { connectorLogo, connectorName } = connection[side]
            return (
              <Stack key={side} gap="md">
                <Divider
                  labelPosition="left"
                  label={
                    <Group gap="xs">
                      <Text size="sm">{side === 'src' ? say.source : say.destination}</Text>
                      <ConnectorName logo={connectorLogo} name={connectorName} size={18} />
                    </Group>
                  }
                />
                <PickConfiguration
                  accountId={accountId}
                  connectorId={connection[side].connectorId}
                  connectorName={connectorName}
                  configurationId={configurations[side]}
                  onPick={(configurationId) => setConfigurations((before) => ({ ...before, [side]: configurationId }))}
                />
                <SettingsForm
                  fields={fields[side]}
                  values={side === 'src' ? src : dest}
                  role={side === 'src' ? 'Source' : 'Destination'}
                  fieldErrors={errorsIn(...places[side])}
                  discovery={discovery[side]}
                  onChange={(field, value) => set((before) => ({ ...before, [field]: value }))}
                />
              </Stack>
            )
          })}
          <StartsAfresh
            connection={connection}
            changes={{
              src: { fields: fields.src, values: src, configurationId: configurations.src },
              dest: { fields: fields.dest, values: dest, configurationId: configurations.dest },
            }}
          />
          <Text size="sm" c="dimmed">
            {say.immutable}
          </Text>
        </>
      )}
    </DialogForm>
  )
}

/** Where refusals say that the settings of an end stand: of what was sent, and of what the connection would have. */
const places = {
  src: ['body.srcConnectionConfig', 'srcConnectionConfig'],
  dest: ['body.destConnectionConfig', 'destConnectionConfig'],
}

/** A version by its labels, for two to be compared. */
function texts(
  name: string,
  fields: SideFields,
  values: { src: FormValues; dest: FormValues },
): Record<string, string> {
  const ofSide = (side: 'src' | 'dest') =>
    countingFields(fields[side], values[side]).map((field): [string, string] => [
      say.labelOf(side === 'src' ? say.source : say.destination, field.label),
      inWords(values[side][field.name]),
    ])
  return { [say.name]: name, ...Object.fromEntries([...ofSide('src'), ...ofSide('dest')]) }
}

const inWords = (value: FormValues[string] | undefined): string =>
  typeof value === 'boolean' ? (value ? say.yes : say.no) : [value ?? ''].flat().join(', ')
