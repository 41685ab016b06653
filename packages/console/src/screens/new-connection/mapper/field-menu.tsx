import { Text } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { useState } from 'react'
import { SearchList } from '../../../components/search-list.tsx'
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
  return (
    <SearchList
      floats
      label={say.searchFields}
      list={say.fieldsFor(column)}
      text={text}
      options={found}
      usual={searched === '' ? undefined : found[0]}
      keyOf={({ name }) => name}
      onText={setText}
      onPick={({ name }) => onPick(name)}
    >
      {({ name }) => (
        <>
          <Text size="sm" truncate flex={1}>
            {say.labelOf(name)}
          </Text>
          <Text size="xs" c="dimmed" truncate ff="monospace">
            {name}
          </Text>
        </>
      )}
    </SearchList>
  )
}
