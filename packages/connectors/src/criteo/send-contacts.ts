import { ConnectorError } from '@penstock/connector'
import type { AudienceTarget, PersonBlame, SendPeople, SentPeople } from '../kit/audience-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'

/** Makes what sends people to Criteo: identifiers of one kind share a request, each of them once. */
export function contactSender(client: PlatformClient): SendPeople {
  return async (people, to) => {
    const kinds = new Set(people.flatMap((person) => Object.keys(person)))
    const all: SentPeople[] = []
    for (const kind of kinds) all.push(await amend(client, kind, people, to))
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      blamed: all.flatMap(({ blamed }) => blamed),
      missed: all.flatMap(({ missed }) => missed),
    }
  }
}

/** Sends identifiers of one kind. Criteo counts invalid identifiers and shows some of them. */
async function amend(
  client: PlatformClient,
  kind: string,
  people: readonly JsonObject[],
  { audience, verb, settings }: AudienceTarget,
): Promise<SentPeople> {
  const identifiers = [...new Set(people.flatMap((person) => textIn(person[kind]) ?? []))]
  const { json, bytesSent } = await client.askObject({
    method: 'PATCH',
    path: `/audience-segments/${audience}/contact-list`,
    body: {
      data: {
        type: 'ContactlistAmendment',
        attributes: {
          operation: verb,
          identifierType: kind,
          gumCallerId: kind === 'gum' ? numberIn(settings.gumCallerId) : undefined,
          identifiers,
        },
      },
    },
  })
  const attributes = objectIn(objectIn(json.data).attributes)
  if (Object.keys(attributes).length === 0) {
    throw new ConnectorError('malformed_response', 'Criteo did not report the result of the identifiers.')
  }
  const known = new Set(identifiers)
  const samples = new Set(
    listIn(attributes.sampleInvalidIdentifiers)
      .map(String)
      .filter((sample) => known.has(sample)),
  )
  // A person who is sent by several identifiers is in the list by one that is valid: only the first one counts.
  const counted = people.map((person) => (Object.keys(person)[0] === kind ? textIn(person[kind]) : undefined))
  const blamed = counted.flatMap((identifier, at): PersonBlame[] =>
    samples.has(identifier ?? '') ? [{ at, reason: 'Criteo reports that the identifier is invalid.' }] : [],
  )
  const unnamed = Math.max(0, (numberIn(attributes.nbInvalidIdentifiers) ?? 0) - samples.size)
  const others = new Set(counted.filter((identifier) => identifier !== undefined && !samples.has(identifier))).size
  const reason = 'Criteo reports invalid identifiers, but not the rows.'
  return { bytes: bytesSent, blamed, missed: [{ count: Math.min(unnamed, others), reason }] }
}
