import { TextInput } from '@mantine/core'
import { eventStreamConnectorId, limits } from '@penstock/wire'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { pathOf } from '../../shell/account.ts'
import { streams as say } from '../../strings/streams.ts'
import { keepNewKey } from './new-key.ts'

/** Saved with a stream, so that it receives events with the defaults of its other settings. */
const settings = { receive: true }

/** Creates a stream with a write key, and opens its page. @param isFirst whether the sub-account has no stream yet */
export function AddStream({
  accountId,
  isFirst,
  onClose,
}: {
  accountId: string
  isFirst: boolean
  onClose: () => void
}) {
  const [addConnectors, configure] = [useWrite('addConnectors'), useWrite('configureConnector')]
  const [create, createKey] = [useWrite('createConnectorConfiguration'), useWrite('createStreamKey')]
  const mayCreateKey = useForbidden('createStreamKey') === undefined
  const navigate = useNavigate()
  const [name, setName] = useState(isFirst ? say.firstName : '')
  const save = async () => {
    const id = eventStreamConnectorId
    await addConnectors.mutateAsync({ accountId, body: { connectorIds: [id] } })
    const configurationId = isFirst
      ? undefined
      : (await create.mutateAsync({ accountId, id, body: { name: name.trim() } })).reply.configurationId
    const body = { secretConfig: settings, ...(configurationId ? { configurationId } : { name: name.trim() }) }
    const { reply } = await configure.mutateAsync({ accountId, id, body })
    const streamId = reply.configurationId
    if (mayCreateKey) keepNewKey(streamId, (await createKey.mutateAsync({ accountId, id: streamId })).reply.key)
    void navigate(pathOf(accountId, `streams/${streamId}`))
    return say.created(reply.name)
  }
  return (
    <FormDialog
      title={say.createTitle}
      action={say.createAction}
      invalid={{ name: name.trim() === '' && say.nameMissing }}
      onSubmit={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <TextInput
          label={say.name}
          description={say.nameHelp}
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
