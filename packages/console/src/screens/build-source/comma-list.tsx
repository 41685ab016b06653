import { useState } from 'react'
import { namesIn } from '../../components/fields/discovery.ts'
import { CodeInput } from './code-input.tsx'

/** A list of the definition, typed with commas between its values. */
export function CommaList({
  label,
  description,
  values,
  onChange,
}: {
  label: string
  description?: string
  values: unknown
  onChange: (values: string[]) => void
}) {
  const saved = (Array.isArray(values) ? values : values === undefined ? [] : [values]).map(String)
  const [typed, setTyped] = useState(saved.join(', '))
  const isTyped = JSON.stringify(namesIn(typed)) === JSON.stringify(saved)
  return (
    <CodeInput
      label={label}
      description={description}
      value={isTyped ? typed : saved.join(', ')}
      onChange={(text) => {
        setTyped(text)
        onChange(namesIn(text))
      }}
    />
  )
}
