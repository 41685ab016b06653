import { Radio, Stack } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useMe } from '../api/me.ts'
import { useRead } from '../api/queries.ts'
import { access as say } from '../strings/access.ts'
import { NotRead } from './loaded.tsx'
import { PickFound, useSearchText } from './pick-found.tsx'

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
  const search = useSearchText()
  const found = useRead('listAccounts', { query: search.query }, { keep: true })
  return (
    <>
      <PickFound
        search={search}
        found={found.data?.reply}
        aria-label={say.pickAccounts}
        placeholder={say.searchAccounts}
        nothingFoundMessage={say.noAccounts}
        maxValues={limits.grantedAccountsMax}
        value={value}
        error={error}
        onChange={onChange}
      />
      <NotRead query={found} />
    </>
  )
}
