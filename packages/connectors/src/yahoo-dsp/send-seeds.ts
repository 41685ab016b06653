import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { SendPeople } from '../kit/audience-facts.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { numberIn, objectIn } from '../platform-api/json.ts'

/**
 * Creates the function that adds people to a Yahoo audience, or creates an audience from its first people, because an audience
 * cannot be empty. Sending the same people again makes no difference. Throws `invalid_setting` for people with identifiers of
 * two kinds, because an audience contains one kind.
 */
export function seedSender(client: PlatformClient, { settings }: DestinationContext): SendPeople {
  return async (people, { account, audience, name }) => {
    const [key = '', ...others] = new Set(people.flatMap((person) => Object.keys(person)))
    if (others.length > 0) {
      const message =
        'An audience of Yahoo holds either e-mail addresses or phone numbers. Choose the identifier type in the connection.'
      throw new ConnectorError('invalid_setting', message)
    }
    const seedList = people.map((person) => person[key])
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
    return { bytes: bytesSent, blamed: [], missed: [], made: objectIn(json.response).id }
  }
}
