import { Text } from '@mantine/core'
import { IconColumns3, IconMathFunction } from '@tabler/icons-react'
import { useState } from 'react'
import { SearchList } from '../../../../components/search-list.tsx'
import { expressions as say } from '../../../../strings/expressions.ts'
import { functionsOfMappings } from './functions.ts'

export type Suggestion = { readonly kind: 'column' | 'function'; readonly name: string; readonly detail: string }

const shownMax = 100

/** Columns and functions to insert, searched. @param first what is searched when it opens */
export function Suggestions({
  columns,
  only,
  first,
  onPick,
}: {
  columns: readonly string[]
  only: Suggestion['kind'] | undefined
  first: string
  onPick: (suggestion: Suggestion) => void
}) {
  const [text, setText] = useState(first)
  const all: Suggestion[] = [
    ...[...new Set(columns)]
      .filter((name) => name !== '')
      .map((name) => ({ kind: 'column' as const, name, detail: say.aColumn })),
    ...functionsOfMappings.map(({ name, shown }) => ({ kind: 'function' as const, name, detail: shown })),
  ].filter(({ kind }) => only === undefined || kind === only)
  const searched = text.trim().toLowerCase()
  const found = all.filter(({ name }) => name.toLowerCase().includes(searched))
  const sorted = [...found.filter(({ name }) => name.toLowerCase().startsWith(searched)), ...found]
  const options = [...new Set(sorted)].slice(0, shownMax)
  return (
    <SearchList
      floats
      label={say.searchSuggestions}
      list={say.suggestions}
      text={text}
      options={options}
      usual={options[0]}
      keyOf={({ kind, name }) => `${kind} ${name}`}
      onText={setText}
      onPick={onPick}
    >
      {({ kind, name, detail }) => (
        <>
          {kind === 'column' ? (
            <IconColumns3 size={16} aria-hidden style={{ flexShrink: 0 }} />
          ) : (
            <IconMathFunction size={16} aria-hidden style={{ flexShrink: 0 }} />
          )}
          <Text size="sm" truncate flex={1} title={name}>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate maw="60%" {...(kind === 'function' && { ff: 'monospace' })}>
            {detail}
          </Text>
        </>
      )}
    </SearchList>
  )
}
