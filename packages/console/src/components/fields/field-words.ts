import { fields as say } from '../../strings/fields.ts'
import type { FormField, FormValue } from './form-field.ts'

/** Properties of all inputs. */
export type FieldInputProps = {
  field: FormField
  /** Whether a value is needed now. */
  needed: boolean
  value: FormValue
  onChange: (value: FormValue) => void
  fieldError: string | undefined
  lastUpdated: number | undefined
}

/** Texts of all inputs: from the definition, and the error. */
export function wordsOf({ field, needed, fieldError }: Pick<FieldInputProps, 'field' | 'needed' | 'fieldError'>) {
  return {
    label: field.label,
    description: say.help(field),
    error: fieldError === undefined ? undefined : say.fieldError(field.label, fieldError),
    withAsterisk: needed,
    'aria-required': needed,
  }
}
