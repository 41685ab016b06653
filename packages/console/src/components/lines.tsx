import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import { components } from '../strings/components.ts'

/** Lines where text will be. */
export function Lines({ lines = 4 }: { lines?: number }) {
  return (
    <Stack gap="sm" aria-busy="true">
      <VisuallyHidden role="status">{components.loading}</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a skeleton have no identity but their position.
        <Skeleton key={line} height={36} radius="sm" />
      ))}
    </Stack>
  )
}
