import { Badge, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import type { Role } from '@penstock/wire'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { fields as say } from '../../strings/fields.ts'
import type { Discovery } from './discovery.ts'
import { FieldForm } from './field-form.tsx'
import {
  changedFields,
  countingFields,
  type FormField,
  type FormValue,
  type FormValues,
  isNeeded,
  valuesOf,
} from './form-field.ts'
import { withKnownFormat } from './known-format.ts'
import classes from './settings-form.module.css'

/** Names of settings in the line of a folded form. */
const namedMax = 3

type Props = {
  fields: readonly FormField[]
  values: FormValues
  onChange: (name: string, value: FormValue) => void
  /** Messages by the names of their fields. */
  fieldErrors: Readonly<Record<string, string>>
  role: Role
  discovery: Discovery | undefined
  /** The name of the file that is read, if it is known. */
  fileName?: string | undefined
}

/** The settings of one side of a connection: the few that matter, and all others folded, with the values that differ from their defaults. */
export function SettingsForm(props: Props) {
  const { fields, values, fieldErrors, role, fileName } = props
  const shown = countingFields(fields, withKnownFormat(fields, values, fileName))
  const asked = shown.filter(({ name, asked: isAsked }) => isAsked || isNeeded(fields, name, values, role))
  const folded = shown.filter((field) => !asked.includes(field))
  const namesOf = (of: readonly FormField[]): ReadonlySet<string> => new Set(of.map(({ name }) => name))
  const [askedNames, foldedNames] = [namesOf(asked), namesOf(folded)]
  const elsewhere = Object.keys(fieldErrors).some((name) => !askedNames.has(name) && !foldedNames.has(name))
  return (
    <Stack gap="lg">
      {(asked.length > 0 || elsewhere) && <FieldForm {...props} only={askedNames} others={foldedNames} />}
      {folded.length > 0 && <Advanced {...props} folded={folded} only={foldedNames} others={askedNames} />}
    </Stack>
  )
}

/** All other settings, folded. The line names changed settings. */
function Advanced({
  folded,
  ...props
}: Props & { folded: readonly FormField[]; only: ReadonlySet<string>; others: ReadonlySet<string> }) {
  const { fields, values, fieldErrors, only, onChange } = props
  const id = useId()
  const [opened, setOpened] = useState(false)
  const isOpen = opened || Object.keys(fieldErrors).some((name) => only.has(name))
  const changed = changedFields(fields, values).filter(({ name }) => only.has(name))
  const named = (changed.length > 0 ? changed : folded).map(({ label }) => label)
  const defaults = valuesOf(changed.map(({ value, ...field }) => field))
  const Chevron = isOpen ? IconChevronDown : IconChevronRight
  return (
    <div className={classes.advanced}>
      <UnstyledButton
        w="100%"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpened(!isOpen)}
      >
        <Group gap="xs" wrap="nowrap">
          <Chevron size={16} aria-hidden style={{ flex: 'none' }} />
          <Text size="sm" fw={600}>
            {say.advanced}
          </Text>
          {changed.length > 0 && (
            <Badge variant="light" fw={500} tt="none" style={{ flex: 'none' }}>
              {say.changed(changed.length)}
            </Badge>
          )}
          <Text size="sm" c="dimmed" truncate className={classes.names ?? ''}>
            {named.length > namedMax ? `${named.slice(0, namedMax).join(', ')} …` : named.join(', ')}
          </Text>
        </Group>
      </UnstyledButton>
      {isOpen && (
        <Stack id={id} mt="md">
          <FieldForm
            {...props}
            frame={({ name, label }, input) => {
              const isChanged = changed.some((field) => field.name === name)
              return (
                <div className={classes.set} data-changed={isChanged || undefined}>
                  {input}
                  {isChanged && (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      aria-label={say.resetOne(label)}
                      onClick={() => onChange(name, defaults[name] ?? '')}
                    >
                      {say.reset}
                    </Button>
                  )}
                </div>
              )
            }}
          />
        </Stack>
      )}
    </div>
  )
}
