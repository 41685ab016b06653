import { Button, Group } from '@mantine/core'
import { components } from '../strings/components.ts'

/** What ends a form: leave it, or save what it says. */
export function FormButtons({ busy, onCancel }: { busy: boolean; onCancel: () => void }) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {components.cancel}
      </Button>
      <Button type="submit" loading={busy}>
        {components.save}
      </Button>
    </Group>
  )
}
