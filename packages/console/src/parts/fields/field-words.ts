import { fields as say } from '../../strings/fields.ts'
import type { FormField, FormValue } from './form-field.ts'

/** What an input of any kind is given. */
export type FieldInputProps = {
  field: FormField
  /** Whether a value is needed now. */
  needed: boolean
  value: FormValue
  onChange: (value: FormValue) => void
  fault: string | undefined
  lastUpdated: number | undefined
}

/** What the inputs of all kinds say: the definition's words, and what is wrong. */
export function wordsOf({ field, needed, fault }: Pick<FieldInputProps, 'field' | 'needed' | 'fault'>) {
  return {
    label: field.label,
    description: say.help(field),
    error: fault === undefined ? undefined : say.fault(field.label, fault),
    withAsterisk: needed,
    'aria-required': needed,
  }
}
