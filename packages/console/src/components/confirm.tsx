import { Text, TextInput } from '@mantine/core'
import type { ParametersOf } from '@penstock/client'
import type { OperationId } from '@penstock/wire'
import { type ReactNode, useState } from 'react'
import { useWrite } from '../api/queries.ts'
import { components } from '../strings/components.ts'
import { FormDialog } from './form-dialog.tsx'

type ConfirmProps = {
  title: string
  /** The text of the button. */
  action: string
  /** Must be typed if it is given. */
  name?: string
  /** Closes once it resolves, and shows a text that it resolves with; what it rejects with is shown. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ReactNode
}

/** Asks before a destructive action; a large one is confirmed by typing its name. */
export function Confirm({ title, action, name, onConfirm, onClose, children }: ConfirmProps) {
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

/**
 * Asks before a destructive action that is one call of the service.
 * @param done the notice after the call; undefined: `onDone` reports it, or nothing does
 * @param onDone follows the call, before the dialog closes
 */
export function ConfirmWrite<I extends OperationId>({
  operation,
  parameters,
  done,
  onDone,
  ...dialog
}: Omit<ConfirmProps, 'onConfirm'> & {
  operation: I
  parameters: ParametersOf<I>
  done?: string
  onDone?: () => unknown
}) {
  const write = useWrite(operation)
  const confirm = async () => {
    await write.mutateAsync(parameters)
    await onDone?.()
    return done
  }
  return <Confirm {...dialog} onConfirm={confirm} />
}
