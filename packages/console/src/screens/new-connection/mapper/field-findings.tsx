import { Group, Text, VisuallyHidden } from '@mantine/core'
import type { Preview, RecordDefinition } from '@penstock/wire'
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react'
import { count } from '../../../components/numbers.ts'
import { mapper as say } from '../../../strings/mapper.ts'
import type { MappingChoice } from '../mapping/mapping.ts'
import classes from './mapper.module.css'

type FieldLint = Preview['lint'][number]

const samplesShown = 2

/** Two values of the column and what becomes of them. */
export function FieldSamples({
  label,
  entry,
  lint,
  isReading,
}: {
  label: string
  entry: MappingChoice | undefined
  lint: FieldLint | undefined
  isReading: boolean
}) {
  if (!entry || entry.kind === 'empty') return <div className={classes.samples} />
  if (entry.kind === 'value') {
    return (
      <div className={classes.samples}>
        <Text span inherit c="dimmed">
          {say.everyRecord}
        </Text>
        <span aria-hidden>→</span>
        <span>{entry.value}</span>
      </div>
    )
  }
  if (!lint) {
    return (
      <div className={classes.samples}>
        <Text span inherit c="dimmed">
          {isReading ? say.reading : ''}
        </Text>
      </div>
    )
  }
  return (
    <div className={classes.samples}>
      <VisuallyHidden>{say.values(label)}</VisuallyHidden>
      {lint.samples.slice(0, samplesShown).map(({ before, after }) => (
        <Sample key={before} before={before} after={after} />
      ))}
    </div>
  )
}

function Sample({ before, after }: { before: string; after: string | null }) {
  return (
    <>
      <span title={before}>{before || say.emptyValue}</span>
      <span role="img" aria-label={say.becomes}>
        →
      </span>
      {after === null ? (
        <Text span inherit c="var(--mantine-color-error)">
          {say.notSent}
        </Text>
      ) : (
        <span title={after}>{after || say.emptyValue}</span>
      )}
    </>
  )
}

/** Findings in the values of a field, worst first. */
export function FieldFindings({ record, lint }: { record: RecordDefinition; lint: FieldLint | undefined }) {
  if (!lint) return <div />
  const of = count(lint.records)
  const unusable = lint.malformed + lint.wrongHashLength
  const isOfPerson = Boolean(record.normalise ?? record.hashed)
  const warnings = [
    unusable > 0 && say.rejected(count(unusable), of),
    lint.hashedTwice > 0 && say.twice(count(lint.hashedTwice)),
    lint.mixedKinds > 0 && unusable === 0 && say.mixed(count(lint.mixedKinds)),
  ].filter((text) => text !== false)
  const facts = [
    lint.missing > 0 && say.missing(count(lint.missing)),
    isOfPerson && lint.unnormalised > 0 && say.normalised(count(lint.unnormalised)),
    lint.alreadyHashed > 0 && say.hashed(count(lint.alreadyHashed)),
  ].filter((text) => text !== false)
  const isEmpty = lint.records > 0 && lint.missing === lint.records
  return (
    <div style={{ paddingTop: 7 }}>
      {warnings.map((text) => (
        <Finding
          key={text}
          icon={<IconAlertTriangle size={14} color="var(--mantine-color-orange-filled)" aria-hidden />}
        >
          {text}
        </Finding>
      ))}
      {warnings.length === 0 && !isEmpty && (
        <Finding icon={<IconCheck size={14} color="var(--mantine-color-teal-filled)" aria-hidden />}>
          {say.fits}
        </Finding>
      )}
      {(isEmpty ? [say.noValues] : facts).map((text) => (
        <Finding key={text} icon={<IconInfoCircle size={14} aria-hidden />}>
          {text}
        </Finding>
      ))}
    </div>
  )
}

function Finding({ icon, children }: { icon: React.ReactNode; children: React.ReactNode }) {
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <span style={{ lineHeight: '18px', flexShrink: 0 }}>{icon}</span>
      <Text size="xs" lh="18px">
        {children}
      </Text>
    </Group>
  )
}
