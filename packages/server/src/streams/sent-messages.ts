import { answeredMessage, presetOf, unwrapped, withoutSecret } from '@penstock/connectors'
import { refuse } from '../refusal.ts'
import type { FoundStream } from './find-streams.ts'
import type { RequestContent } from './read-request.ts'
import type { ChallengeAnswer } from './signatures/challenges.ts'
import { jsonOf } from './signatures/signed-request.ts'
import { schemeOf } from './signing.ts'

/** Messages of one sender: their events, and the answers that it expects. */

/** A message whose sender expects an answer. Refuses one of an unknown type with `invalid_request`. */
export function messageOf({ connectorId }: FoundStream, received: readonly unknown[], nowMs: number) {
  const preset = presetOf(connectorId)
  const message = preset && answeredMessage(preset, received, nowMs)
  return typeof message === 'string' ? refuse('invalid_request', [{ field: 'body', message }]) : message
}

/** The answer to a message that has no secret, as to a handshake. */
export function openAnswer(
  { connectorId }: FoundStream,
  { method, content }: RequestContent,
): ChallengeAnswer | undefined {
  const preset = presetOf(connectorId)
  if (!preset?.answers || method !== 'POST' || !('body' in content)) return undefined
  const message = answeredMessage(preset, [jsonOf(content)], Date.now())
  if (typeof message !== 'object' || !message.isOpen) return undefined
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message.answer) }
}

/** The events in what a sender sent. */
export function eventsOf(stream: FoundStream, received: readonly unknown[]): readonly unknown[] {
  const preset = presetOf(stream.connectorId)
  const scheme = schemeOf(stream)
  const events = preset ? unwrapped(preset, received) : received
  return scheme ? withoutSecret(scheme, events) : events
}
