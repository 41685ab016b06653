import { NativeSelect, Text } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { DataTable } from '../../../components/resource-table.tsx'
import { Section } from '../../../components/section.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import type { ChosenTypes } from './types.ts'

/** The columns of the table that the first transfer creates, each with its type, before it is created. */
export function CreatedColumns({
  preview: { columns, rows, createdColumns = [] },
  types,
  chosen,
  onChange,
}: {
  preview: Preview
  /** The types that can be chosen. */
  types: readonly string[]
  chosen: ChosenTypes
  onChange: (chosen: ChosenTypes) => void
}) {
  if (createdColumns.length === 0) return null
  const sampleOf = (name: string) => {
    const at = columns.indexOf(name)
    return rows.map((row) => row[at]).find((value) => value)
  }
  return (
    <Section title={say.createdTitle} help={say.createdHelp(createdColumns.length)} region>
      <DataTable
        label={say.createdTable}
        minWidth={0}
        maxHeight={420}
        fz="sm"
        verticalSpacing={4}
        stickyHeader
        rows={createdColumns}
        columns={[
          { header: say.column, names: true, wraps: true, mono: true, cell: ({ name }) => name },
          {
            header: say.firstValue,
            from: 'sm',
            cell: ({ name }) => (
              <Text span inherit c="dimmed" truncate>
                {sampleOf(name) ?? say.nothing}
              </Text>
            ),
          },
          {
            header: say.type,
            w: 220,
            cell: ({ name, type }) => (
              <NativeSelect
                size="xs"
                aria-label={say.typeOf(name)}
                value={chosen[name] ?? ''}
                data={[
                  { value: '', label: chosen[name] ? say.proposedType : type },
                  ...new Set([...types, ...(chosen[name] ? [chosen[name]] : [])]),
                ]}
                onChange={({ currentTarget }) => onChange({ ...chosen, [name]: currentTarget.value })}
              />
            ),
          },
        ]}
      />
    </Section>
  )
}
