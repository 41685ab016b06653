import { Text, TextInput } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useId, useState } from 'react'
import classes from '../../../components/fields/picker.module.css'
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
  const listId = useId()
  const [text, setText] = useState('')
  const [active, setActive] = useState(-1)
  const searched = text.trim().toLowerCase()
  const found = open.filter(({ name, description }) =>
    [say.labelOf(name), name, description].some((part) => part.toLowerCase().includes(searched)),
  )
  const optionId = (at: number) => `${listId}-${at}`
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      const from = active === -1 && step === -1 ? 0 : active
      const next = (from + step + found.length) % found.length
      setActive(next)
      document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
    }
    if (event.key !== 'Enter') return
    event.preventDefault()
    const chosen = found[active] ?? (searched === '' ? undefined : found[0])
    if (chosen) onPick(chosen.name)
  }
  return (
    <>
      <TextInput
        data-autofocus
        data-mantine-stop-propagation
        role="combobox"
        aria-label={say.searchFields}
        aria-autocomplete="list"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={active >= 0 ? optionId(active) : undefined}
        placeholder={say.searchFields}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          setActive(-1)
        }}
        onKeyDown={press}
        leftSectionPointerEvents="none"
        leftSection={<IconSearch size={16} aria-hidden />}
        p="xs"
      />
      <div id={listId} role="listbox" aria-label={say.fieldsFor(column)} className={classes.list}>
        {found.map(({ name }, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
          <div
            key={name}
            id={optionId(at)}
            role="option"
            aria-selected={false}
            data-active={at === active || undefined}
            className={`${classes.row} ${classes.option}`}
            onMouseDown={(event) => event.preventDefault()}
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
