import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { components } from '../strings/components.ts'
import { Failure } from './failure.tsx'

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
  /** What the button says. */
  action: string
  /** Has to be typed where it is given. */
  name?: string
  /** Closes once it resolves; what it rejects with is shown. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ReactNode
}) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const confirm = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (name === undefined || typed === name) void confirm()
        }}
      >
        <Stack>
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
          {failure !== undefined && <Failure error={failure} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {components.cancel}
            </Button>
            <Button type="submit" color="red" loading={busy} disabled={name !== undefined && typed !== name}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
