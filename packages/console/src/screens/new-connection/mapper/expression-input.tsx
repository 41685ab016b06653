import { TextInput } from '@mantine/core'

/** An expression while it is typed. The service checks it with the columns of the source. */
export function ExpressionInput({
  label,
  name = label,
  description,
  placeholder,
  text,
  error,
  onChange,
}: {
  label: string
  /** The label for people who do not see the page, if it says more. */
  name?: string
  description?: string
  placeholder?: string
  text: string
  error?: string | undefined
  onChange: (text: string) => void
}) {
  return (
    <TextInput
      label={label}
      aria-label={name}
      description={description}
      placeholder={placeholder}
      value={text}
      error={error}
      autoComplete="off"
      autoCapitalize="off"
      autoCorrect="off"
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
