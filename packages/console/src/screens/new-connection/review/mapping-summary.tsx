import { Button, Stack, Text } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { IconPencil } from '@tabler/icons-react'
import { DataTable } from '../../../components/resource-table.tsx'
import { Section } from '../../../components/section.tsx'
import { mapper } from '../../../strings/mapper.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { isFilled } from '../mapping/mapped-fields.ts'
import { type Line, type MappingChoice, readMapping } from '../mapping/mapping.ts'
import { wordsOfReading } from '../mapping/words.ts'

/** The saved mapping, one line for each field. */
export function MappingSummary({
  text,
  records,
  onEdit,
}: {
  text: string
  records: readonly RecordDefinition[]
  onEdit: () => void
}) {
  const all = readMapping(text) ?? []
  const filled = all.filter(({ entry }) => isFilled(entry))
  const empty = all.length - filled.length
  const same = filled.filter(isSame)
  const lines = same.length > 1 ? filled.filter((line) => !isSame(line)) : filled
  const isWhole = records.every(({ name }) => all.some(({ field }) => field === name))
  const edit = (
    <Button
      size="compact-sm"
      variant="subtle"
      aria-label={say.editOf(say.mapping)}
      leftSection={<IconPencil size={14} aria-hidden />}
      onClick={onEdit}
    >
      {say.edit}
    </Button>
  )
  return (
    <Section title={say.mapping} action={edit} region>
      {filled.length === 0 ? (
        <Text size="sm" c="dimmed">
          {records.length > 0 ? say.mappedByName : say.mappedAsIs}
        </Text>
      ) : (
        <Stack gap="xs">
          {same.length > 1 && <SameNames names={same.map(({ field }) => field)} />}
          {lines.length > 0 && (
            <DataTable
              fz="sm"
              withRowBorders={false}
              verticalSpacing={4}
              horizontalSpacing={0}
              layout="fixed"
              rows={lines}
              columns={[
                {
                  header: say.field,
                  names: true,
                  w: '40%',
                  wraps: true,
                  cell: ({ field }) => <FieldName name={field} records={records} />,
                },
                { header: say.filledByWhat, wraps: true, cell: ({ entry }) => wordsOf(entry) },
              ]}
            />
          )}
          {empty > 0 && (
            <Text size="sm" c="dimmed">
              {say.stayEmpty(empty)}
            </Text>
          )}
          {records.length > 0 && !isWhole && (
            <Text size="sm" c="dimmed">
              {say.restByName}
            </Text>
          )}
        </Stack>
      )}
    </Section>
  )
}

/** Whether a column is sent under its own name, as it is. */
const isSame = ({ field, entry }: Line): boolean =>
  entry.kind === 'column' && entry.column === field && Object.keys(entry).length === 2

/** Columns that are sent under their own names: one line, and all names on request. */
function SameNames({ names }: { names: readonly string[] }) {
  return (
    <details>
      <summary style={{ cursor: 'pointer', fontSize: 'var(--mantine-font-size-sm)' }}>
        {say.sameNames(names.length)}
      </summary>
      <Text size="sm" c="dimmed" ff="monospace" mt={4} style={{ overflowWrap: 'anywhere' }}>
        {names.join(', ')}
      </Text>
    </details>
  )
}

/** The label of a field of the destination, and its own name. */
function FieldName({ name, records }: { name: string; records: readonly RecordDefinition[] }) {
  const own = (
    <Text span inherit ff="monospace">
      {name}
    </Text>
  )
  if (records.length === 0) return own
  return (
    <>
      {mapper.labelOf(name)}{' '}
      <Text span inherit c="dimmed">
        {own}
      </Text>
    </>
  )
}

function wordsOf(entry: MappingChoice): string {
  switch (entry.kind) {
    case 'empty':
      return say.leftEmpty
    case 'value':
      return say.always(entry.value)
    case 'column':
    case 'expression':
      return [
        entry.kind === 'column' ? entry.column : entry.expression,
        ...(entry.normalise ? [say.normalisation[entry.normalise]] : []),
        ...(entry.hash ? [say.hashedAs(say.digest[entry.hash])] : []),
        ...wordsOfReading(entry),
      ].join(' · ')
  }
}
