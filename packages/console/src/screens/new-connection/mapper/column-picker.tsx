import { Select, TextInput } from '@mantine/core'
import { newConnection as say } from '../../../strings/new-connection.ts'

/** Picks a column of the source; where its columns are not known, their names are typed. */
export function ColumnPicker({
  label,
  column,
  columns,
  error,
  onChange,
  hidden = true,
}: {
  label: string
  column: string
  columns: readonly string[] | undefined
  error?: string | undefined
  onChange: (column: string) => void
  /** The label is for the ear alone. */
  hidden?: boolean
}) {
  const named = hidden ? { 'aria-label': label } : { label }
  if (!columns) {
    return (
      <TextInput
        {...named}
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
      {...named}
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

/** The columns, each once, and with them one that a mapping names though the source has it no more. */
const withColumn = (columns: readonly string[], column: string) => [
  ...[...new Set(columns)].filter((name) => name !== '').map((name) => ({ value: name, label: name })),
  ...(column === '' || columns.includes(column) ? [] : [{ value: column, label: say.notInSource(column) }]),
]
