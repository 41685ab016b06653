import { Button, Group, Text } from '@mantine/core'
import { contrastMin, contrastOf, readableOn } from '@penstock/wire'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { branding as say } from '../../strings/branding.ts'

/** Whether text can be read in these colours, and a colour in which it can. */
export function Contrast({
  primary,
  text,
  onUse,
}: {
  primary: string
  text: string
  onUse: (readable: string) => void
}) {
  const contrast = contrastOf(primary, text)
  const isReadable = contrast >= contrastMin
  // Rounded down, so that what is refused is never said to be enough.
  const shown = (Math.floor(contrast * 100) / 100).toFixed(2)
  const readable = readableOn(primary)
  return (
    <Group gap="xs" role="status">
      {isReadable ? (
        <IconCircleCheck size={20} color="var(--mantine-color-teal-6)" aria-hidden />
      ) : (
        <IconAlertTriangle size={20} color="var(--mantine-color-error)" aria-hidden />
      )}
      <Text size="sm" style={{ flex: '1 1 14rem' }}>
        {isReadable ? say.readable(shown) : say.unreadable(shown)}
      </Text>
      {!isReadable && (
        <Button size="compact-sm" variant="default" onClick={() => onUse(readable)}>
          {say.offerReadable(readable)}
        </Button>
      )}
    </Group>
  )
}
