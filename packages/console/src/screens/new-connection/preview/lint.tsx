import { Badge, Group, List, Stack, Text, Title } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { count } from '../../../components/numbers.ts'
import { DataTable } from '../../../components/resource-table.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'

type FieldLint = Preview['lint'][number]

/** Possible findings about values, worst first, and whether a finding causes rejected records. */
const kinds = [
  { kind: 'malformed', color: 'red' },
  { kind: 'wrongHashLength', color: 'red' },
  { kind: 'hashedTwice', color: 'red' },
  { kind: 'mixedKinds', color: 'orange' },
  { kind: 'missing', color: 'orange' },
  { kind: 'unnormalised', color: 'water' },
  { kind: 'alreadyHashed', color: 'gray' },
] as const satisfies readonly { kind: keyof FieldLint; color: string }[]

/** Statistics of the values of each field, and the meaning of each finding. */
export function Lint({ lint }: { lint: Preview['lint'] }) {
  const met = kinds.filter(({ kind }) => lint.some((one) => one[kind] > 0))
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {say.lint}
      </Title>
      <DataTable
        label={say.lint}
        fz="sm"
        verticalSpacing={6}
        rows={lint}
        columns={[
          { header: say.field, wraps: true, mono: true, cell: ({ field }) => field },
          { header: say.column, from: 'xs', wraps: true, cell: ({ column }) => column },
          { header: say.findings, cell: (one) => <Findings lint={one} /> },
        ]}
      />
      {met.length > 0 && (
        <List size="xs" c="dimmed" spacing={2}>
          {met.map(({ kind }) => (
            <List.Item key={kind}>{say.finding[kind].help}</List.Item>
          ))}
        </List>
      )}
    </Stack>
  )
}

function Findings({ lint }: { lint: FieldLint }) {
  const found = kinds.filter(({ kind }) => lint[kind] > 0)
  if (found.length === 0) {
    return (
      <Text span size="sm" c="dimmed">
        {say.allWell}
      </Text>
    )
  }
  return (
    <Group gap={6}>
      {found.map(({ kind, color }) => (
        <Badge key={kind} variant="dot" color={color} fw={500}>
          {say.finding[kind].found(count(lint[kind]))}
        </Badge>
      ))}
    </Group>
  )
}
