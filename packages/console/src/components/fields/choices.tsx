import { Radio, Stack } from '@mantine/core'
import { fields as say } from '../../strings/fields.ts'
import { type FieldInputProps, wordsOf } from './field-words.ts'
import { type FormField, type FormValue, type FormValues, optionOf } from './form-field.ts'
import classes from './settings-form.module.css'

/** One more choice, that another setting makes. */
export type ExtraChoice = { readonly isPicked: boolean; readonly pick: () => void; readonly leave: () => void }

const extraValue = 'extra'

/** A mode of reading or writing: all choices are in sight, each with its effect. */
export function Choices({ extra, ...props }: FieldInputProps & { extra?: ExtraChoice | undefined }) {
  const { field, needed, value, onChange } = props
  const { options = [], optionLabels, meanings } = field
  const { description, ...words } = wordsOf(props)
  const choose = (next: string) => {
    if (next === extraValue) return extra?.pick()
    extra?.leave()
    onChange(next)
  }
  return (
    <Radio.Group
      {...words}
      value={extra?.isPicked ? extraValue : String(value) || (needed ? '' : (options[0] ?? ''))}
      onChange={choose}
    >
      <Stack gap={0} className={classes.choices ?? ''}>
        {options.map((option) => {
          const meaning = meanings?.[option]
          const label = optionLabels?.[option] ?? option
          return <Radio key={option} value={option} label={label} description={meaning && say.meaning[meaning]} />
        })}
        {extra && <Radio value={extraValue} label={say.mirror} description={say.meaning.mirror} />}
      </Stack>
    </Radio.Group>
  )
}

/** How a destination that finds rows by a key mirrors the source: a choice of the write mode, though it is a setting of its own. */
export function mirrorOf(
  fields: readonly FormField[],
  field: FormField,
  values: FormValues,
  onChange: (name: string, value: FormValue) => void,
): ExtraChoice | undefined {
  const update = optionOf(field, 'update')
  const rows = fields.find((one) => one.name !== field.name && optionOf(one, 'mirror') !== undefined)
  const mirror = optionOf(rows, 'mirror')
  if (update === undefined || !rows || mirror === undefined) return undefined
  const isMirror = values[rows.name] === mirror
  return {
    isPicked: isMirror && values[field.name] === update,
    pick: () => {
      onChange(field.name, update)
      onChange(rows.name, mirror)
    },
    leave: () => isMirror && onChange(rows.name, ''),
  }
}
