import type { ConnectorContext, ErasePerson } from '@penstock/connector'
import { paths } from './api.ts'
import { openHubSpot } from './sign-in.ts'

/** Deletes contacts permanently by their addresses. HubSpot answers the same if it has no such contact. */
export async function openErasure(context: ConnectorContext): Promise<ErasePerson> {
  const client = await openHubSpot(context)
  return async ({ value }) => {
    const { status } = await client.ask({
      method: 'POST',
      path: `${paths.objects('contacts')}/gdpr-delete`,
      body: { objectId: value, idProperty: 'email' },
      repeatable: true,
      expects: (answer) => answer.status === 400,
    })
    return status === 400
      ? { outcome: 'refused', reason: 'HubSpot does not accept the address (status 400).' }
      : { outcome: 'requested' }
  }
}
