import { Badge, Group, List, Stack, Table, Text, Title } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { Sideways } from '../../components/list-table.tsx'
import { count } from '../../components/numbers.ts'
import { newConnection as say } from '../../strings/new-connection.ts'

type FieldLint = Preview['lint'][number]

/** What can be found of values, worst first, and whether it keeps a record from arriving. */
const kinds = [
  { kind: 'malformed', color: 'red' },
  { kind: 'wrongHashLength', color: 'red' },
  { kind: 'hashedTwice', color: 'red' },
  { kind: 'mixedKinds', color: 'orange' },
  { kind: 'missing', color: 'orange' },
  { kind: 'unnormalised', color: 'water' },
  { kind: 'alreadyHashed', color: 'gray' },
] as const satisfies readonly { kind: keyof FieldLint; color: string }[]

/** What the values of each field are like, and what each finding means. */
export function Lint({ lint }: { lint: Preview['lint'] }) {
  const met = kinds.filter(({ kind }) => lint.some((one) => one[kind] > 0))
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {say.lint}
      </Title>
      <Sideways label={say.lint}>
        <Table fz="sm" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{say.field}</Table.Th>
              <Table.Th visibleFrom="xs">{say.column}</Table.Th>
              <Table.Th>{say.findings}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lint.map((one) => (
              <Table.Tr key={one.field}>
                <Table.Td ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {one.field}
                </Table.Td>
                <Table.Td visibleFrom="xs" style={{ overflowWrap: 'anywhere' }}>
                  {one.column}
                </Table.Td>
                <Table.Td>
                  <Findings lint={one} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Sideways>
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
