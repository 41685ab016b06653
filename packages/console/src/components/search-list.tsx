import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './fields/picker.module.css'
import { useListKeys } from './list-keys.ts'

/** A search above the options that it finds, in a popover or a dialog. The search keeps the focus and has the keys. */
export function SearchList<Option>({
  label,
  placeholder = label,
  list,
  text,
  maxLength,
  options,
  usual,
  floats = false,
  keyOf,
  isPicked = () => false,
  onText,
  onPick,
  children,
}: {
  /** Names the search. */
  label: string
  placeholder?: string
  /** Names the list. */
  list: string
  text: string
  maxLength?: number
  options: readonly Option[]
  /** Enter picks it while no option is active. */
  usual: Option | undefined
  /** It is in a popover: Escape closes the popover, and not a dialog around it. */
  floats?: boolean
  keyOf: (option: Option) => string
  isPicked?: (option: Option) => boolean
  onText: (text: string) => void
  onPick: (option: Option) => void
  /** The content of an option, in one line. */
  children: (option: Option) => ReactNode
}) {
  const keys = useListKeys(options, (active = usual) => {
    if (active !== undefined) onPick(active)
  })
  return (
    <>
      <TextInput
        {...(floats ? { 'data-mantine-stop-propagation': true, p: 'xs' } : { pb: 'xs' })}
        data-autofocus
        {...keys.search}
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        maxLength={maxLength}
        value={text}
        onChange={({ currentTarget }) => {
          onText(currentTarget.value)
          keys.reset()
        }}
        leftSectionPointerEvents="none"
        leftSection={<IconSearch size={16} aria-hidden />}
      />
      <div id={keys.listId} role="listbox" aria-label={list} className={classes.list}>
        {options.map((option, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
          <div
            key={keyOf(option)}
            {...keys.optionAt(at)}
            role="option"
            aria-selected={isPicked(option)}
            className={`${classes.row} ${classes.option}`}
            onClick={() => onPick(option)}
          >
            {children(option)}
          </div>
        ))}
      </div>
    </>
  )
}
