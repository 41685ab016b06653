import { NumberInput, TextInput, type TextInputProps } from '@mantine/core'
import { mono } from '../../components/mono.ts'

/** A text of the definition, such as a path. */
export const CodeInput = ({
  onChange,
  ...looks
}: Omit<TextInputProps, 'onChange' | 'value'> & { value: string; onChange: (text: string) => void }) => (
  <TextInput
    size="xs"
    autoComplete="off"
    spellCheck={false}
    styles={mono}
    {...looks}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  />
)

/** A whole number of the definition. @param value anything but a number is shown as empty */
export const WholeNumber = ({
  label,
  description,
  value,
  onChange,
}: {
  label: string
  description?: string | undefined
  value: unknown
  /** Called with an empty text if the number is removed. */
  onChange: (value: number | '') => void
}) => (
  <NumberInput
    size="xs"
    label={label}
    description={description}
    value={typeof value === 'number' ? value : ''}
    allowDecimal={false}
    allowNegative={false}
    onChange={(next) => onChange(next === '' ? '' : Number(next))}
  />
)
