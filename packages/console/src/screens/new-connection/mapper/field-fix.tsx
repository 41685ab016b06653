import { Button, Group, Text } from '@mantine/core'
import { mapper as say } from '../../../strings/mapper.ts'
import type { MappedField } from '../mapped-fields.ts'
import type { ColumnReading } from '../mapping.ts'
import classes from './mapper.module.css'
import type { OnSet } from './shared.ts'

type Fix = { readonly label: string; readonly change: ColumnReading }

/** How values can be read that cannot be read without an answer: nothing is guessed, one click is enough. */
export function FieldFix({ field: { record, entry, lint }, onSet }: { field: MappedField; onSet: OnSet }) {
  if (entry?.kind !== 'column' || !lint || lint.malformed === 0) return null
  const isPhone = record.normalise?.startsWith('phone-') ?? false
  const fixes = record.reads === 'time' ? timeFixes(entry) : record.reads === 'number' ? numberFixes(entry) : []
  if (fixes.length === 0 && !isPhone) return null
  return (
    <div className={classes.panel}>
      <Text size="sm">{isPhone ? say.phoneHelp : record.reads === 'time' ? say.timeHelp : say.numberHelp}</Text>
      {fixes.length > 0 && (
        <Group gap="xs" mt={8}>
          {fixes.map(({ label, change }) => (
            <Button key={label} size="xs" variant="default" onClick={() => onSet(record.name, { ...entry, ...change })}>
              {label}
            </Button>
          ))}
        </Group>
      )}
    </div>
  )
}

function timeFixes({ dates, timezone }: ColumnReading): Fix[] {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return [
    ...(timezone === undefined && zone ? [{ label: say.inZone(zone), change: { timezone: zone } }] : []),
    ...(dates === undefined
      ? (['DMY', 'MDY'] as const).map((form) => ({ label: say.dateForms[form], change: { dates: form } }))
      : []),
  ]
}

const numberFixes = ({ numbers }: ColumnReading): Fix[] =>
  numbers === undefined
    ? (['comma', 'point'] as const).map((form) => ({ label: say.numberForms[form], change: { numbers: form } }))
    : []
