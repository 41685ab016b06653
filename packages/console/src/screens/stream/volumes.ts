import type { EventStream } from '@penstock/wire'

/** How much time the chart of a stream shows: the last hour by minute, or days by hour. */
export const spans = ['hour', 'day', 'week'] as const
export type Span = (typeof spans)[number]

/** A minute or an hour, with its beginning in seconds since 1970. */
export type StreamVolume = EventStream['volumes']['minutes'][number]

const lengthOf: Readonly<Record<Span, { bars: number; seconds: number }>> = {
  hour: { bars: 60, seconds: 60 },
  day: { bars: 24, seconds: 3_600 },
  week: { bars: 168, seconds: 3_600 },
}

/** Every minute or hour of a span up to now, oldest first; those without events too. @param nowSeconds since 1970 */
export function volumesIn({ minutes, hours }: EventStream['volumes'], span: Span, nowSeconds: number): StreamVolume[] {
  const { bars, seconds } = lengthOf[span]
  const found = new Map((span === 'hour' ? minutes : hours).map((volume) => [volume.time, volume]))
  // The clock of the service may be ahead of the browser's.
  const last = Math.max(Math.floor(nowSeconds / seconds) * seconds, ...found.keys())
  return Array.from({ length: bars }, (_, at) => {
    const time = last - (bars - 1 - at) * seconds
    return found.get(time) ?? { time, accepted: 0, duplicates: 0, refused: 0 }
  })
}

/** The sums of all of them. */
export const sumOf = (volumes: readonly StreamVolume[]): Omit<StreamVolume, 'time'> => ({
  accepted: volumes.reduce((n, { accepted }) => n + accepted, 0),
  duplicates: volumes.reduce((n, { duplicates }) => n + duplicates, 0),
  refused: volumes.reduce((n, { refused }) => n + refused, 0),
})
