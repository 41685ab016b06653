import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { SendPeople } from '../kit/audience-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { poll } from '../platform-api/polling.ts'
import { assertFinal, isAccepted, resultsOf } from './api.ts'

/** The kind of members of a segment, as in LinkedIn’s paths. */
export type MemberKind = 'users' | 'companies'

/** LinkedIn needs seconds, and up to two minutes, before a new segment accepts members. */
const readyMsMax = 60_000

/** Makes what sends members: to a segment that does not accept any yet, again and again within a bound. */
export function memberSender(client: PlatformClient, { signal }: DestinationContext, kind: MemberKind): SendPeople {
  async function stream(id: string, elements: readonly unknown[]): Promise<Answer> {
    let exists = false
    const answer = await poll(
      async () => {
        const got = await client.ask({
          method: 'POST',
          path: `/dmpSegments/${id}/${kind}`,
          headers: { 'x-restli-method': 'BATCH_CREATE' },
          body: { elements },
          expects: ({ status }) => [400, 404, 409, 422].includes(status),
        })
        if (got.status !== 404 && got.status !== 409) return got
        exists ||= await segmentExists(id)
        if (exists) return undefined
        throw new ConnectorError(
          'object_not_found',
          'LinkedIn does not know a segment of the rows, or these credentials have no access to it; check its ID.',
        )
      },
      { totalMs: readyMsMax, signal },
    )
    if (answer) return answer
    const message = 'LinkedIn does not accept members for the segment yet; a new segment needs up to two minutes.'
    throw new ConnectorError('platform_unavailable', message, { afterMs: readyMsMax })
  }

  /** Whether LinkedIn has a segment, even if it does not accept members yet. */
  async function segmentExists(id: string): Promise<boolean> {
    const { status } = await client.ask({ path: `/dmpSegments/${id}`, expects: ({ status }) => status === 404 })
    return status !== 404
  }

  return async (people, { audience, verb }) => {
    const action = verb === 'add' ? 'ADD' : 'REMOVE'
    const answer = await stream(
      audience,
      people.map((person) => ({ action, ...person })),
    )
    const { status, bytesSent: bytes } = answer
    if (status >= 300) {
      throw new ConnectorError('invalid_batch', `LinkedIn refuses the changes of the segment (status ${status}).`)
    }
    const results = resultsOf(answer, people.length)
    assertFinal(results)
    const blamed = results.flatMap((result, at) => {
      if (isAccepted(result)) return []
      const reason = result
        ? `LinkedIn did not accept the change (${result.code}).`
        : 'LinkedIn did not confirm the change.'
      return [{ at, reason }]
    })
    return { bytes, blamed, missed: [] }
  }
}
