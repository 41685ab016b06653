import { Button, Group } from '@mantine/core'
import { components } from '../strings/components.ts'
import { ReasonedButton } from './reasoned.tsx'

/** What ends a form: leave it, or do what it says. */
export function FormButtons({
  busy,
  action = components.save,
  reason,
  onCancel,
}: {
  busy: boolean
  /** What the button says. */
  action?: string
  /** Why it cannot be pressed; undefined where it can. */
  reason?: string | undefined
  onCancel: () => void
}) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {components.cancel}
      </Button>
      <ReasonedButton type="submit" loading={busy} reason={reason}>
        {action}
      </ReasonedButton>
    </Group>
  )
}
