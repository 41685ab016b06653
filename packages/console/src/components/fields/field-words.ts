import { fields as say } from '../../strings/fields.ts'
import type { FormField, FormValue } from './form-field.ts'

/** What an input of any kind is given. */
export type FieldInputProps = {
  field: FormField
  /** Whether a value is needed now. */
  needed: boolean
  value: FormValue
  onChange: (value: FormValue) => void
  fieldError: string | undefined
  lastUpdated: number | undefined
}

/** What the inputs of all kinds say: the definition's words, and what is wrong. */
export function wordsOf({ field, needed, fieldError }: Pick<FieldInputProps, 'field' | 'needed' | 'fieldError'>) {
  return {
    label: field.label,
    description: say.help(field),
    error: fieldError === undefined ? undefined : say.fieldError(field.label, fieldError),
    withAsterisk: needed,
    'aria-required': needed,
  }
}
