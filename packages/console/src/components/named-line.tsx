import { Button, Stack, TextInput } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useState } from 'react'

/** A name that can be changed in place, above the buttons that rename and delete what it names. */
export function NamedLine({
  name,
  label,
  help,
  disabled = false,
  words,
  onRename,
  onDelete,
}: {
  name: string
  /** Names the input. */
  label: string
  help?: string | undefined
  /** It can be neither renamed nor deleted. */
  disabled?: boolean
  /** The texts of the buttons; `renameOf` and `deleteOf` say for screen readers what they act on. */
  words: { rename: string; delete: string; renameOf?: string; deleteOf?: string }
  /** @param name without spaces around it, and another one than before */
  onRename: (name: string) => unknown
  onDelete: () => unknown
}) {
  const [text, setText] = useState(name)
  const typed = text.trim()
  return (
    <Stack gap={6}>
      <TextInput
        aria-label={label}
        description={help}
        maxLength={limits.nameLengthMax}
        disabled={disabled}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      {!disabled && (
        <Button.Group>
          <Button
            size="xs"
            variant="default"
            aria-label={words.renameOf}
            disabled={typed === '' || typed === name}
            onClick={() => onRename(typed)}
          >
            {words.rename}
          </Button>
          <Button size="xs" variant="default" aria-label={words.deleteOf} onClick={() => onDelete()}>
            {words.delete}
          </Button>
        </Button.Group>
      )}
    </Stack>
  )
}
