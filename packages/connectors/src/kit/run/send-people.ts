import type { DestinationContext, Json } from '@penstock/connector'
import { type Answer, isSuccess } from '../../platform-api/call.ts'
import type { PlatformClient } from '../../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { answerAbout } from '../../platform-api/rows/answers.ts'
import { Refusals } from '../../platform-api/rows/refusals.ts'
import type { MemberReplacement, OpenedAudience, PersonBlame, SendPeople } from '../audience-facts.ts'
import type { Later } from '../later.ts'
import { replacesAll } from '../replaces.ts'
import { meaningBy } from './open-api.ts'

/** After this number of answers that each blame some people, the batch is halved instead. */
const roundsMax = 20

/** Opens what sends people of one audience, by the facts of its request or by hand. */
export async function openSend(
  facts: OpenedAudience,
  client: PlatformClient,
  context: DestinationContext,
  later: Later | undefined,
): Promise<SendPeople> {
  const { platformApi } = facts
  const refusals = new Refusals(platformApi.name)
  if (facts.send) {
    const send = await facts.send(client, context)
    return (people, to) => refusals.count(() => send(people, to))
  }
  const { request, identity, answer: { blames, means, taken } = {} } = facts
  const reason = `${platformApi.name} did not count some identifiers, and does not report their rows.`

  const keyOf = (person: JsonObject | undefined): { key?: string } => {
    const key = person && textIn(identity?.(person))
    return key === undefined ? {} : { key }
  }

  return async (people, to) => {
    const blamed: PersonBlame[] = []
    /** The indexes of people that no answer has blamed yet. */
    let left = people.map((_, at) => at)
    let bytes = 0
    let missed = 0
    let about: Json | null = null
    for (let round = 1; left.length > 0; round++) {
      const sent = left.map((at) => people[at] as JsonObject)
      const blamedIn = (one: Answer) => (round > roundsMax && !isSuccess(one) ? [] : (blames?.(one, sent) ?? []))
      const answer = await refusals.count(
        () =>
          client.ask({
            method: 'POST',
            ...request(sent, to),
            expects: (one) => blamedIn(one).length > 0,
            errorOf: meaningBy(platformApi, (one) => means?.(one, sent.length)),
          }),
        (one) => (isSuccess(one) ? undefined : blamedIn(one)[0]?.reason),
      )
      bytes += answer.bytesSent
      const now = blamedIn(answer).map((blame) => ({ ...blame, at: left[blame.at] ?? -1 }))
      blamed.push(...now)
      const places = new Set(now.map(({ at }) => at))
      left = left.filter((at) => !places.has(at))
      if (!isSuccess(answer)) continue
      about = answerAbout(answer)
      later?.accepted(
        answer,
        left.map((at) => ({ rows: to.rows[at] ?? [], ...keyOf(people[at]) })),
        to,
      )
      missed = Math.max(0, left.length - (taken?.(answer, to) ?? left.length))
      break
    }
    return { bytes, blamed, missed: [{ count: missed, reason }], answer: about }
  }
}

/**
 * Opens the replacement of members, according to the facts. `undefined` if a transfer with these settings replaces no members.
 * @param send adds people
 */
export async function openReplacement(
  facts: OpenedAudience,
  client: PlatformClient,
  context: DestinationContext,
  send: SendPeople,
): Promise<MemberReplacement | undefined> {
  const { replace, platformApi } = facts
  if (!replace || !(replace.byRows || replacesAll(facts, context.settings))) return undefined
  if (!replace.open) return byFirstRequest(send, context.deliveryStates)
  const replacement = await replace.open(client, context, send)
  const refusals = new Refusals(platformApi.name)
  return { ...replacement, send: (...sent) => refusals.count(() => replacement.send(...sent)) }
}

/** The first request to an audience replaces all earlier members, and later requests add. */
function byFirstRequest(send: SendPeople, deliveryStates: readonly Json[]): MemberReplacement {
  const begun = new Set(deliveryStates.flatMap((one) => listIn(objectIn(one).replaced)).map(String))
  const unsaved = new Set<string>()
  return {
    async send(people, to) {
      const { audience } = to
      if (begun.has(audience)) return send(people, to)
      const sent = await send(people, { ...to, replaces: true })
      begun.add(audience)
      unsaved.add(audience)
      return sent
    },
    deliveryState() {
      const replaced = [...unsaved]
      unsaved.clear()
      return replaced.length === 0 ? undefined : { replaced }
    },
  }
}
