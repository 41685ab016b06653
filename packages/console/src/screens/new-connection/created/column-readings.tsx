import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { count } from '../../../components/numbers.ts'
import { Section } from '../../../components/section.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { readings as words } from '../../../strings/readings.ts'
import type { Lines } from '../mapping/mapping.ts'
import classes from './column-readings.module.css'
import { type ColumnReadings, choiceIn, type ReadingChoice, type Readings } from './readings.ts'

/** How the texts of columns are read: as proposed, or as a person chooses. Columns with a question come first. */
export function ReadColumns({
  readings,
  lines,
  onChoose,
}: {
  readings: Readings
  lines: Lines
  /** @param choice undefined: as texts */
  onChoose: (column: string, choice: ReadingChoice | undefined) => void
}) {
  if (readings.length === 0) return null
  const isOpen = (one: ColumnReadings) => one.reason !== 'shown'
  const rows = [...readings.filter(isOpen), ...readings.filter((one) => !isOpen(one))]
  return (
    <Section title={words.title} help={words.help} region>
      <Stack component="ul" gap={0} p={0} m={0} aria-label={words.list} className={classes.rows}>
        {rows.map((one) => {
          const { column, choices, reason, records } = one
          return (
            <Group key={column} component="li" gap="xs" justify="space-between" className={classes.row}>
              <Text ff="monospace" size="sm" fw={600} className={classes.name}>
                {column}
              </Text>
              <Text component="div" size="sm" className={classes.evidence}>
                <Evidence of={one} choice={choiceIn(lines, one)} />
              </Text>
              <NativeSelect
                size="xs"
                aria-label={words.readColumnAs(column)}
                value={String(indexIn(lines, one))}
                data={[
                  ...choices.map((choice, at) => ({
                    value: String(at),
                    label:
                      reason === 'contradicting'
                        ? words.fitting(words.choice(choice), count(choice.fits), count(records))
                        : words.choice(choice),
                  })),
                  { value: '-1', label: words.text },
                ]}
                onChange={({ currentTarget }) => onChoose(column, choices[Number(currentTarget.value)])}
                className={classes.choice}
              />
            </Group>
          )
        })}
      </Stack>
    </Section>
  )
}

const indexIn = (lines: Lines, of: ColumnReadings): number => {
  const choice = choiceIn(lines, of)
  return choice ? of.choices.indexOf(choice) : -1
}

/** A value and what it is read as, or why somebody has to choose. */
function Evidence({ of: { reason, choices }, choice }: { of: ColumnReadings; choice: ReadingChoice | undefined }) {
  const shown = choice ?? (reason === 'shown' ? choices[0] : undefined)
  if (shown) {
    return (
      <>
        {shown.before}
        {choice ? (
          <>
            {' '}
            <span role="img" aria-label={say.becomes}>
              →
            </span>{' '}
            <b>{shown.after}</b>
          </>
        ) : null}
      </>
    )
  }
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <IconAlertTriangle size={16} color="var(--mantine-color-orange-filled)" aria-hidden style={{ flexShrink: 0 }} />
      <Text span inherit>
        {reason === 'ambiguous'
          ? words.ambiguous(choices[0]?.before ?? '')
          : words.contradicting(choices.map(({ before }) => before))}
      </Text>
    </Group>
  )
}
