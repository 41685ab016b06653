import { Alert, Text, VisuallyHidden } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMemo } from 'react'
import { count } from '../../components/numbers.ts'
import { DataTable } from '../../components/resource-table.tsx'
import { buildSource as say } from '../../strings/build-source.ts'
import { cellOf, keysOf, parseAnswer, recordsAt } from './answer-json.ts'
import classes from './build-source.module.css'
import { isOdd, kindOfColumn } from './columns.ts'
import { readText } from './definition-text.ts'
import { Panel } from './panel.tsx'
import type { AskedAnswer } from './use-ask.ts'

/** The rows that a transfer would read from the answer; values of another type than their column are marked. */
export function RowsPanel({
  asked,
  text,
}: {
  asked: AskedAnswer | undefined
  /** The text of the definition as it is now. */
  text: string
}) {
  const columns = asked?.reply.columns ?? []
  const rows = asked?.reply.rows ?? []
  return (
    <Panel
      step={4}
      title={say.rows}
      note={
        rows.length > 0 && (
          <Text size="xs" c="dimmed">
            {say.rowsCount(count(rows.length), count(columns.length))}
          </Text>
        )
      }
    >
      {asked && asked.text !== text && (
        <Text size="sm" c="dimmed" role="status">
          {say.rowsStale}
        </Text>
      )}
      {asked && rows.length > 0 ? (
        <Rows asked={asked} />
      ) : (
        <Text size="sm" c="dimmed">
          {asked?.reply.answer && !asked.reply.error ? say.rowsNone : say.rowsHelp}
        </Text>
      )}
    </Panel>
  )
}

function Rows({ asked }: { asked: AskedAnswer }) {
  const { columns, rows } = asked.reply
  const { kinds, odd, odds } = useMemo(() => judge(asked), [asked])
  return (
    <>
      {odds > 0 && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} py="xs">
          {odds === 1 ? say.oneOdd : say.oddCount(count(odds))}
        </Alert>
      )}
      <DataTable
        label={say.rowsOf}
        minWidth={0}
        maxHeight={360}
        fz="xs"
        verticalSpacing={6}
        stickyHeader
        withTableBorder
        rows={rows.map((cells, at) => ({ cells, at }))}
        keyOf={({ at }) => at}
        columns={columns.map((column, index) => ({
          nowrap: true,
          header: (
            <>
              <Text span inherit ff="monospace" fw={600}>
                {column}
              </Text>
              <Text span inherit c="dimmed" fw={400} display="block">
                {say.kinds[kinds[index] ?? 'empty']}
              </Text>
            </>
          ),
          cell: ({ cells, at }) => {
            const value = cells[index]
            if (value === null || value === undefined || value === '') {
              return (
                <Text span inherit c="dimmed">
                  {say.nothing}
                </Text>
              )
            }
            if (!odd.has(`${at} ${index}`)) return value
            const why = say.odd(say.kinds[kinds[index] ?? 'empty'])
            return (
              <span className={classes.odd} title={why}>
                {value}
                <VisuallyHidden> {why}</VisuallyHidden>
              </span>
            )
          },
        }))}
      />
    </>
  )
}

/** The types of the columns, and the cells whose values have another one. The answer has the values that are shortened in the rows. */
function judge({ stream, text, reply }: AskedAnswer) {
  const answer = reply.answer?.json ? parseAnswer(reply.answer.text) : undefined
  const { value } = readText(text) as { value?: { streams?: Record<string, { records?: unknown } | null> } }
  const records = recordsAt(answer, keysOf(value?.streams?.[stream]?.records)).slice(0, reply.rows.length)
  const odd = new Set<string>()
  const kinds = reply.columns.map((column, index) => {
    const cells = records.map((record) => cellOf(record, column))
    const kind = kindOfColumn(cells)
    for (const [at, cell] of cells.entries()) if (isOdd(cell, kind)) odd.add(`${at} ${index}`)
    return kind
  })
  return { kinds, odd, odds: odd.size }
}
