import type { MultiSelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { PickSeveral } from './pick-several.tsx'

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
  search: { text, setText, query },
  found,
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
  const [isOpen, setOpen] = useState(false)
  const listed = useSteady(found, isOpen ? (query.q ?? '') : undefined)
  // A picked one has a name, whatever is searched for now.
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  const options = new Map(listed.map(({ id, name }) => [id, name]))
  for (const id of value) if (!options.has(id)) options.set(id, names[id] ?? id)
  const matches = new Set(listed.map(({ id }) => id))
  return (
    <PickSeveral
      {...looks}
      placeholder={value.length === 0 ? placeholder : ''}
      searchable
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
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
    />
  )
}

/**
 * The results, in the order in which they were first shown. Otherwise a refresh of the list would move the options
 * under the pointer.
 * @param question query of the open list; undefined while it is closed
 */
function useSteady(found: readonly Named[] | undefined, question: string | undefined): readonly Named[] {
  const kept = useRef<{ question: string | undefined; listed: readonly Named[] }>({ question: undefined, listed: [] })
  if (found === undefined) return kept.current.listed
  const isSame = question !== undefined && kept.current.question === question
  const now = new Map(found.map((one) => [one.id, one]))
  const before = isSame ? kept.current.listed.flatMap(({ id }) => now.get(id) ?? []) : []
  const earlier = new Set(before.map(({ id }) => id))
  const listed = [...before, ...found.filter(({ id }) => !earlier.has(id))]
  kept.current = { question, listed }
  return listed
}
