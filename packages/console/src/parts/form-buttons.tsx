import { Button, Group } from '@mantine/core'
import { parts } from '../strings/parts.ts'

/** What ends a form: leave it, or save what it says. */
export function FormButtons({ busy, onCancel }: { busy: boolean; onCancel: () => void }) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {parts.cancel}
      </Button>
      <Button type="submit" loading={busy}>
        {parts.save}
      </Button>
    </Group>
  )
}
