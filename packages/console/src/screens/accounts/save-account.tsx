import { Modal, Stack, Switch, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type AccountEntry, limits } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { Changed, isChanged } from '../../components/changed.tsx'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { accounts as say } from '../../strings/accounts.ts'

/** Adds a sub-account, or edits one. No other change is lost: only the version that was opened is replaced. */
export function SaveAccount({ account, onClose }: { account?: AccountEntry; onClose: () => void }) {
  const add = useWrite('addAccount')
  const edit = useWrite('editAccount')
  // What is edited is read again, for its version; the older version of the list would look like someone else's change.
  const opened = useRead('getAccount', { id: account?.id ?? '' }, { enabled: account !== undefined })
  const [name, setName] = useState(account?.name ?? '')
  const [enabled, setEnabled] = useState(account?.enabled ?? true)
  const [ifMatch, setIfMatch] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const fieldError =
    failure instanceof PenstockError ? failure.details.find(({ field }) => field === 'body.name') : undefined

  const save = async (version: string | undefined) => {
    setFailure(undefined)
    try {
      const body = { name: name.trim(), enabled }
      if (account) {
        await edit.mutateAsync({ id: account.id, body, ifMatch: version })
        notifyDone(say.saved(body.name))
      } else {
        await add.mutateAsync({ body })
        notifyDone(say.added(body.name))
      }
      onClose()
    } catch (error) {
      setFailure(error)
    }
  }
  const version = ifMatch ?? opened.data?.etag
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setIfMatch(version)
    void save(version)
  }
  return (
    <Modal opened onClose={onClose} title={account ? say.editTitle(account.name) : say.addTitle}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={say.name}
            description={say.nameHelp}
            required
            maxLength={limits.nameLengthMax}
            data-autofocus
            value={name}
            error={fieldError?.message}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Switch
            label={say.enabled}
            description={say.enabledHelp}
            checked={enabled}
            onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
          />
          {account && isChanged(failure) ? (
            <Changed
              mine={{ [say.name]: name, [say.enabled]: String(enabled) }}
              readTheirs={async () => {
                const { data } = await opened.refetch()
                return {
                  version: data?.etag,
                  fields: { [say.name]: data?.reply.name ?? '', [say.enabled]: String(data?.reply.enabled) },
                }
              }}
              onKeepTheirs={onClose}
              onSaveMine={(version) => void save(version)}
            />
          ) : (
            failure !== undefined && !fieldError && <Failure error={failure} />
          )}
          <FormButtons busy={add.isPending || edit.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
