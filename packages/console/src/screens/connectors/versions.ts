import { isSecretReference, secretMask } from '@penstock/wire'
import {
  countingFields,
  type FormField,
  type FormValue,
  type FormValues,
  valuesOf,
} from '../../components/fields/form-field.ts'
import { connectors as say } from '../../strings/connectors.ts'

/** The values of a configuration in words, by the labels of their fields, to be compared. Secrets are not among them. */
export function wordsOfValues(
  fields: readonly FormField[],
  before: FormValues = valuesOf(fields),
  values: FormValues = before,
): Record<string, string> {
  return Object.fromEntries(
    countingFields(fields, values).map(({ name, label, type, optionLabels = {} }) => {
      const value = values[name] ?? ''
      return [label, type === 'Password' ? wordsOfSecret(before[name] ?? '', value) : wordsOf(value, optionLabels)]
    }),
  )
}

function wordsOf(value: FormValue, labels: Readonly<Record<string, string>>): string {
  if (typeof value === 'boolean') return value ? say.yes : say.no
  return (
    [value]
      .flat()
      .map((one) => labels[one] ?? one)
      .join(', ') || say.unset
  )
}

function wordsOfSecret(before: FormValue, value: FormValue): string {
  if (value === secretMask) return say.secretSet
  if (value === '') return before === '' ? say.unset : say.secretCleared
  return isSecretReference(value) ? value : say.secretNew
}

/**
 * Base of my version after a conflict: the other user's version. Only secrets that I changed are sent, since secrets
 * cannot be shown.
 */
export function baseOf(before: FormValues, theirs: readonly FormField[]): FormValues {
  const secrets = theirs
    .filter(({ type }) => type === 'Password')
    .map(({ name }) => [name, before[name] ?? ''] as const)
  return { ...valuesOf(theirs), ...Object.fromEntries(secrets) }
}
