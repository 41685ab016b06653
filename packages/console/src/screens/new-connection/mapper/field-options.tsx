import { ActionIcon, Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { mapper as say } from '../../../strings/mapper.ts'
import type { ColumnChoice, ColumnReading, ExpressionChoice } from '../mapping/mapping.ts'
import classes from './mapper.module.css'

/** How the values of a column become those of a field: what an empty one is, how they are written, what single ones stand for. */
export function FieldOptions({
  id,
  record,
  label,
  entry,
  onChange,
}: {
  id: string
  record: RecordDefinition
  label: string
  entry: ColumnChoice | ExpressionChoice
  onChange: (entry: ColumnChoice | ExpressionChoice) => void
}) {
  const set = (change: { [Key in keyof ColumnReading]?: ColumnReading[Key] | undefined }) => {
    const next = Object.entries({ ...entry, ...change }).filter(([, value]) => value !== undefined)
    onChange(Object.fromEntries(next) as ColumnChoice | ExpressionChoice)
  }
  const { reads, values } = record
  const fallback = entry.default ?? ''
  return (
    <section id={id} className={classes.panel} aria-label={say.options(label)}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          {values ? (
            <Select
              label={say.default}
              description={say.defaultHelp}
              data={[...values]}
              value={fallback || null}
              clearable
              data-mapper-default
              onChange={(next) => set({ default: next ?? undefined })}
            />
          ) : (
            <TextInput
              label={say.default}
              description={say.defaultHelp}
              value={fallback}
              autoComplete="off"
              data-mapper-default
              onChange={({ currentTarget }) => set({ default: currentTarget.value || undefined })}
            />
          )}
          {reads === 'number' && (
            <Select
              label={say.numberForm}
              data={Object.entries(say.numberForms).map(([value, label]) => ({ value, label }))}
              placeholder={say.anyForm}
              value={entry.numbers ?? null}
              clearable
              onChange={(next) => set({ numbers: (next as ColumnReading['numbers']) ?? undefined })}
            />
          )}
          {reads === 'time' && (
            <>
              <Select
                label={say.dateForm}
                data={Object.entries(say.dateForms).map(([value, label]) => ({ value, label }))}
                placeholder={say.anyForm}
                value={entry.dates ?? null}
                clearable
                onChange={(next) => set({ dates: (next as ColumnReading['dates']) ?? undefined })}
              />
              <TextInput
                label={say.timezone}
                placeholder={say.timezonePlaceholder}
                value={entry.timezone ?? ''}
                autoComplete="off"
                onChange={({ currentTarget }) => set({ timezone: currentTarget.value || undefined })}
              />
            </>
          )}
        </SimpleGrid>
        <Answers values={values} answers={entry.values} onChange={(answers) => set({ values: answers })} />
      </Stack>
    </section>
  )
}

type Answer = { readonly from: string; readonly to: string | null }

/** Half-typed lines stay here; only whole ones are part of the mapping. */
function Answers({
  values,
  answers,
  onChange,
}: {
  values: readonly string[] | undefined
  answers: ColumnReading['values']
  onChange: (answers: Readonly<Record<string, string | null>> | undefined) => void
}) {
  const [lines, setLines] = useState<readonly Answer[]>(() =>
    Object.entries(answers ?? {}).map(([from, to]) => ({ from, to })),
  )
  const change = (next: readonly Answer[]) => {
    setLines(next)
    const whole = next.filter(({ from, to }) => from.trim() !== '' && to !== '')
    onChange(whole.length === 0 ? undefined : Object.fromEntries(whole.map(({ from, to }) => [from.trim(), to])))
  }
  const set = (at: number, line: Answer) => change(lines.map((one, index) => (index === at ? line : one)))
  return (
    <div>
      <Text size="sm" fw={500}>
        {say.answersTitle}
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        {say.answersHelp}
      </Text>
      <Stack gap={6}>
        {lines.map(({ from, to }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: both texts are typed, so the place is all that stays
          <Group key={at} gap="xs" wrap="nowrap" align="flex-end">
            <TextInput
              aria-label={say.from}
              placeholder={say.from}
              value={from}
              onChange={({ currentTarget }) => set(at, { from: currentTarget.value, to })}
              style={{ flex: 1 }}
            />
            {values ? (
              <Select
                aria-label={say.to}
                placeholder={say.to}
                data={[...values, { value: '', label: say.nothing }]}
                value={to ?? ''}
                allowDeselect={false}
                onChange={(next) => set(at, { from, to: next || null })}
                style={{ flex: 1 }}
              />
            ) : (
              <TextInput
                aria-label={say.to}
                placeholder={to === null ? say.nothing : say.to}
                value={to ?? ''}
                onChange={({ currentTarget }) => set(at, { from, to: currentTarget.value || null })}
                style={{ flex: 1 }}
              />
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={say.removeAnswer(from)}
              onClick={() => change(lines.filter((_, index) => index !== at))}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            ml={-8}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => change([...lines, { from: '', to: values ? (values[0] ?? null) : null }])}
          >
            {say.addAnswer}
          </Button>
        </Group>
      </Stack>
    </div>
  )
}
