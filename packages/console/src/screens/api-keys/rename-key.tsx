import { Modal, Stack, TextInput } from '@mantine/core'
import { type Client, limits } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'

/** Renames client credentials. */
export function RenameKey({ client: { id, name: before }, onClose }: { client: Client; onClose: () => void }) {
  const rename = useWrite('renameClient')
  const [name, setName] = useState(before ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate(
      { id, body: { name: name.trim() } },
      {
        onSuccess: ({ reply }) => {
          notifyDone(say.renamed(reply.name ?? ''))
          onClose()
        },
      },
    )
  }
  return (
    <Modal opened onClose={onClose} title={say.renameTitle(before ?? id)}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={say.name}
            description={say.nameHelp}
            required
            maxLength={limits.nameLengthMax}
            data-autofocus
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {rename.error && <Failure error={rename.error} />}
          <FormButtons busy={rename.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
