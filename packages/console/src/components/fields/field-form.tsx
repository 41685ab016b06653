import { Alert, List, Stack } from '@mantine/core'
import type { Role } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Fragment, type ReactNode, useEffect, useRef } from 'react'
import { fields as say } from '../../strings/fields.ts'
import { wordsOf } from '../problems.ts'
import { mirrorOf } from './choices.tsx'
import { type Discovery, settingsOf } from './discovery.ts'
import { FieldInput } from './field-input.tsx'
import { countingFields, type FormField, type FormValue, type FormValues, isEmpty, isNeeded } from './form-field.ts'

/**
 * A form that is drawn from the definitions of its fields: what counts for the values that are there is asked for, with
 * its help, its bounds and its choices, and each error at its field. It holds no values; a caller starts with
 * `valuesOf`, sends `changesOf`, and makes `errors` of a refusal with `errorsOf`. It is no `<form>` of its own, so several
 * can be sent together.
 */
export function FieldForm({
  fields,
  values,
  onChange,
  fieldErrors,
  lastUpdated,
  role,
  only,
  others,
  discovery,
  frame = (_, input) => input,
}: {
  fields: readonly FormField[]
  values: FormValues
  onChange: (name: string, value: FormValue) => void
  /** Messages by the names of their fields. */
  fieldErrors: Readonly<Record<string, string>>
  /** When the values were last saved, in seconds since 1970: said of secrets that are set. */
  lastUpdated?: number | undefined
  /** The end of a connection that the form is for, if it is for one. */
  role?: Role | undefined
  /** Names of the fields that are shown here, where another form shows the others; all unless given. */
  only?: ReadonlySet<string> | undefined
  /** Names of fields of another form, which shows their errors. */
  others?: ReadonlySet<string> | undefined
  /** The fields whose values the platform lists, if it can be asked. */
  discovery?: Discovery | undefined
  /** Surrounds the input of a field. */
  frame?: (field: FormField, input: ReactNode) => ReactNode
}) {
  const form = useRef<HTMLDivElement>(null)
  const shown = countingFields(fields, values).filter(({ name }) => !only || only.has(name))
  const elsewhere = Object.entries(fieldErrors).filter(
    ([name]) => !others?.has(name) && !shown.some((field) => field.name === name),
  )
  // After a refused save, the first invalid field of all forms that are sent together gets the focus.
  useEffect(() => {
    if (Object.keys(fieldErrors).length === 0) return
    const all = form.current?.closest('form') ?? form.current
    all?.querySelector<HTMLElement>('[aria-invalid=true]:not([disabled])')?.focus()
  }, [fieldErrors])
  const errorOf = ({ name }: FormField) =>
    fieldErrors[name] === say.missing && !isEmpty(values[name] ?? '') ? undefined : fieldErrors[name]
  return (
    <Stack ref={form} gap="lg">
      {elsewhere.length > 0 && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.errorsElsewhere} role="alert">
          <List size="sm">
            {elsewhere.map(([name, message]) => (
              <List.Item key={name}>
                {say.fieldError(fields.find((field) => field.name === name)?.label ?? wordsOf(name), message)}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {shown.map((field) => (
        <Fragment key={field.name}>
          {frame(
            field,
            <FieldInput
              field={field}
              needed={isNeeded(fields, field.name, values, role)}
              value={values[field.name] ?? ''}
              onChange={(value) => onChange(field.name, value)}
              fieldError={errorOf(field)}
              lastUpdated={lastUpdated}
              extra={field.meanings && mirrorOf(fields, field, values, onChange)}
              {...(discovery?.fields.includes(field.name) && { discovery, settings: settingsOf(fields, values) })}
            />,
          )}
        </Fragment>
      ))}
    </Stack>
  )
}
