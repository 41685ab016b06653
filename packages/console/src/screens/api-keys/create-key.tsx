import { Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type ClientWithSecret, limits, type Scope } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useMe } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
import { count } from '../../components/numbers.ts'
import { apiKeys as say } from '../../strings/api-keys.ts'
import { PickScopes } from './pick-scopes.tsx'
import { SecretShown } from './secret-shown.tsx'

const daySeconds = 86_400
const spans = [30, 90, 365]
type Errors = { name?: string; scopes?: string; accounts?: string; date?: string }

/** Creates client credentials, and shows their secret. */
export function CreateKey({ onClose }: { onClose: () => void }) {
  const me = useMe()
  const create = useWrite('createClient')
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[] | null>(me?.scopes ? [] : null)
  const [accountIds, setAccountIds] = useState<readonly string[] | null>(me?.accountIds ? [] : null)
  const [expires, setExpires] = useState('never')
  const [date, setDate] = useState('')
  const [errors, setErrors] = useState<Errors>({})
  const [failure, setFailure] = useState<unknown>()
  const [client, setClient] = useState<ClientWithSecret>()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setFailure(undefined)
    const expiresTime = expiryOf(expires, date)
    const found: Errors = {
      ...(scopes?.length === 0 && { scopes: say.chooseOne }),
      ...(accountIds?.length === 0 && { accounts: say.chooseAccount }),
      ...(expiresTime !== null && !(expiresTime * 1000 > Date.now()) && { date: say.pickDate }),
    }
    setErrors(found)
    if (Object.keys(found).length > 0) return
    const body = {
      name: name.trim(),
      scopes: scopes && [...scopes],
      accountIds: accountIds && [...accountIds],
      expiresTime,
    }
    try {
      setClient((await create.mutateAsync({ body })).reply)
    } catch (error) {
      const blamed = error instanceof PenstockError && error.details.find(({ field }) => field === 'body.name')
      if (blamed) setErrors({ name: blamed.message })
      else setFailure(error)
    }
  }
  if (client) return <SecretShown title={say.created(client.name ?? '')} client={client} onClose={onClose} />
  return (
    <Modal opened onClose={onClose} title={say.create} size="xl">
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <TextInput
            label={say.name}
            description={say.nameHelp}
            required
            maxLength={limits.nameLengthMax}
            data-autofocus
            value={name}
            error={errors.name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PickScopes value={scopes} error={errors.scopes} onChange={setScopes} />
          <LimitAccounts value={accountIds} error={errors.accounts} onChange={setAccountIds} />
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
                error={errors.date}
                onChange={({ currentTarget }) => setDate(currentTarget.value)}
                maw={280}
              />
            )}
          </Group>
          {failure !== undefined && <Failure error={failure} />}
          <FormButtons busy={create.isPending} action={say.create} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}

/** Seconds since 1970; null: never; NaN where there is no such date. */
function expiryOf(choice: string, date: string): number | null {
  if (choice === 'never') return null
  if (choice === 'date') return Math.floor(new Date(`${date}T23:59:59`).getTime() / 1000)
  return Math.floor(Date.now() / 1000) + Number(choice) * daySeconds
}
