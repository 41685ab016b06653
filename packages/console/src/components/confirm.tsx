import { Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { components } from '../strings/components.ts'
import { FormDialog } from './form-dialog.tsx'

/** Asks before a destructive action; a large one is confirmed by typing its name. */
export function Confirm({
  title,
  action,
  name,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  /** The text of the button. */
  action: string
  /** Must be typed if it is given. */
  name?: string
  /** Closes once it resolves, and shows a text that it resolves with; what it rejects with is shown. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ReactNode
}) {
  const [typed, setTyped] = useState('')
  const confirm = async () => {
    const done = await onConfirm()
    if (typeof done === 'string') return done
    onClose()
  }
  return (
    <FormDialog
      title={title}
      action={action}
      destructive
      disabled={name !== undefined && typed !== name}
      onSubmit={confirm}
      onClose={onClose}
    >
      <Text component="div" size="sm">
        {children}
      </Text>
      {name !== undefined && (
        <TextInput
          label={components.typeToConfirm(name)}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
    </FormDialog>
  )
}
