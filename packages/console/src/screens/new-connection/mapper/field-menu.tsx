import { Text, TextInput } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import classes from '../../../components/fields/picker.module.css'
import { useListKeys } from '../../../components/list-keys.ts'
import { mapper as say } from '../../../strings/mapper.ts'

/** The fields that a column can fill, searched. */
export function FieldMenu({
  column,
  open,
  onPick,
}: {
  column: string
  open: readonly RecordDefinition[]
  onPick: (field: string) => void
}) {
  const [text, setText] = useState('')
  const searched = text.trim().toLowerCase()
  const found = open.filter(({ name, description }) =>
    [say.labelOf(name), name, description].some((part) => part.toLowerCase().includes(searched)),
  )
  const keys = useListKeys(found, (active) => {
    const chosen = active ?? (searched === '' ? undefined : found[0])
    if (chosen) onPick(chosen.name)
  })
  return (
    <>
      <TextInput
        data-autofocus
        data-mantine-stop-propagation
        {...keys.search}
        aria-label={say.searchFields}
        placeholder={say.searchFields}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          keys.reset()
        }}
        leftSectionPointerEvents="none"
        leftSection={<IconSearch size={16} aria-hidden />}
        p="xs"
      />
      <div id={keys.listId} role="listbox" aria-label={say.fieldsFor(column)} className={classes.list}>
        {found.map(({ name }, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
          <div
            key={name}
            {...keys.optionAt(at)}
            role="option"
            aria-selected={false}
            className={`${classes.row} ${classes.option}`}
            onClick={() => onPick(name)}
          >
            <Text size="sm" truncate flex={1}>
              {say.labelOf(name)}
            </Text>
            <Text size="xs" c="dimmed" truncate ff="monospace">
              {name}
            </Text>
          </div>
        ))}
      </div>
    </>
  )
}
