import { Card, Group, Text, Title, UnstyledButton } from '@mantine/core'
import { fileOfPlace } from '@penstock/wire'
import { IconCheck, IconLock } from '@tabler/icons-react'
import { count } from '../../../components/numbers.ts'
import { rejects as say } from '../../../strings/rejects.ts'
import type { ReasonGroup } from './groups.ts'
import classes from './rejects.module.css'

const samplesMax = 3
const sampleRowsMax = 4
const sampleLength = 40

/** Why rows were rejected, and how many for each reason; choosing one shows its rows. */
export function Reasons({
  groups,
  chosen,
  onChoose,
}: {
  groups: readonly ReasonGroup[]
  /** The key of the chosen reason; undefined: all. */
  chosen: string | undefined
  onChoose: (key: string | undefined) => void
}) {
  return (
    <Card withBorder padding={0} component="section" aria-label={say.why}>
      <Group justify="space-between" px="md" py="sm">
        <Title order={3} size="h5">
          {say.why}
        </Title>
        <Text size="sm" c="dimmed">
          {say.reasons(groups.length)}
        </Text>
      </Group>
      {groups.map((group) => (
        <UnstyledButton
          key={group.key}
          className={classes.reason}
          aria-pressed={group.key === chosen}
          onClick={() => onChoose(group.key)}
        >
          <Text
            fw={650}
            fz="lg"
            lh={1.2}
            className="figures"
            c={isDone(group) ? 'dimmed' : 'var(--mantine-color-error)'}
          >
            {count(group.count)}
          </Text>
          <span style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
            <Text span display="block" size="sm" fw={600}>
              {titleOf(group)}
            </Text>
            <Text span display="block" size="sm" c="dimmed">
              {aboutOf(group)}
            </Text>
            <Text span display="block" size="xs" ff="monospace" c="dimmed">
              {samplesOf(group)}
            </Text>
          </span>
          {isDone(group) ? (
            <IconCheck size={18} color="var(--mantine-color-teal-filled)" aria-label={say.allAccepted} />
          ) : (
            isLocked(group) && <IconLock size={18} aria-label={say.locked} />
          )}
        </UnstyledButton>
      ))}
      {groups.length > 1 && (
        <UnstyledButton
          className={classes.reason}
          aria-pressed={chosen === undefined}
          onClick={() => onChoose(undefined)}
        >
          <span />
          <Text span size="sm" fw={600}>
            {say.every}
          </Text>
        </UnstyledButton>
      )}
    </Card>
  )
}

/** The reason in a few words. */
export function titleOf({ fault: { kind, words }, shape }: Pick<ReasonGroup, 'fault' | 'shape'>): string {
  if (shape) return shape.has < shape.needs ? say.tooShort : say.tooLong
  if (kind !== undefined && kind !== 'otherType') return say.faults[kind]
  // Of `is not a valid UUID`, the subject is omitted.
  const text = words.replace(/^is (?=not |no |neither )/, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** The column of the reason, or its number of values. */
export function aboutOf({ column, shape, hasOneShape }: ReasonGroup): string {
  if (shape) return hasOneShape ? say.shape(shape.has, shape.needs) : say.header(shape.needs)
  return column === undefined ? '' : say.inColumn(column)
}

const isDone = ({ rejects }: ReasonGroup): boolean => rejects.every(({ state }) => state === 'accepted')
const isLocked = ({ rejects }: ReasonGroup): boolean => rejects.some(({ state }) => state === 'needs_correction')

/** Values that are wrong, with their numbers; or the numbers of the rows, in their file if all are of one. */
function samplesOf({ values, rejects }: ReasonGroup): string {
  if (values.length > 0) return valuesInWords(values.slice(0, samplesMax))
  const places = rejects.flatMap(({ place }) => (place === null ? [] : [place]))
  const isOfOneFile = places.length > 0 && new Set(places.map(fileOfPlace)).size === 1
  const rows = isOfOneFile
    ? places.map(({ number }) => String(number))
    : rejects.flatMap(({ row }) => (row === null ? [] : [String(row)]))
  if (rows.length === 0) return ''
  const unit = isOfOneFile ? (places[0]?.unit ?? 'row') : 'row'
  const more = rows.length > sampleRowsMax ? ', …' : ''
  return say.sampleRows(unit, rows.length, `${rows.slice(0, sampleRowsMax).join(', ')}${more}`)
}

/** Values with their numbers: `k.A. ×5, –`. */
export const valuesInWords = (values: ReasonGroup['values']): string =>
  values.map(([value, n]) => (n > 1 ? say.times(short(value), count(n)) : short(value))).join(', ')

const short = (value: string | null): string =>
  value === null || value === ''
    ? say.empty
    : value.length > sampleLength
      ? `${value.slice(0, sampleLength).toWellFormed()}…`
      : value
