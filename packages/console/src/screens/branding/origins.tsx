import { ActionIcon, Button, Group, Input, Stack, Text, TextInput, Title } from '@mantine/core'
import { limits } from '@penstock/wire'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { branding as say } from '../../strings/branding.ts'

/** The origins of the sites that may show the pages, a row each. */
export function Origins({
  value,
  errorOf,
  error,
  onChange,
}: {
  value: readonly string[]
  errorOf: (row: number) => string | undefined
  error: string | undefined
  onChange: (value: readonly string[]) => void
}) {
  return (
    <Stack>
      <div>
        <Title order={2} size="h5">
          {say.sites}
        </Title>
        <Text size="sm" c="dimmed">
          {say.sitesHelp}
        </Text>
      </div>
      {value.length === 0 && <Text size="sm">{say.noSites}</Text>}
      {value.map((origin, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place in the list.
        <Group key={row} gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            aria-label={say.origin(row + 1)}
            placeholder="https://shop.example.com"
            type="url"
            spellCheck={false}
            autoComplete="off"
            maxLength={300}
            value={origin}
            error={errorOf(row)}
            style={{ flex: 1, minWidth: 0 }}
            onChange={({ currentTarget }) => onChange(value.with(row, currentTarget.value))}
          />
          <ActionIcon
            variant="default"
            size={36}
            aria-label={say.removeOrigin(row + 1)}
            onClick={() => onChange(value.toSpliced(row, 1))}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {error && <Input.Error>{error}</Input.Error>}
      {value.length < limits.embeddingOriginsMax && (
        <Button
          variant="default"
          w="fit-content"
          leftSection={<IconPlus size={18} aria-hidden />}
          onClick={() => onChange([...value, ''])}
        >
          {say.addOrigin}
        </Button>
      )}
    </Stack>
  )
}
