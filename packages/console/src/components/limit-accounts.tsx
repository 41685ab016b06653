import { MultiSelect, Radio, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { limits } from '@penstock/wire'
import { useState } from 'react'
import { useMe } from '../api/me.ts'
import { useRead } from '../api/queries.ts'
import { access as say } from '../strings/access.ts'
import { NotRead } from './loaded.tsx'

const shown = 20
const waitMs = 200

/** Asks for all sub-accounts or for named ones. `value` is null for all. */
export function LimitAccounts({
  value,
  error,
  onChange,
}: {
  value: readonly string[] | null
  error?: string | undefined
  onChange: (accountIds: readonly string[] | null) => void
}) {
  const limited = (useMe()?.accountIds ?? null) !== null
  return (
    <Radio.Group
      label={say.accounts}
      value={value === null ? 'all' : 'named'}
      onChange={(choice) => onChange(choice === 'all' ? null : [])}
    >
      <Stack gap="xs" mt={6}>
        <Radio
          value="all"
          label={say.accountsAll}
          disabled={limited}
          {...(limited ? { description: say.notHigher } : {})}
        />
        <Radio value="named" label={say.accountsNamed} />
        {value !== null && <PickAccounts value={value} error={error} onChange={onChange} />}
      </Stack>
    </Radio.Group>
  )
}

function PickAccounts({
  value,
  error,
  onChange,
}: {
  value: readonly string[]
  error: string | undefined
  onChange: (accountIds: readonly string[]) => void
}) {
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text.trim(), waitMs)
  const found = useRead('listAccounts', { query: { q: q || undefined, size: shown } }, { keep: true })
  // A picked one has a name, whatever is searched for now.
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  const options = new Map(value.map((id) => [id, names[id] ?? id]))
  for (const { id, name } of found.data?.reply ?? []) options.set(id, name)
  const matches = new Set(found.data?.reply.map(({ id }) => id))
  return (
    <>
      <MultiSelect
        aria-label={say.pickAccounts}
        placeholder={value.length === 0 ? say.searchAccounts : ''}
        searchable
        hidePickedOptions
        maxValues={limits.grantedAccountsMax}
        data={[...options].map(([id, label]) => ({ value: id, label }))}
        // The service has searched already.
        filter={({ options }) => options.filter((option) => 'value' in option && matches.has(option.value))}
        value={[...value]}
        onChange={(ids) => {
          setNames(Object.fromEntries(ids.map((id) => [id, options.get(id) ?? id])))
          onChange(ids)
        }}
        searchValue={text}
        onSearchChange={setText}
        nothingFoundMessage={say.noAccounts}
        error={error}
      />
      <NotRead query={found} />
    </>
  )
}
