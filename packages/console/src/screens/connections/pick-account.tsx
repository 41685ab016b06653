import { Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { NotRead } from '../../components/loaded.tsx'
import { connections as say } from '../../strings/connections.ts'

const shown = 20
const waitMs = 200

/** Asks in which sub-account a connection is to be made, and leads there. */
export function PickAccount({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [accountId, setAccountId] = useState<string | null>(null)
  const [text, setText] = useState('')
  const [typed] = useDebouncedValue(text.trim(), waitMs)
  const [picked, setPicked] = useState<string>()
  // The box shows the selected name; that is no search.
  const q = typed === picked ? undefined : typed || undefined
  const accounts = useRead('listAccounts', { query: { q, size: shown } }, { keep: true })
  const go = async () => void navigate(`/accounts/${accountId}/connections/new`)
  return (
    <FormDialog title={say.pickTitle} action={say.pickGo} disabled={!accountId} onSubmit={go} onClose={onClose}>
      <Text size="sm" c="dimmed">
        {say.pickHelp}
      </Text>
      <Select
        label={say.pick}
        searchable
        data-autofocus
        data={accounts.data?.reply.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        // The service has searched already.
        filter={({ options }) => options}
        value={accountId}
        onChange={(id, option) => {
          setAccountId(id)
          setPicked(option?.label)
        }}
        searchValue={text}
        onSearchChange={setText}
        nothingFoundMessage={say.pickNone}
      />
      <NotRead query={accounts} />
    </FormDialog>
  )
}
