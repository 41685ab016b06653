import { NativeSelect, Text } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { DataTable } from '../../../components/resource-table.tsx'
import { Section } from '../../../components/section.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { foundIn } from '../../../strings/readings.ts'
import { sampleOf } from '../mapper/shared.ts'
import type { Lines } from '../mapping/mapping.ts'
import { sampledIn } from './readings.ts'
import type { ChosenTypes } from './types.ts'

/** The columns of the table that the first transfer creates, each with its type in the source and in the table, before it is created. */
export function CreatedColumns({
  preview,
  samples,
  lines,
  types,
  chosen,
  onChange,
}: {
  preview: Preview
  /** The records under the columns of the source. */
  samples: Preview | undefined
  lines: Lines
  /** The types that can be chosen. */
  types: readonly string[]
  chosen: ChosenTypes
  onChange: (chosen: ChosenTypes) => void
}) {
  const { createdColumns = [] } = preview
  if (createdColumns.length === 0) return null
  const sampled = sampledIn(samples)
  const sourceTypeOf = (name: string) => {
    const entry = lines.find(({ field }) => field === name)?.entry
    const column = lines.length === 0 ? name : entry?.kind === 'column' ? entry.column : undefined
    return column === undefined ? undefined : samples?.sourceTypes?.[samples.columns.indexOf(column)]
  }
  return (
    <Section
      title={say.createdTitle}
      help={[say.createdHelp(createdColumns.length), ...(sampled ? [foundIn(sampled)] : [])].join(' ')}
      region
    >
      <DataTable
        label={say.createdTable}
        minWidth={0}
        maxHeight={420}
        fz="sm"
        verticalSpacing={4}
        stickyHeader
        rows={createdColumns}
        columns={[
          {
            header: say.column,
            names: true,
            wraps: true,
            cell: ({ name }) => (
              <>
                <Text span inherit ff="monospace" display="block">
                  {name}
                </Text>
                <Text span size="xs" c="dimmed" display="block" truncate maw="60ch">
                  {sampleOf(preview, name) || say.nothing}
                </Text>
              </>
            ),
          },
          {
            header: say.sourceType,
            nowrap: true,
            mono: true,
            cell: ({ name }) => sourceTypeOf(name) ?? say.nothing,
          },
          {
            header: say.tableType,
            cell: ({ name, type }) => (
              <NativeSelect
                size="xs"
                maw={220}
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
