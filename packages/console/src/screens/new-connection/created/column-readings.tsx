import { Group, NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { count } from '../../../components/numbers.ts'
import { Section } from '../../../components/section.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { type Sampled, readings as words } from '../../../strings/readings.ts'
import classes from './column-readings.module.css'
import type { ColumnReadings, ReadingChoice, Readings } from './readings.ts'

type Choice = ReadingChoice | 'text'
type ChoiceOf = (readings: ColumnReadings) => Choice | undefined
type OnChoose = (column: string, choice: Choice) => void

/** How the texts of columns are read: as proposed, or as a person chooses. Columns with a question come first. */
export function ReadColumns({
  readings,
  sampled,
  creates,
  choiceOf,
  onChoose,
}: {
  readings: Readings
  sampled: Sampled
  /** Whether the table is created, with the types that follow. */
  creates: boolean
  choiceOf: ChoiceOf
  onChoose: OnChoose
}) {
  if (readings.length === 0) return null
  return (
    <Section title={words.title} help={words.help(sampled)} region>
      <Stack component="ul" gap={0} p={0} m={0} aria-label={words.list} className={classes.rows}>
        {readings.filter(isQuestion).map((one) => (
          <li key={one.column} className={classes.row} data-open={choiceOf(one) === undefined}>
            <Question of={one} creates={creates} choice={choiceOf(one)} onChoose={onChoose} />
          </li>
        ))}
        {readings
          .filter((one) => !isQuestion(one))
          .map((one) => (
            <li key={one.column} className={classes.row}>
              <Read of={one} choice={choiceOf(one)} onChoose={onChoose} />
            </li>
          ))}
      </Stack>
    </Section>
  )
}

/** Whether a person has to say how a column is read. */
export const isQuestion = ({ reason }: ColumnReadings): boolean => reason !== 'shown'

/** A column that can be read in one way. */
function Read({
  of: { column, choices },
  choice,
  onChoose,
}: {
  of: ColumnReadings
  choice: Choice | undefined
  onChoose: OnChoose
}) {
  const [first] = choices
  const isRead = choice !== undefined && choice !== 'text'
  return (
    <Group gap="xs" justify="space-between">
      <Text ff="monospace" size="sm" fw={600} className={classes.name}>
        {column}
      </Text>
      <Text component="div" size="sm" className={classes.evidence}>
        <span className={classes.value}>{first?.before}</span>
        {isRead && (
          <>
            {' '}
            <span role="img" aria-label={say.becomes}>
              →
            </span>{' '}
            <b className={classes.value}>{first?.after}</b>
          </>
        )}
      </Text>
      <NativeSelect
        size="xs"
        aria-label={words.readColumnAs(column)}
        value={isRead ? '0' : '-1'}
        data={[
          ...choices.map((one, at) => ({ value: String(at), label: words.choice(one) })),
          { value: '-1', label: words.text },
        ]}
        onChange={({ currentTarget }) => onChoose(column, choices[Number(currentTarget.value)] ?? 'text')}
        className={classes.choice}
      />
    </Group>
  )
}

/** A column that most values fit, or that can be read in several ways: it stays text until a person chooses. */
function Question({
  of,
  creates,
  choice,
  onChoose,
}: {
  of: ColumnReadings
  creates: boolean
  choice: Choice | undefined
  onChoose: OnChoose
}) {
  const { column, choices, records } = of
  const isOpen = choice === undefined
  const Icon = isOpen ? IconAlertTriangle : IconCheck
  return (
    <Radio.Group
      label={
        <Group gap={8} wrap="nowrap" align="flex-start">
          <Icon
            size={16}
            color={`var(--mantine-color-${isOpen ? 'orange' : 'teal'}-filled)`}
            aria-hidden
            className={classes.icon}
          />
          <span className={classes.evidence}>
            <Text span inherit ff="monospace" fw={600}>
              {column}
            </Text>
            {`: ${evidenceOf(of)}`}
          </span>
        </Group>
      }
      labelProps={{ fw: 400, mb: 6 }}
      value={isOpen ? '' : choice === 'text' ? 'text' : String(choices.indexOf(choice))}
      onChange={(value) => onChoose(column, choices[Number(value)] ?? 'text')}
    >
      <Group gap="xs" pl={24}>
        {choices.map((one, at) => (
          <Radio
            key={words.choice(one)}
            size="sm"
            mr="md"
            value={String(at)}
            label={words.offer(one, { creates, rejected: records - one.fits, counted: count(records) })}
          />
        ))}
        <Radio size="sm" value="text" label={words.keepText} />
      </Group>
    </Radio.Group>
  )
}

function evidenceOf({ reason, choices, records, others }: ColumnReadings): string {
  const [first] = choices
  const rest = others.length > 0 ? ` ${words.others(others)}` : ''
  if (reason === 'mostly' && first) {
    return words.mostly(first, count(first.fits), count(records)) + rest
  }
  if (reason === 'ambiguous') return words.ambiguous(first?.before ?? '') + rest
  return words.contradicting(choices.map(({ before }) => before)) + rest
}
