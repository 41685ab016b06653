import type { DestinationContext } from '@penstock/connector'
import type { PersonBlame, SendPeople } from '../kit/audience-facts.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { seedKinds } from './seed-kinds.ts'

/**
 * Makes what adds people to an audience of Yahoo, or makes an audience of its first people: none can be empty. An audience holds
 * identifiers of one kind; people without one are blamed. The same people again make no difference.
 */
export function seedSender(client: PlatformClient, { columns, settings }: DestinationContext): SendPeople {
  const kind =
    seedKinds.find(({ key }) => key === textIn(settings.identifierType)) ??
    seedKinds.find(({ column }) => columns.includes(column)) ??
    seedKinds[0]
  const { key, column, words } = kind
  const reason = `The audiences of the connection hold ${words}, and the row has none.`

  return async (people, { account, audience, name }) => {
    const blamed = people.flatMap((person, at): PersonBlame[] =>
      person[key] === undefined ? [{ at, reason, field: column }] : [],
    )
    if (blamed.length === people.length) return { bytes: 0, blamed, missed: [] }
    const seedList = people.map((person) => person[key]).filter((digest) => digest !== undefined)
    const accountId = Number(account)
    const retentionDays = numberIn(settings.retentionDays)
    const call: PlatformCall =
      audience === ''
        ? {
            method: 'POST',
            path: '/audiences/customsegments',
            body: { accountId, name, retentionDays, subType: key, seedListType: key, seedList },
          }
        : {
            method: 'PUT',
            path: `/audiences/customsegments/${audience}`,
            body: { accountId, seedListType: key, seedList },
            // The engine shows the wait, and repeats it.
            repeatable: false,
          }
    const { json, bytesSent } = await client.askObject(call)
    return { bytes: bytesSent, blamed, missed: [], made: objectIn(json.response).id }
  }
}
