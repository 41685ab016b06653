import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { mono } from '../../components/mono.ts'
import { buildSource as say } from '../../strings/build-source.ts'

/** JSON of the definition, such as the body of a request. Typed text is part of the definition once it is JSON. */
export function JsonInput({
  label,
  description,
  value,
  onChange,
}: {
  label: string
  description: string
  value: unknown
  /** @param value undefined: nothing is typed */
  onChange: (value: unknown) => void
}) {
  const [typed, setTyped] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const [wrong, setWrong] = useState(false)
  const change = (next: string) => {
    setTyped(next)
    try {
      onChange(next.trim() === '' ? undefined : (JSON.parse(next) as unknown))
      setWrong(false)
    } catch {
      setWrong(true)
    }
  }
  return (
    <Textarea
      size="xs"
      label={label}
      description={description}
      value={typed}
      error={wrong && say.bodyInvalid}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      styles={mono}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}
