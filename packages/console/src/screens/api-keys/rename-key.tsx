import { TextInput } from '@mantine/core'
import { type Client, limits } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'

/** Renames client credentials. */
export function RenameKey({ client: { id, name: before }, onClose }: { client: Client; onClose: () => void }) {
  const rename = useWrite('renameClient')
  const [name, setName] = useState(before ?? '')
  const save = async () => {
    const { reply } = await rename.mutateAsync({ id, body: { name: name.trim() } })
    return say.renamed(reply.name ?? '')
  }
  return (
    <FormDialog title={say.renameTitle(before ?? id)} onSubmit={save} onClose={onClose}>
      {(errorOf) => (
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
      )}
    </FormDialog>
  )
}
