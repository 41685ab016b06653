import { Box, Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { components } from '../strings/components.ts'
import { count } from './numbers.ts'
import { noVolume, stillRejected, sum } from './volume.ts'
import type { VolumeBarsProps } from './volume-bars.tsx'

const VolumeBars = lazy(() => import('./volume-bars.tsx'))

/** The bars, once they are loaded, with a text alternative for screen readers. */
export function VolumeChart({ heightPx = 260, ...props }: VolumeBarsProps) {
  const all = [...props.volumes.values()]
  const accepted = all.reduce((n, volume) => n + volume.accepted, noVolume.accepted)
  const rejected = stillRejected(all.reduce(sum, noVolume))
  return (
    <Box role="img" aria-label={components.volumeChart(count(accepted), count(rejected))} mih={heightPx}>
      <Suspense fallback={<Skeleton height={heightPx} radius="sm" />}>
        <VolumeBars heightPx={heightPx} {...props} />
      </Suspense>
    </Box>
  )
}
