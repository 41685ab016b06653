import { Box, Combobox, Group, Kbd, Loader, Modal, Text, TextInput, UnstyledButton, useCombobox } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { basePath } from '../../base-path.ts'
import { palette as say } from '../../strings/palette.ts'
import { modifier } from '../hot-keys.ts'
import { type Found, useFound } from './use-found.tsx'

/** The search over everything: what is found is opened or done by Enter or a click. */
export function Palette({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const [text, setText] = useState('')
  const { groups, isSearching } = useFound(text)
  const navigate = useNavigate()
  const combobox = useCombobox({ opened: true, onOpenedChange: (opened) => opened || onClose() })
  const items = groups.flatMap(({ items }) => items)
  const keys = items.map(({ key }) => key).join('\n')
  const [firstId, setFirstId] = useState<string>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first one is selected whenever others are found.
  useEffect(() => setFirstId(combobox.selectFirstOption() ?? undefined), [keys])

  const open = (found: Found, inNewTab: boolean) => {
    onClose()
    if ('act' in found) found.act()
    else if (inNewTab) window.open('to' in found ? `${basePath}${found.to}` : found.href, '_blank', 'noopener')
    else if ('to' in found) navigate(found.to)
    else window.location.assign(found.href)
  }
  const press = (event: KeyboardEvent) => {
    // From then on the box itself says which one is selected.
    if (event.key.startsWith('Arrow')) setFirstId(undefined)
    const found = items[combobox.getSelectedOptionIndex()]
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !found) return
    event.preventDefault()
    open(found, true)
  }
  return (
    <Modal.Root opened onClose={onClose} padding={0} size={640} yOffset="10vh">
      <Modal.Overlay />
      <Modal.Content aria-label={say.title}>
        <Combobox
          store={combobox}
          onOptionSubmit={(key) => {
            const found = items.find((one) => one.key === key)
            if (found) open(found, false)
          }}
        >
          <Combobox.EventsTarget withExpandedAttribute {...(firstId && { 'aria-activedescendant': firstId })}>
            <TextInput
              data-autofocus
              variant="unstyled"
              size="md"
              px="md"
              py={6}
              aria-label={say.title}
              placeholder={say.search}
              maxLength={100}
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={press}
              leftSection={<IconSearch size={20} aria-hidden />}
              rightSection={isSearching && text !== '' ? <Loader size={16} /> : <Kbd size="xs">Esc</Kbd>}
              rightSectionWidth={48}
              style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
            />
          </Combobox.EventsTarget>
          <Box mih={220}>
            {groups.length > 0 && (
              <Combobox.Options tabIndex={0} aria-label={say.results} mah="55vh" p={6} style={{ overflowY: 'auto' }}>
                {groups.map(({ label, items }) => (
                  <Combobox.Group key={label} label={label}>
                    {items.map((found) => (
                      <Combobox.Option key={found.key} value={found.key} py={8}>
                        <Line {...found} text={text.trim()} />
                      </Combobox.Option>
                    ))}
                  </Combobox.Group>
                ))}
              </Combobox.Options>
            )}
            {groups.length === 0 && (
              <Text size="sm" ta="center" pt="xl" role="status">
                {isSearching ? say.searching : say.none}
                {!isSearching && (
                  <Text span display="block" size="sm" c="dimmed">
                    {say.noneHelp}
                  </Text>
                )}
              </Text>
            )}
          </Box>
        </Combobox>
        <Group
          px="md"
          py="xs"
          gap="md"
          fz="xs"
          c="dimmed"
          style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
        >
          <Key keys={['↑', '↓']} does={say.move} />
          <Key keys={['Enter']} does={say.open} />
          <Key keys={[modifier, 'Enter']} does={say.newTab} />
          <UnstyledButton ml="auto" fz="xs" onClick={onShortcuts}>
            {say.allKeys}
          </UnstyledButton>
        </Group>
      </Modal.Content>
    </Modal.Root>
  )
}

const Key = ({ keys, does }: { keys: readonly string[]; does: string }) => (
  <Group gap={4} wrap="nowrap" visibleFrom="xs">
    {keys.map((key) => (
      <Kbd key={key} size="xs">
        {key}
      </Kbd>
    ))}
    {does}
  </Group>
)

/** A result; the text that was searched for is marked. */
function Line({ label, hint, Icon, logo, text }: Found & { text: string }) {
  const at = text === '' ? -1 : label.toLowerCase().indexOf(text.toLowerCase())
  return (
    <Group gap="sm" wrap="nowrap">
      {logo ? <img src={logo} alt="" width={18} height={18} /> : Icon && <Icon size={18} aria-hidden />}
      <Text span size="sm" truncate flex={1}>
        {at < 0 ? (
          label
        ) : (
          <>
            {label.slice(0, at)}
            <Text span inherit fw={650}>
              {label.slice(at, at + text.length)}
            </Text>
            {label.slice(at + text.length)}
          </>
        )}
      </Text>
      {hint && (
        <Text span size="xs" style={{ flex: 'none', maxWidth: '50%' }} truncate>
          {hint}
        </Text>
      )}
    </Group>
  )
}
