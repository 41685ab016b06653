import { SegmentedControl, Stack, TextInput } from '@mantine/core'
import { isSecretReference, secretReferenceLengthMax } from '@penstock/wire'
import { useState } from 'react'
import { fields as say } from '../../strings/fields.ts'
import { wordsOf } from './field-words.ts'
import type { ReferringInputProps } from './referring-input.ts'

/** Has a person choose whether they enter a secret or a reference to a secret manager. */
export function ValueOrReference({ typed, focused, ...props }: ReferringInputProps) {
  const { field, value, onChange } = props
  const [refers, setRefers] = useState(isSecretReference(value) || isSecretReference(field.value))
  return (
    <Stack gap={6}>
      {refers ? (
        <TextInput
          {...wordsOf(props)}
          value={String(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          placeholder={say.referenceExample}
          maxLength={secretReferenceLengthMax}
          autoFocus={focused}
          spellCheck={false}
          autoComplete="off"
        />
      ) : (
        typed
      )}
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label={say.kindOfSecret(field.label)}
        data={[
          { value: 'value', label: say.asValue },
          { value: 'reference', label: say.asReference },
        ]}
        value={refers ? 'reference' : 'value'}
        onChange={(next) => {
          setRefers(next === 'reference')
          onChange('')
        }}
      />
    </Stack>
  )
}
