import { Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react'
import { useState } from 'react'
import { count } from '../../../../components/numbers.ts'
import { expressions as say } from '../../../../strings/expressions.ts'
import type { Tried } from './checks.ts'
import classes from './expression.module.css'

/** Rows that are shown together; the service sends them in such groups. */
const groupSize = 3

/** The values of an expression for three rows, and others on request. Screen readers read them after a pause, not with each key. */
export function Results({
  tried,
  isReading,
  isWrong,
  countsMet,
}: {
  tried: Tried | undefined
  isReading: boolean
  /** The expression has an error, so that there are no values. */
  isWrong: boolean
  countsMet: boolean
}) {
  const [group, setGroup] = useState(0)
  if (isWrong || !tried) {
    return (
      <Text size="xs" c="dimmed" role="status">
        {isWrong ? say.afterFix : isReading ? say.reading : ''}
      </Text>
    )
  }
  const { columns, records, failed, met } = tried
  const groups = Math.max(1, Math.ceil(tried.rows.length / groupSize))
  const at = group % groups
  const rows = tried.rows.slice(at * groupSize, (at + 1) * groupSize)
  const summary = countsMet
    ? say.met(count(met), count(records))
    : failed > 0
      ? say.rejected(count(failed), count(records))
      : ''
  return (
    <div aria-busy={isReading}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {say.result}
        </Text>
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            {isReading ? say.reading : say.rowsOf(rows.length, count(records))}
          </Text>
          {groups > 1 && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="var(--mantine-color-text)"
              onClick={() => setGroup(at + 1)}
            >
              {say.otherRows}
            </Button>
          )}
        </Group>
      </Group>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {say.noRows}
        </Text>
      ) : (
        <ul className={classes.results}>
          {rows.map((row) => (
            <li key={row.row}>
              <span className={classes.number}>{say.row(count(row.row))}</span>
              <ResultCells values={row.inputs.map((value, at) => ({ name: columns[at] ?? '', value }))} />
              <span role="img" aria-label={say.becomes}>
                →
              </span>
              {row.problem ? (
                <span className={classes.bad}>
                  <IconCircleX size={14} aria-hidden /> {row.problem.message}
                </span>
              ) : (
                <span className={classes.value}>{row.value || say.empty}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {summary !== '' && (
        <Group gap={6} mt={6} wrap="nowrap">
          {failed > 0 && !countsMet && (
            <IconAlertTriangle size={14} color="var(--mantine-color-orange-filled)" aria-hidden />
          )}
          <Text size="sm">{summary}</Text>
        </Group>
      )}
      <VisuallyHidden role="status">
        {isReading
          ? ''
          : [
              summary,
              ...rows.map(({ row, value, problem }) =>
                say.spokenRow(count(row), problem?.message.replace(/\.$/, '') ?? (value || say.empty)),
              ),
            ].join(' ')}
      </VisuallyHidden>
    </div>
  )
}

function ResultCells({ values }: { values: readonly { name: string; value: string | null }[] }) {
  return (
    <span className={classes.value}>
      {values.map(({ name, value }, at) => (
        <span key={name} title={name}>
          {at > 0 && ' · '}
          {value || say.empty}
        </span>
      ))}
    </span>
  )
}
