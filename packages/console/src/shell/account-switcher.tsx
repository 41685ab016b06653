import { Button, Combobox, Loader, ScrollArea, Text, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconBuilding, IconSelector } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useOnlyAccountId } from '../api/me.ts'
import { useRead } from '../api/queries.ts'
import { shell as say } from '../strings/shell.ts'
import { pathOf, useAccountId } from './account.ts'
import { accountPages, sharedPages } from './pages.ts'

const shown = 20
const waitMs = 200

/** Shows the sub-account that is picked, and picks another one: the same kind of page of that one is opened. */
export function AccountSwitcher({
  accountId,
  onPick,
}: {
  /** The sub-account that is shown; undefined: all. */
  accountId: string | undefined
  onPick: () => void
}) {
  const account = useRead('getAccount', { id: accountId ?? '' }, { enabled: accountId !== undefined }).data?.reply
  const inAddress = useAccountId()
  const onlyAccountId = useOnlyAccountId()
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text.trim(), waitMs)
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      setText('')
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  })
  const { data, isFetching } = useRead(
    'listAccounts',
    { query: { q: q || undefined, size: shown } },
    { enabled: combobox.dropdownOpened, keep: true },
  )
  const pick = (id: string) => {
    combobox.closeDropdown()
    onPick()
    // A path below a list names something of the account that is left, which the next account does not have.
    const page = pathname.split('/')[inAddress ? 3 : 1] ?? ''
    const same = accountPages.includes(page) ? page : ''
    navigate(id === '' ? pathOf(undefined, sharedPages.includes(same) ? same : '') : pathOf(id, same))
  }
  return (
    <Combobox store={combobox} onOptionSubmit={pick} withinPortal>
      <Combobox.Target withAriaAttributes={false}>
        <Button
          variant="default"
          fullWidth
          justify="space-between"
          h={44}
          style={{ flexShrink: 0 }}
          leftSection={<IconBuilding size={18} aria-hidden />}
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={`${say.switchAccount}: ${account?.name ?? say.allAccounts}`}
          aria-haspopup="listbox"
          aria-expanded={combobox.dropdownOpened}
          onClick={() => combobox.toggleDropdown()}
        >
          <Text span truncate size="sm" fw={550}>
            {accountId ? (account?.name ?? '…') : say.allAccounts}
          </Text>
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          placeholder={say.searchAccounts}
          aria-label={say.searchAccounts}
          rightSection={isFetching && <Loader size={14} />}
        />
        <Combobox.Options aria-label={say.switchAccount}>
          <ScrollArea.Autosize mah={320} type="scroll">
            {q === '' && !onlyAccountId && <Combobox.Option value="">{say.allAccounts}</Combobox.Option>}
            {data?.reply.map(({ id, name }) => (
              <Combobox.Option key={id} value={id} active={id === accountId} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Combobox.Option>
            ))}
            {data?.reply.length === 0 && <Combobox.Empty>{say.noAccounts}</Combobox.Empty>}
          </ScrollArea.Autosize>
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
