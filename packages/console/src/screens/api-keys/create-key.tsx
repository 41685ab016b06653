import { Group, Select, TextInput } from '@mantine/core'
import { type ClientWithSecret, limits, type Scope } from '@penstock/wire'
import { useState } from 'react'
import { useMe } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
import { count } from '../../components/numbers.ts'
import { apiKeys as say } from '../../strings/api-keys.ts'
import { PickScopes } from './pick-scopes.tsx'
import { SecretShown } from './secret-shown.tsx'

const daySeconds = 86_400
const spans = [30, 90, 365]

/** Creates client credentials, and shows their secret. */
export function CreateKey({ onClose }: { onClose: () => void }) {
  const me = useMe()
  const create = useWrite('createClient')
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[] | null>(me?.scopes ? [] : null)
  const [accountIds, setAccountIds] = useState<readonly string[] | null>(me?.accountIds ? [] : null)
  const [expires, setExpires] = useState('never')
  const [date, setDate] = useState('')
  const [client, setClient] = useState<ClientWithSecret>()
  const expiresTime = expiryOf(expires, date)
  const send = async () => {
    const granted = { scopes: scopes && [...scopes], accountIds: accountIds && [...accountIds] }
    setClient((await create.mutateAsync({ body: { name: name.trim(), ...granted, expiresTime } })).reply)
  }
  if (client) return <SecretShown title={say.created(client.name ?? '')} client={client} onClose={onClose} />
  return (
    <FormDialog
      title={say.create}
      size="xl"
      action={say.create}
      invalid={{
        scopes: scopes?.length === 0 && say.chooseOne,
        accountIds: accountIds?.length === 0 && say.chooseAccount,
        expiresTime: expiresTime !== null && !(expiresTime * 1000 > Date.now()) && say.pickDate,
      }}
      onSubmit={send}
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
          <PickScopes value={scopes} error={errorOf('scopes')} onChange={setScopes} />
          <LimitAccounts value={accountIds} error={errorOf('accountIds')} onChange={setAccountIds} />
          <Group align="flex-start" grow preventGrowOverflow={false}>
            <Select
              label={say.expires}
              data={[
                { value: 'never', label: say.never },
                ...spans.map((days) => ({ value: String(days), label: say.inDays(count(days)) })),
                { value: 'date', label: say.onDate },
              ]}
              value={expires}
              onChange={(next) => setExpires(next ?? 'never')}
              allowDeselect={false}
              checkIconPosition="right"
              maw={280}
            />
            {expires === 'date' && (
              <TextInput
                type="date"
                label={say.date}
                required
                value={date}
                error={errorOf('expiresTime')}
                onChange={({ currentTarget }) => setDate(currentTarget.value)}
                maw={280}
              />
            )}
          </Group>
        </>
      )}
    </FormDialog>
  )
}

/** Seconds since 1970; null: never; NaN if there is no such date. */
function expiryOf(choice: string, date: string): number | null {
  if (choice === 'never') return null
  if (choice === 'date') return Math.floor(new Date(`${date}T23:59:59`).getTime() / 1000)
  return Math.floor(Date.now() / 1000) + Number(choice) * daySeconds
}
