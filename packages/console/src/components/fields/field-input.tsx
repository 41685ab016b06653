import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { fields as say } from '../../strings/fields.ts'
import { PickSeveral } from '../pick-several.tsx'
import { Choices, type ExtraChoice } from './choices.tsx'
import { type FieldInputProps, wordsOf } from './field-words.ts'
import { PickedInput, type PickedInputProps } from './picked-input.tsx'
import { SecretInput } from './secret-input.tsx'
import { LineInput } from './text-input.tsx'

/** Longer lists of choices can be searched. */
const optionsSearched = 8

/** The choices of a field, by the names that people use. */
const optionsOf = ({ options = [], optionLabels }: FieldInputProps['field']) =>
  options.map((value) => ({ value, label: optionLabels?.[value] ?? value }))

/** The control that suits a field: a list of values of the platform, if it can be asked. */
export function FieldInput({
  discovery,
  settings = {},
  extra,
  ...props
}: FieldInputProps & Partial<Pick<PickedInputProps, 'discovery' | 'settings'>> & { extra?: ExtraChoice | undefined }) {
  const { field, needed, value, onChange } = props
  const words = wordsOf(props)
  const text = typeof value === 'string' ? value : ''
  const clearable = !needed && field.default === undefined
  if (field.type === 'Password') return <SecretInput {...props} />
  if (field.readonly) {
    return <TextInput {...words} readOnly variant="filled" value={String(value)} placeholder={say.filledByService} />
  }
  switch (field.type) {
    case 'Number':
      return (
        <NumberInput
          {...words}
          value={text}
          onChange={(next) => onChange(String(next))}
          allowDecimal={false}
          clampBehavior="none"
          placeholder={field.default}
          {...(field.min === undefined ? {} : { min: field.min })}
          {...(field.max === undefined ? {} : { max: field.max })}
          maw={240}
        />
      )
    case 'Date':
      return (
        <TextInput
          {...words}
          type="date"
          value={text}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          maw={240}
        />
      )
    case 'Boolean': {
      const { withAsterisk, 'aria-required': required, ...rest } = words
      return (
        <Switch
          {...rest}
          label={withAsterisk ? say.required(field.label) : field.label}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    }
    case 'Select':
      if (field.meanings && field.asked) return <Choices {...props} extra={extra} />
      return (
        <Select
          {...words}
          data={optionsOf(field)}
          value={text || null}
          onChange={(next) => onChange(next ?? '')}
          placeholder={say.pick}
          searchable={(field.options?.length ?? 0) > optionsSearched}
          allowDeselect={clearable}
          clearable={clearable}
          clearButtonProps={{ 'aria-label': say.clear(field.label) }}
          nothingFoundMessage={say.noOption}
        />
      )
    case 'Multi-Select':
      return (
        <PickSeveral
          {...words}
          data={optionsOf(field)}
          value={typeof value === 'object' ? [...value] : []}
          onChange={onChange}
          placeholder={say.pickSome}
          searchable={(field.options?.length ?? 0) > optionsSearched}
          clearable={clearable}
          clearButtonProps={{ 'aria-label': say.clear(field.label) }}
          nothingFoundMessage={say.noOption}
        />
      )
    case 'Text':
      return discovery ? <PickedInput {...props} discovery={discovery} settings={settings} /> : <LineInput {...props} />
  }
}
