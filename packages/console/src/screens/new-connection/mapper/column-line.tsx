import { ActionIcon, Combobox, Group, InputBase, Paper, Select, Stack, Text, TextInput } from '@mantine/core'
import { digests } from '@penstock/wire'
import { IconTrash } from '@tabler/icons-react'
import { type RefObject, useId, useRef, useState } from 'react'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { type ColumnChoice, type ExpressionChoice, expressionOf, type Line, type Lines } from '../mapping/mapping.ts'
import { mappingPath, useChecks } from './expression/checks.ts'
import { ExpressionEditor } from './expression/expression-editor.tsx'
import { Forms } from './forms.tsx'
import { type Sources, sampleOf } from './shared.ts'

export type LineEditor = Sources & {
  readonly lines: Lines
  readonly onChange: (lines: Lines) => void
  /** Removes a line. */
  readonly onRemove: (index: number) => void
  /** Errors of the service, by the names of the fields. */
  readonly fieldErrors: Readonly<Record<string, string>>
  /** Invalid input, by the number of the line. */
  readonly wrong: ReadonlyMap<number, { field?: string; column?: string }>
}

/** One column as it is sent: its name, what fills it, and what happens to its values on their way. */
export function ColumnLine({ editor, line, index }: { editor: LineEditor; line: Line; index: number }) {
  const { lines, columns, samples, fieldErrors, wrong, onChange, onRemove } = editor
  const { problemOf } = useChecks()
  const panelId = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [showsForms, setShowsForms] = useState(false)
  const { field, entry } = line
  const name = field || say.columnNumber(index + 1)
  const set = (next: Line) => onChange(lines.map((one, at) => (at === index ? next : one)))
  const fieldError = wrong.get(index)
  const path = `${mappingPath}.${field.trim()}`
  const problem = entry.kind === 'expression' ? problemOf(path, entry.expression) : undefined
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
              error={fieldError?.field ?? (problem ? undefined : fieldErrors[field])}
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
                  forms={{ id: panelId, button, isOpen: showsForms, onToggle: () => setShowsForms(!showsForms) }}
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
            onClick={() => onRemove(index)}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
        {entry.kind === 'expression' && (
          <ExpressionEditor
            label={say.expression}
            name={say.expressionFor(name)}
            path={path}
            text={entry.expression}
            error={fieldError?.column}
            onChange={(expression) => set({ field, entry: { ...entry, expression } })}
          />
        )}
        {showsForms && (entry.kind === 'column' || entry.kind === 'expression') && (
          <Forms
            id={panelId}
            name={name}
            entry={entry}
            onPick={(form) => {
              setShowsForms(false)
              button.current?.focus()
              const { normalise, ...rest } = entry
              set({ field, entry: form ? { ...rest, normalise: form } : rest })
            }}
            onClose={() => {
              setShowsForms(false)
              button.current?.focus()
            }}
          />
        )}
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
  forms,
}: {
  editor: LineEditor
  line: Line
  entry: ColumnChoice | ExpressionChoice
  name: string
  set: (line: Line) => void
  fieldError: string | undefined
  /** The list of forms, which is below the line while it is open. */
  forms: { id: string; button: RefObject<HTMLButtonElement | null>; isOpen: boolean; onToggle: () => void }
}) {
  const { normalise, hash, ...rest } = entry
  return (
    <>
      {entry.kind === 'column' && (
        <div style={{ flex: '1 1 9rem' }}>
          <ColumnPicker
            column={entry.column}
            columns={columns}
            error={fieldError}
            onChange={(column) => set({ field, entry: { ...entry, column } })}
          />
        </div>
      )}
      <InputBase
        component="button"
        type="button"
        pointer
        role="combobox"
        ref={forms.button}
        label={say.normalise}
        aria-label={say.normaliseOf(name)}
        aria-haspopup="listbox"
        aria-expanded={forms.isOpen}
        aria-controls={forms.isOpen ? forms.id : undefined}
        rightSectionPointerEvents="none"
        rightSection={<Combobox.Chevron />}
        onClick={forms.onToggle}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' || forms.isOpen) return
          event.preventDefault()
          forms.onToggle()
        }}
        style={{ flex: '1 1 9rem', minWidth: 0 }}
      >
        <Text span inherit truncate display="block" {...(normalise ? {} : { c: 'dimmed' })}>
          {normalise ? say.normalisation[normalise] : say.asItIs}
        </Text>
      </InputBase>
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
