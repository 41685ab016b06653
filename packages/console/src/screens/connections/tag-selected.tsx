import { useState } from 'react'
import { EditTags } from '../../components/edit-tags.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { PickOwner } from '../../components/labels.tsx'
import { labels as say } from '../../strings/labels.ts'

/** Labels to add to the selected connections. */
export type AddedLabels = { readonly tags: readonly string[]; readonly ownerEmail: string | undefined }

/** Asks which tags are added to connections, and who owns them from now on. */
export function TagSelected({
  n,
  onSubmit,
  onClose,
}: {
  n: number
  onSubmit: (added: AddedLabels) => Promise<void>
  onClose: () => void
}) {
  const [tags, setTags] = useState<string[]>([])
  const [owner, setOwner] = useState('')
  const send = async () => {
    onClose()
    await onSubmit({ tags, ownerEmail: owner === '' ? undefined : owner })
  }
  return (
    <FormDialog
      title={say.bulkTitle(n)}
      action={say.bulk}
      disabled={tags.length === 0 && owner === ''}
      onSubmit={send}
      onClose={onClose}
    >
      <EditTags label={say.addTags} accountId={undefined} value={tags} onChange={setTags} />
      <PickOwner none={say.keepOwner} value={owner} onChange={setOwner} />
    </FormDialog>
  )
}
