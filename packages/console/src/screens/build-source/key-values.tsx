import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { buildSource as say } from '../../strings/build-source.ts'
import { CodeInput } from './code-input.tsx'

type Entry = readonly [name: string, value: string]

/** Names and values that are sent, such as the parameters of a request. One without a name is not part of the text yet. */
export function KeyValues({
  label,
  add,
  values,
  onChange,
}: {
  label: string
  /** The text of the button that adds one. */
  add: string
  values: unknown
  onChange: (entries: readonly Entry[]) => void
}) {
  const saved = entriesIn(values)
  const [typed, setTyped] = useState<readonly Entry[]>(saved)
  // The text can be edited as well, and has the last word except about entries that have no name.
  const entries = isSame(named(typed), saved) ? typed : saved
  const change = (next: readonly Entry[]) => {
    setTyped(next)
    if (!isSame(named(next), saved)) onChange(named(next))
  }
  const replace = (at: number, entry: Entry) => change(entries.map((one, index) => (index === at ? entry : one)))
  return (
    <Stack gap={6} role="group" aria-label={label}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      {entries.map(([name, value], at) => (
        // An entry has no identity but its place: its name is what is typed.
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <Group key={at} gap={6} wrap="nowrap">
          <TextInput
            size="xs"
            aria-label={say.nameOf(label, at + 1)}
            placeholder={say.name}
            value={name}
            autoComplete="off"
            spellCheck={false}
            style={{ flex: '1 1 40%' }}
            onChange={({ currentTarget }) => replace(at, [currentTarget.value, value])}
          />
          <CodeInput
            aria-label={say.valueOf(label, at + 1)}
            placeholder={say.value}
            value={value}
            style={{ flex: '1 1 60%' }}
            onChange={(text) => replace(at, [name, text])}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={say.removeOf(label, name || String(at + 1))}
            onClick={() => change(entries.filter((_, index) => index !== at))}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="subtle"
        size="compact-xs"
        style={{ alignSelf: 'flex-start' }}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => setTyped([...entries, ['', '']])}
      >
        {add}
      </Button>
    </Stack>
  )
}

const entriesIn = (values: unknown): Entry[] =>
  typeof values === 'object' && values !== null
    ? Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)])
    : []

/** Of two with one name, the last one counts, as in an object. */
const named = (entries: readonly Entry[]): Entry[] =>
  Object.entries(Object.fromEntries(entries.filter(([name]) => name !== '')))

const isSame = (one: readonly Entry[], other: readonly Entry[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
