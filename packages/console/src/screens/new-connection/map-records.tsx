import { Group, Paper, Select, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import type { Preview, RecordDefinition } from '@penstock/wire'
import { newConnection as say } from '../../strings/new-connection.ts'
import { ColumnPicker, withColumn } from './column-picker.tsx'
import { type Editor, sampleOf } from './editor.ts'
import { grouped, type MappingChoice, withEntry } from './mapping.ts'

/** Fills the fields that a destination has: each by a column that is called like it, unless something else is picked. */
export function MapRecords({
  records,
  lint,
  ...editor
}: Editor & { records: readonly RecordDefinition[]; lint: Preview['lint'] | undefined }) {
  return (
    <Stack gap="lg">
      {grouped(records).map(({ kind, records }) => (
        <Stack key={`${kind} ${records[0]?.name}`} gap="xs" component="section" aria-label={say.group[kind]}>
          <Title order={3} size="h6">
            {say.group[kind]}
          </Title>
          <Stack gap="xs" component="ul" p={0} m={0}>
            {records.map((record) => (
              <FieldLine
                key={record.name}
                {...editor}
                record={record}
                found={lint?.find(({ field }) => field === record.name)?.column}
                looked={lint !== undefined}
              />
            ))}
          </Stack>
        </Stack>
      ))}
    </Stack>
  )
}

function FieldLine({
  record,
  found,
  looked,
  lines,
  columns,
  samples,
  fieldErrors,
  wrong,
  onChange,
}: Editor & { record: RecordDefinition; found: string | undefined; looked: boolean }) {
  const { name, description, values } = record
  const index = lines.findIndex(({ field }) => field === name)
  const entry = lines[index]?.entry
  const set = (next: MappingChoice | undefined) => onChange(withEntry(lines, name, next))
  const column = entry?.kind === 'column' ? entry.column : entry ? undefined : found
  const error = fieldErrors[name]
  return (
    <Paper withBorder component="li" p="sm" style={{ listStyle: 'none' }}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="xs">
        <Stack gap={2} miw={0}>
          <Text size="sm" fw={600} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {description}
            {record.normalise || record.hashed ? ` · ${say.form(record.normalise, record.hashed?.[0])}` : ''}
          </Text>
        </Stack>
        <Stack gap={6} miw={0}>
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Choice
              name={name}
              entry={entry}
              found={found}
              looked={looked}
              columns={columns}
              error={error}
              onPick={set}
            />
            {entry?.kind === 'value' && <FixedValue name={name} value={entry.value} values={values} onChange={set} />}
            {entry?.kind === 'column' && !columns && (
              <ColumnPicker
                label={say.columnFor(name)}
                column={entry.column}
                columns={columns}
                error={wrong.get(index)?.column}
                onChange={(next) => set({ kind: 'column', column: next })}
              />
            )}
          </Group>
          {!entry && looked && !found && (
            <Text size="xs" c="dimmed">
              {say.byNameNone}
            </Text>
          )}
          {column && (
            <Text size="xs" c="dimmed" truncate>
              {entry ? say.sample(sampleOf(samples, column)) : say.byNameFound(column, sampleOf(samples, column))}
            </Text>
          )}
        </Stack>
      </SimpleGrid>
    </Paper>
  )
}

/** The ways to fill a field, in one list: by its name, by a column, by one value, or not at all. */
function Choice({
  name,
  entry,
  found,
  looked,
  columns,
  error,
  onPick,
}: {
  name: string
  entry: MappingChoice | undefined
  found: string | undefined
  looked: boolean
  columns: readonly string[] | undefined
  error: string | undefined
  onPick: (entry: MappingChoice | undefined) => void
}) {
  const column = entry?.kind === 'column' ? entry.column : ''
  const value = entry?.kind === 'column' ? (columns ? `column:${column}` : 'column') : (entry?.kind ?? 'name')
  const unfilled = entry ? entry.kind === 'empty' : looked && !found
  const ways = [
    { value: 'name', label: say.byName },
    { value: 'value', label: say.oneValue },
    { value: 'empty', label: say.leaveEmpty },
    ...(columns ? [] : [{ value: 'column', label: say.aColumn }]),
  ]
  const named = withColumn(columns ?? [], columns ? column : '').map(({ value, label }) => ({
    value: `column:${value}`,
    label,
  }))
  const pick = (next: string) => {
    if (next === 'name') onPick(undefined)
    else if (next === 'empty') onPick({ kind: 'empty' })
    else if (next === 'value') onPick({ kind: 'value', value: entry?.kind === 'value' ? entry.value : '' })
    else onPick({ kind: 'column', column: next.slice('column:'.length) })
  }
  return (
    <Select
      aria-label={say.filledBy(name)}
      data={[
        { group: say.ways, items: ways },
        ...(named.length > 0 ? [{ group: say.columnsOfSource, items: named }] : []),
      ]}
      value={value}
      error={error}
      searchable={named.length > 8}
      allowDeselect={false}
      nothingFoundMessage={say.noColumn}
      onChange={(next) => next && pick(next)}
      style={{ flex: '1 1 0' }}
      {...(unfilled ? { styles: { input: { color: 'var(--mantine-color-dimmed)' } } } : {})}
    />
  )
}

function FixedValue({
  name,
  value,
  values,
  onChange,
}: {
  name: string
  value: string
  values: readonly string[] | undefined
  onChange: (entry: MappingChoice) => void
}) {
  const label = say.valueOf(name)
  const set = (next: string) => onChange({ kind: 'value', value: next })
  if (values) {
    return (
      <Select
        aria-label={label}
        placeholder={say.pickValue}
        data={[...values]}
        value={value || null}
        allowDeselect={false}
        onChange={(next) => next && set(next)}
        style={{ flex: '1 1 0' }}
      />
    )
  }
  return (
    <TextInput
      aria-label={label}
      placeholder={say.value}
      value={value}
      onChange={({ currentTarget }) => set(currentTarget.value)}
      style={{ flex: '1 1 0' }}
    />
  )
}
