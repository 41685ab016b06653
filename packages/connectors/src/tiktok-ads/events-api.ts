import type { ConnectorContext } from '@penstock/connector'
import { codeOf, invalidParameter, openTikTok, partlyTaken } from './business-api.ts'

export type TrackReply = {
  /** `all`: every event was taken. `some`: not all. `none`: refused because of what is in it. */
  readonly taken: 'all' | 'some' | 'none'
  readonly data: unknown
  readonly bytesSent: number
}

export type TrackRequest = {
  readonly event_source: string
  readonly event_source_id: string
  readonly test_event_code?: string
  readonly data: readonly unknown[]
}

/** Sends events of one source. Throws connector errors for all that has nothing to do with the events themselves. */
export async function track(context: ConnectorContext, body: TrackRequest): Promise<TrackReply> {
  const answer = await openTikTok(context).askObject({
    path: '/event/track/',
    method: 'POST',
    body: { ...body, partner_name: 'Penstock' },
    expects: (reply) => [partlyTaken, invalidParameter].includes(codeOf(reply) ?? 0),
  })
  const code = codeOf(answer)
  const taken = code === partlyTaken ? 'some' : code === invalidParameter ? 'none' : 'all'
  return { taken, data: answer.json.data, bytesSent: answer.bytesSent }
}
