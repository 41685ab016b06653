import { ActionIcon, Text, Title } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react'
import { memo } from 'react'
import { count } from '../../../components/numbers.ts'
import { mapper } from '../../../strings/mapper.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import type { Line } from '../mapping/mapping.ts'
import classes from './mapper.module.css'
import { sampleOf } from './shared.ts'

/** Lists of columns without inputs, so that a table of hundreds stays quick. */

/** All columns of the source, with some of their values. */
export const AllColumns = memo(function AllColumns({
  columns,
  samples,
}: {
  columns: readonly string[]
  samples: Preview | undefined
}) {
  return (
    <section aria-label={say.columnsSent(columns.length)}>
      <Text size="sm" fw={500}>
        {say.columnsSent(columns.length)}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too */}
      <ul className={classes.columns} tabIndex={0} aria-label={say.columnsSent(columns.length)}>
        {columns.map((column) => (
          <li key={column}>
            <Name column={column} sample={sampleOf(samples, column)} />
          </li>
        ))}
      </ul>
    </section>
  )
})

/** Lines that are sent, each in one row until it is opened. */
export const SameColumns = memo(function SameColumns({
  lines,
  samples,
  onOpen,
  onRemove,
}: {
  lines: readonly { line: Line; index: number }[]
  samples: Preview | undefined
  onOpen: (index: number) => void
  onRemove: (index: number) => void
}) {
  return (
    <ul className={classes.columns} aria-label={say.moreLines(count(lines.length))}>
      {lines.map(({ line: { field, entry }, index }) => (
        <li key={`${index} ${field}`}>
          <Name
            column={field}
            sample={
              entry.kind === 'column'
                ? entry.column === field
                  ? sampleOf(samples, field)
                  : `← ${entry.column}`
                : entry.kind === 'expression'
                  ? entry.expression
                  : entry.kind === 'value'
                    ? entry.value
                    : ''
            }
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label={say.editOf(field)}
            onClick={() => onOpen(index)}
          >
            <IconPencil size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label={say.removeColumn(field)}
            onClick={() => onRemove(index)}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
})

/** Columns of the source that are not sent, each with a button that adds it. */
export function UnsentColumns({
  columns,
  samples,
  searched,
  onAdd,
}: {
  columns: readonly string[]
  samples: Preview | undefined
  /** In small letters. */
  searched: string
  onAdd: (column: string) => void
}) {
  const found = columns.filter((column) => column.toLowerCase().includes(searched))
  if (columns.length === 0) return null
  return (
    <section aria-label={mapper.unused}>
      <Title order={3} size="h6">
        {mapper.unused} ({count(columns.length)})
      </Title>
      <ul className={classes.columns}>
        {found.map((column) => (
          <li key={column}>
            <Name column={column} sample={sampleOf(samples, column)} />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={28}
              aria-label={say.sendColumn(column)}
              onClick={() => onAdd(column)}
            >
              <IconPlus size={16} aria-hidden />
            </ActionIcon>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Name({ column, sample }: { column: string; sample: string }) {
  return (
    <div className={classes.column}>
      <span title={column}>{column}</span>
      <span className={classes.sample}>{sample || mapper.emptyValue}</span>
    </div>
  )
}
