import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useState } from 'react'

/**
 * Asks for several options. The list stands still while it is open: a picked option keeps its place, with a check mark, the
 * search text stays, and what is picked stays on one line above the list.
 */
export function PickSeveral({ onDropdownOpen, onDropdownClose, ...props }: MultiSelectProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <MultiSelect
      {...props}
      clearSearchOnChange={false}
      onDropdownOpen={() => {
        setOpen(true)
        onDropdownOpen?.()
      }}
      onDropdownClose={() => {
        setOpen(false)
        onDropdownClose?.()
      }}
      styles={isOpen ? oneLine : {}}
    />
  )
}

const oneLine = {
  pillsList: { flexWrap: 'nowrap', overflowX: 'auto' },
  pill: { flexShrink: 0 },
  inputField: { minWidth: 80 },
} as const
