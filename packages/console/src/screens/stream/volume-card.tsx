import { Group, SegmentedControl, Skeleton, Text } from '@mantine/core'
import type { EventStream } from '@penstock/wire'
import { lazy, Suspense, useState } from 'react'
import { count } from '../../components/numbers.ts'
import { Fact, Section } from '../../components/section.tsx'
import { useNow } from '../../components/time.tsx'
import { streams as say } from '../../strings/streams.ts'
import { type Span, spans, sumOf, volumesIn } from './volumes.ts'

const VolumeBars = lazy(() => import('./stream-bars.tsx'))
const heightPx = 180

/** The events of a stream by minute or by hour, with sums of the time that is shown. */
export function VolumeCard({ volumes, store }: Pick<EventStream, 'volumes' | 'store'>) {
  const [span, setSpan] = useState<Span>('hour')
  const nowSeconds = Math.floor(useNow() / 1000)
  const bars = volumesIn(volumes, span, nowSeconds)
  const sum = sumOf(bars)
  // A topic has no count of them.
  const countsRepeated = store !== 'kafka' || sum.duplicates > 0
  return (
    <Section
      title={say.volume[span]}
      region
      action={
        <SegmentedControl
          size="xs"
          aria-label={say.volumeSpan}
          value={span}
          onChange={(value) => setSpan(value as Span)}
          data={spans.map((value) => ({ value, label: say.span[value] }))}
        />
      }
    >
      <Group gap="xl">
        <Fact label={say.accepted}>{count(sum.accepted)}</Fact>
        {countsRepeated && <Fact label={say.duplicates}>{count(sum.duplicates)}</Fact>}
        <Fact label={say.refused}>{count(sum.refused)}</Fact>
      </Group>
      <div
        role="img"
        aria-label={say.volumeChart({
          accepted: count(sum.accepted),
          duplicates: countsRepeated ? count(sum.duplicates) : undefined,
          refused: count(sum.refused),
        })}
        style={{ minHeight: heightPx }}
      >
        {sum.accepted + sum.duplicates + sum.refused === 0 ? (
          <Text size="sm" c="dimmed">
            {say.noVolume}
          </Text>
        ) : (
          <Suspense fallback={<Skeleton height={heightPx} radius="sm" />}>
            <VolumeBars bars={bars} heightPx={heightPx} span={span} countsRepeated={countsRepeated} />
          </Suspense>
        )}
      </div>
    </Section>
  )
}
