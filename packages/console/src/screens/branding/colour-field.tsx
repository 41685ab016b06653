import { TextInput } from '@mantine/core'
import { branding as say } from '../../strings/branding.ts'

/** Whether a text is a colour as the service takes it. */
export const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text.trim())

/** A colour, entered or picked. */
export function ColourField({
  label,
  help,
  value,
  error,
  onChange,
}: {
  label: string
  help?: string
  value: string
  error: string | undefined
  onChange: (value: string) => void
}) {
  return (
    <TextInput
      label={label}
      {...(help ? { description: help } : {})}
      value={value}
      error={error ?? (isColour(value) ? undefined : say.notColour)}
      spellCheck={false}
      autoComplete="off"
      maxLength={7}
      maw={280}
      leftSectionWidth={44}
      leftSection={
        <input
          type="color"
          aria-label={say.pick(label)}
          value={isColour(value) ? value.trim() : '#000000'}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          style={{ width: 28, height: 24, padding: 0, border: 0, background: 'none', cursor: 'pointer' }}
        />
      }
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
