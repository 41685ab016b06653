import { ActionIcon, Button, Group, Paper, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { digests, normalisations } from '@penstock/wire'
import { IconPlus, IconSearch, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { count } from '../../../components/numbers.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { type ColumnChoice, type ExpressionChoice, expressionOf, type Line, type Lines } from '../mapping/mapping.ts'
import { ExpressionInput } from './expression-input.tsx'
import { type Sources, sampleOf } from './shared.ts'

type Editor = Sources & {
  readonly lines: Lines
  readonly onChange: (lines: Lines) => void
  /** Errors of the service, by the names of the fields. */
  readonly fieldErrors: Readonly<Record<string, string>>
  /** Invalid input, by the number of the line. */
  readonly wrong: ReadonlyMap<number, { field?: string; column?: string }>
}

/** For a destination that takes any columns: all columns of the source unchanged, or the named ones. */
export function MapColumns(editor: Editor) {
  const { lines, columns, wrong, onChange } = editor
  const [text, setText] = useState('')
  const picks = lines.length > 0
  const searched = text.trim().toLowerCase()
  const isFound = ({ field, entry }: Line, index: number) =>
    // Lines that are invalid or new are never out of sight.
    wrong.has(index) || `${field}\n${entry.kind === 'column' ? entry.column : ''}`.toLowerCase().includes(searched)
  const found = lines.flatMap((line, index) => (isFound(line, index) ? [{ line, index }] : []))
  const shown = found.filter(({ index }, at) => at < shownMax || wrong.has(index))
  const all = (): Lines =>
    columns && columns.length > 0
      ? [...new Set(columns)].map((column) => ({ field: column, entry: { kind: 'column', column } }))
      : [newLine]
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label={say.whichColumns}
        value={picks ? 'picked' : 'all'}
        onChange={(next) => onChange(next === 'all' ? [] : all())}
        data={[
          { value: 'all', label: say.allColumns },
          { value: 'picked', label: say.pickedColumns },
        ]}
        style={{ alignSelf: 'flex-start' }}
      />
      {!picks && columns && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {say.columnsAre(columns.join(', '))}
        </Text>
      )}
      {lines.length > searchedFrom && (
        <TextInput
          aria-label={say.searchColumns}
          placeholder={say.searchColumns}
          leftSectionPointerEvents="none"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          maw={360}
        />
      )}
      {picks && (
        <Stack gap="xs" component="ul" p={0} m={0}>
          {shown.map(({ line, index }) => (
            <ColumnLine key={index} editor={editor} line={line} index={index} />
          ))}
        </Stack>
      )}
      {found.length > shown.length && (
        <Text size="sm" c="dimmed" role="status">
          {say.moreColumns(count(found.length - shown.length))}
        </Text>
      )}
      {picks && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => onChange([...lines, newLine])}
          >
            {say.addColumn}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/** More columns are found by searching, so that typing stays quick. */
const shownMax = 30
const searchedFrom = 8

const newLine: Line = { field: '', entry: { kind: 'column', column: '' } }

function ColumnLine({ editor, line, index }: { editor: Editor; line: Line; index: number }) {
  const { lines, columns, samples, fieldErrors, wrong, onChange } = editor
  const { field, entry } = line
  const name = field || say.columnNumber(index + 1)
  const set = (next: Line) => onChange(lines.map((one, at) => (at === index ? next : one)))
  const fieldError = wrong.get(index)
  const sample = entry.kind === 'column' ? sampleOf(samples, entry.column) : ''
  return (
    <Paper withBorder component="li" p="sm" style={{ listStyle: 'none' }}>
      <Stack gap={6}>
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <Group gap="xs" align="flex-start" style={{ flex: 1 }}>
            <TextInput
              label={say.sentAs}
              aria-label={say.nameOfColumn(index + 1)}
              value={field}
              error={fieldError?.field ?? fieldErrors[field]}
              autoComplete="off"
              spellCheck={false}
              onChange={({ currentTarget }) => set({ ...line, field: currentTarget.value })}
              style={{ flex: '1 1 9rem' }}
            />
            <Select
              label={say.from}
              aria-label={say.filledBy(name)}
              data={[
                { value: 'column', label: say.aColumn },
                { value: 'value', label: say.oneValue },
                { value: 'expression', label: say.anExpression },
              ]}
              value={entry.kind === 'empty' ? 'column' : entry.kind}
              allowDeselect={false}
              onChange={(next) =>
                set({
                  field,
                  entry:
                    next === 'expression'
                      ? expressionOf(entry)
                      : next === 'value'
                        ? { kind: 'value', value: '' }
                        : { kind: 'column', column: '' },
                })
              }
              style={{ flex: '1 1 8rem' }}
            />
            {entry.kind === 'value' ? (
              <TextInput
                label={say.value}
                aria-label={say.valueOf(name)}
                value={entry.value}
                onChange={({ currentTarget }) => set({ field, entry: { kind: 'value', value: currentTarget.value } })}
                style={{ flex: '1 1 9rem' }}
              />
            ) : (
              entry.kind !== 'empty' && (
                <ColumnWays
                  editor={editor}
                  line={line}
                  entry={entry}
                  name={name}
                  set={set}
                  fieldError={fieldError?.column}
                />
              )
            )}
          </Group>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            mt={25}
            aria-label={say.removeColumn(name)}
            onClick={() => onChange(lines.filter((_, at) => at !== index))}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
        {columns && sample && (
          <Text size="xs" c="dimmed" truncate>
            {say.sample(sample)}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

/** Which column, and what happens to its values on their way. */
function ColumnWays({
  editor: { columns },
  line: { field },
  entry,
  name,
  set,
  fieldError,
}: {
  editor: Editor
  line: Line
  entry: ColumnChoice | ExpressionChoice
  name: string
  set: (line: Line) => void
  fieldError: string | undefined
}) {
  const { normalise, hash, ...rest } = entry
  return (
    <>
      <div style={{ flex: '1 1 9rem' }}>
        {entry.kind === 'column' ? (
          <ColumnPicker
            column={entry.column}
            columns={columns}
            error={fieldError}
            onChange={(column) => set({ field, entry: { ...entry, column } })}
          />
        ) : (
          <ExpressionInput
            label={say.expression}
            name={say.expressionFor(name)}
            text={entry.expression}
            error={fieldError}
            onChange={(expression) => set({ field, entry: { ...entry, expression } })}
          />
        )}
      </div>
      <Select
        label={say.normalise}
        aria-label={say.normaliseOf(name)}
        data={normalisations.map((form) => ({ value: form, label: say.normalisation[form] }))}
        placeholder={say.asItIs}
        value={normalise ?? null}
        clearable
        clearButtonProps={{ 'aria-label': say.clear(say.normaliseOf(name)) }}
        onChange={(next) => {
          const form = normalisations.find((one) => one === next)
          set({ field, entry: { ...rest, ...(form ? { normalise: form } : {}), ...(hash ? { hash } : {}) } })
        }}
        style={{ flex: '1 1 9rem' }}
      />
      <Select
        label={say.hash}
        aria-label={say.hashOf(name)}
        data={digests.map((digest) => ({ value: digest, label: say.digest[digest] }))}
        placeholder={say.notHashed}
        value={hash ?? null}
        clearable
        clearButtonProps={{ 'aria-label': say.clear(say.hashOf(name)) }}
        onChange={(next) => {
          const digest = digests.find((one) => one === next)
          set({ field, entry: { ...rest, ...(normalise ? { normalise } : {}), ...(digest ? { hash: digest } : {}) } })
        }}
        style={{ flex: '1 1 8rem' }}
      />
    </>
  )
}

/** Picks a column of the source. If the columns are not known, their names are typed. */
function ColumnPicker({
  column,
  columns,
  error,
  onChange,
}: {
  column: string
  columns: readonly string[] | undefined
  error: string | undefined
  onChange: (column: string) => void
}) {
  if (!columns) {
    return (
      <TextInput
        label={say.column}
        value={column}
        error={error}
        placeholder={say.columnName}
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )
  }
  return (
    <Select
      label={say.column}
      value={column || null}
      error={error}
      placeholder={say.pickColumn}
      data={withColumn(columns, column)}
      searchable={columns.length > 8}
      allowDeselect={false}
      nothingFoundMessage={say.noColumn}
      onChange={(next) => next && onChange(next)}
    />
  )
}

/** The columns, each once, and the column of the mapping, even if the source does not have it any more. */
const withColumn = (columns: readonly string[], column: string) => [
  ...[...new Set(columns)].filter((name) => name !== '').map((name) => ({ value: name, label: name })),
  ...(column === '' || columns.includes(column) ? [] : [{ value: column, label: say.notInSource(column) }]),
]
