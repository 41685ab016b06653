import { Switch, TextInput } from '@mantine/core'
import { type AccountEntry, limits } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { accounts as say } from '../../strings/accounts.ts'

/** Adds a sub-account, or edits one. No other change is lost: only the version that was opened is replaced. */
export function SaveAccount({
  account,
  onClose,
}: {
  account?: Pick<AccountEntry, 'id' | 'name' | 'enabled'>
  onClose: () => void
}) {
  const add = useWrite('addAccount')
  const edit = useWrite('editAccount')
  // Reads the account again, for its version. The older version of the list would look like a concurrent change.
  const opened = useRead('getAccount', { id: account?.id ?? '' }, { enabled: account !== undefined })
  const [name, setName] = useState(account?.name ?? '')
  const [enabled, setEnabled] = useState(account?.enabled ?? true)
  const [ifMatch, setIfMatch] = useState<string>()
  const save = async (latest?: string) => {
    const body = { name: name.trim(), enabled }
    if (!account) {
      await add.mutateAsync({ body })
      return say.added(body.name)
    }
    const version = ifMatch ?? opened.data?.etag
    setIfMatch(version)
    await edit.mutateAsync({ id: account.id, body, ifMatch: latest ?? version })
    return say.saved(body.name)
  }
  const fieldsOf = (of: { name: string; enabled: boolean } | undefined) => ({
    [say.name]: of?.name ?? '',
    [say.enabled]: String(of?.enabled),
  })
  const readTheirs = async () => {
    const { data } = await opened.refetch()
    return { version: data?.etag, fields: fieldsOf(data?.reply) }
  }
  return (
    <FormDialog
      title={account ? say.editTitle(account.name) : say.addTitle}
      versions={{ mine: fieldsOf({ name, enabled }), readTheirs }}
      onSubmit={save}
      onClose={onClose}
    >
      {(errorOf) => (
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
          <Switch
            label={say.enabled}
            description={say.enabledHelp}
            checked={enabled}
            onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
          />
        </>
      )}
    </FormDialog>
  )
}
