import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { limits } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { components } from '../strings/components.ts'
import { useAddress } from './address.ts'

const waitMs = 250

/** A text to search by, which is `q` in the address once the typing pauses. */
export function SearchBox({
  label = components.search,
  name = 'q',
  placeholder = label,
  wide = false,
}: {
  label?: string
  name?: string
  placeholder?: string
  /** Whether it is the main control of the page. */
  wide?: boolean
}) {
  const { value, change } = useAddress()
  const query = value(name)
  const [text, setText] = useState(query)
  useEffect(() => setText((typed) => (typed.trim() === query ? typed : query)), [query])
  const search = useDebouncedCallback((next: string) => change({ [name]: next.trim() }, { replace: true }), waitMs)
  const type = (next: string) => {
    setText(next)
    search(next)
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      maxLength={limits.filterLengthMax}
      onChange={({ currentTarget }) => type(currentTarget.value)}
      leftSection={<IconSearch size={wide ? 20 : 16} aria-hidden />}
      rightSection={text && <CloseButton size="sm" aria-label={components.clearSearch} onClick={() => type('')} />}
      {...(wide && { size: 'lg' })}
      style={{ width: '100%', maxWidth: wide ? 860 : 360 }}
    />
  )
}
