import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'

const shown = 20
const waitMs = 200

/** A text that is searched for while it is entered, and the query that finds what has it in its name. */
export function useSearchText() {
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text.trim(), waitMs)
  return { text, setText, query: { q: q || undefined, size: shown } }
}

type Named = { readonly id: string; readonly name: string }

/** Asks for some of very many, which the service searches. `found` is what it found for the text of `search`. */
export function PickFound({
  search: { text, setText },
  found = [],
  value,
  placeholder,
  onChange,
  ...looks
}: {
  search: ReturnType<typeof useSearchText>
  found: readonly Named[] | undefined
  value: readonly string[]
  /** Shown while none is picked. */
  placeholder: string
  onChange: (ids: readonly string[]) => void
} & Pick<MultiSelectProps, 'aria-label' | 'label' | 'description' | 'maxValues' | 'nothingFoundMessage' | 'error'>) {
  // A picked one has a name, whatever is searched for now.
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  const options = new Map(value.map((id) => [id, names[id] ?? id]))
  for (const { id, name } of found) options.set(id, name)
  const matches = new Set(found.map(({ id }) => id))
  return (
    <MultiSelect
      {...looks}
      placeholder={value.length === 0 ? placeholder : ''}
      searchable
      hidePickedOptions
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
    />
  )
}
