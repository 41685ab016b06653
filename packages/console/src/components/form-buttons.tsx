import { Button, Group } from '@mantine/core'
import { components } from '../strings/components.ts'

/** What ends a form: leave it, or do what it says. */
export function FormButtons({
  busy,
  action = components.save,
  onCancel,
}: {
  busy: boolean
  /** What the button says. */
  action?: string
  onCancel: () => void
}) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {components.cancel}
      </Button>
      <Button type="submit" loading={busy}>
        {action}
      </Button>
    </Group>
  )
}
