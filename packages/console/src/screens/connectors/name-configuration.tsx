import { TextInput } from '@mantine/core'
import { limits, type SavedValues } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'

/** Adds another configuration to a connector, without values. */
export function AddConfiguration({
  accountId,
  connectorId,
  connectorName,
  onMade,
  onClose,
}: {
  accountId: string
  connectorId: string
  connectorName: string
  onMade: (configurationId: string) => void
  onClose: () => void
}) {
  const create = useWrite('createConnectorConfiguration')
  return (
    <NameDialog
      title={say.addConfigurationTo(connectorName)}
      action={say.addConfiguration}
      onSubmit={async (name) => {
        const { reply } = await create.mutateAsync({ accountId, id: connectorId, body: { name } })
        onMade(reply.configurationId)
        return say.configurationAdded(reply.name)
      }}
      onClose={onClose}
    />
  )
}

/** Gives a configuration another name. */
export function RenameConfiguration({
  configuration: { accountId, connectorId, configurationId, name: before, etag },
  onClose,
}: {
  configuration: SavedValues
  onClose: () => void
}) {
  const save = useWrite('configureConnector')
  return (
    <NameDialog
      title={say.renameTitle(before)}
      action={components.save}
      before={before}
      onSubmit={async (name) => {
        const body = { configurationId, name, secretConfig: {} }
        await save.mutateAsync({ accountId, id: connectorId, body, ifMatch: etag })
        return say.configurationRenamed(name)
      }}
      onClose={onClose}
    />
  )
}

function NameDialog({
  title,
  action,
  before = '',
  onSubmit,
  onClose,
}: {
  title: string
  action: string
  before?: string
  onSubmit: (name: string) => Promise<string>
  onClose: () => void
}) {
  const [name, setName] = useState(before)
  const invalid = { name: name.trim() === '' && say.configurationNameMissing }
  return (
    <FormDialog
      title={title}
      action={action}
      invalid={invalid}
      onSubmit={() => onSubmit(name.trim())}
      onClose={onClose}
    >
      {(errorOf) => (
        <TextInput
          label={say.configurationName}
          description={say.configurationNameHelp}
          required
          data-autofocus
          maxLength={limits.nameLengthMax}
          value={name}
          error={errorOf('name')}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      )}
    </FormDialog>
  )
}
