/** The operator's limits of streams of events. Sizes are in MiB. */
export type StreamSettings = {
  /** Limits on stored events, in MB: per stream, per sub-account over all of its streams, and per organization. */
  readonly streamMb: number
  readonly accountMb: number
  readonly organizationMb: number
  /** Days for which events are kept at most. */
  readonly daysMax: number
  /**
   * Events per second that a process accepts for one stream. The limit is twice as high for a sub-account, and four times for
   * an organization.
   */
  readonly eventsPerSecond: number
  /** Streams that put events on topics of Apache Kafka at the same time, in one process. Each has a runner. */
  readonly topics: number
}

export const readStreamSettings = (
  whole: (name: string, fallback: number, min: number, max: number) => number,
): StreamSettings => ({
  streamMb: whole('PENSTOCK_STREAM_MB', 1_024, 1, 1_048_576),
  accountMb: whole('PENSTOCK_STREAMS_MB', 4_096, 1, 1_048_576),
  organizationMb: whole('PENSTOCK_QUOTA_STREAMS_MB', 16_384, 1, 10_000_000),
  daysMax: whole('PENSTOCK_STREAM_DAYS', 30, 1, 365),
  eventsPerSecond: whole('PENSTOCK_STREAM_EVENTS_PER_SECOND', 10_000, 1, 1_000_000),
  topics: whole('PENSTOCK_STREAM_TOPICS', 8, 1, 1_000),
})
