import { TextInput } from '@mantine/core'
import { type Connection, limits } from '@penstock/wire'
import { useState } from 'react'
import { readOnce, useWrite } from '../../api/queries.ts'
import { nameOfSet, setTagOf, tagOfSet } from '../../components/connection-set.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { connectionSet as say } from '../../strings/connection-set.ts'
import { callEach } from '../connections/call-each.ts'
import { freeTag } from '../new-connection/set/free-tag.ts'

/** Renames a set: its connections get another tag in place of the one that holds them together. */
export function RenameSet({
  accountId,
  tag,
  live,
  onClose,
}: {
  accountId: string
  tag: string
  /** The connections that are not deleted. */
  live: readonly Pick<Connection, 'id' | 'name'>[]
  onClose: () => void
}) {
  const before = nameOfSet(tag)
  const [name, setName] = useState(before)
  const set = useWrite('setConnectionLabels')
  const rename = async () => {
    // Another letter case is the same tag.
    const usual = tagOfSet(name, [])
    const next = usual.toLowerCase() === tag.toLowerCase() ? usual : await freeTag(accountId, name)
    const refusals = await callEach(live, async ({ id }) => {
      const { reply } = await readOnce('getConnectionLabels', { accountId, id }, { fresh: true })
      const own = setTagOf(reply.tags)
      const tags = reply.tags.map((one) => (one === own ? next : one))
      await set.mutateAsync({ accountId, id, body: { tags } })
    })
    if (refusals.length === 0) return say.renamed(nameOfSet(next))
    const [first] = refusals
    return { title: say.notRenamed(refusals.map(({ connection }) => connection.name)), message: first?.why ?? '' }
  }
  return (
    <FormDialog
      title={say.rename}
      disabled={name.trim() === '' || name.trim() === before}
      onSubmit={rename}
      onClose={onClose}
    >
      <TextInput
        label={say.setName}
        description={say.renameHelp(live.length)}
        maxLength={limits.tagLengthMax - tagOfSet('', []).length - 1}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  )
}
