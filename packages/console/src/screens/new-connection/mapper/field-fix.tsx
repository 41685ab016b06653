import { Button, Group, Stack, Text } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { mapper as say } from '../../../strings/mapper.ts'
import type { MappedField } from '../mapping/mapped-fields.ts'
import type { ColumnReading } from '../mapping/mapping.ts'
import classes from './mapper.module.css'
import type { OnSet } from './shared.ts'

type Fix = { readonly label: string; readonly change: ColumnReading }
type FormFinding = NonNullable<Preview['lint'][number]['forms']>[number]

/** Findings about how the values are written, and ways to read them: nothing is guessed, one click is enough. */
export function FieldFix({ field: { record, entry, lint }, onSet }: { field: MappedField; onSet: OnSet }) {
  if (entry?.kind !== 'column' || !lint) return null
  const isPhone = record.normalise?.startsWith('phone-') ?? false
  const forms = (lint.forms ?? []).filter(({ setting }) => entry[setting] === undefined)
  if (forms.length === 0 && (lint.malformed === 0 || !isPhone)) return null
  const set = (change: ColumnReading) => onSet(record.name, { ...entry, ...change })
  return (
    <Stack gap="xs" className={classes.panel}>
      {isPhone && <Text size="sm">{say.phoneHelp}</Text>}
      {forms.map((form) => (
        <FormQuestion key={form.setting} form={form} onSet={set} />
      ))}
    </Stack>
  )
}

function FormQuestion({ form, onSet }: { form: FormFinding; onSet: (change: ColumnReading) => void }) {
  const fixes = fixesOf(form)
  return (
    <div>
      <Text size="sm">{textOf(form)}</Text>
      {fixes.length > 0 && (
        <Group gap="xs" mt={8}>
          {fixes.map(({ label, change }) => (
            <Button key={label} size="xs" variant="default" onClick={() => onSet(change)}>
              {label}
            </Button>
          ))}
        </Group>
      )}
    </div>
  )
}

function textOf({ setting, proposed, reason, example }: FormFinding): string {
  if (reason === 'default') return say.zoneOfConnection(proposed ?? '', example)
  if (reason === 'shown') return setting === 'numbers' ? say.numbersShown : say.datesShown
  if (reason === 'contradicting') return setting === 'numbers' ? say.numbersContradict : say.datesContradict
  if (setting === 'timezone') return say.zoneMissing(example)
  return setting === 'numbers' ? say.numbersAmbiguous(example) : say.datesAmbiguous(example)
}

/** The form that the values show, else each form that they leave open. */
function fixesOf({ setting, proposed, reason, example }: FormFinding): Fix[] {
  if (reason === 'default') return []
  switch (setting) {
    case 'timezone': {
      const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
      return zone ? [{ label: say.inZone(zone), change: { timezone: zone } }] : []
    }
    case 'numbers':
      return (['comma', 'point'] as const)
        .filter((form) => proposed === null || proposed === form)
        .map((form) => ({
          label: proposed === null ? say.numberForms[form] : say.takeNumbers(form, example),
          change: { numbers: form },
        }))
    case 'dates':
      return (['DMY', 'MDY'] as const)
        .filter((form) => proposed === null || proposed === form)
        .map((form) => ({
          label: proposed === null ? say.dateForms[form] : say.takeDates(form, example),
          change: { dates: form },
        }))
  }
}
