import { type ConsoleStage, localFolder } from './console.ts'
import type { Scene } from './console-scene.ts'
import type { Dialog, DialogScene } from './dialog-steps.ts'
import { connections, connectors } from './dialogs-of-accounts.ts'
import { organization, shell } from './dialogs-of-organization.ts'
import { connectorBySlug } from './fixtures.ts'

/** Creates the resources of the dialogs. */
export async function prepareDialogs(stage: ConsoleStage, scene: Scene): Promise<DialogScene> {
  const { accountId } = scene
  const { client } = stage
  const draft = await stage.connect(accountId, 'Draft with findings', { table: 'missing', activate: false })
  const replaces = await stage.connect(accountId, 'Replaces')
  for (const { id } of [draft, replaces]) {
    await client.setConnectionLabels({ accountId, id, body: { tags: ['Set: Files'] } })
  }
  const ended = await stage.run(accountId, replaces.id)
  await stage.sql(
    `update transfers set status = 'failed', error_code = 'confirmation_needed',
     error_message = 'This would replace everything that is there by 0 records.' where id = '${ended.id}'`,
  )
  const audiences = connectorBySlug('meta-custom-audiences').id
  const secretConfig = { authType: 'api-token', accessToken: 'canary' }
  await client.configureConnector({ accountId, id: audiences, body: { secretConfig } })
  const { id: mailchimp } = connectorBySlug('mailchimp')
  await client.addConnectors({ accountId, body: { connectorIds: [mailchimp] } })
  await client.configureConnector({ accountId, id: mailchimp, body: { secretConfig: { apiKey: 'canary-us21' } } })
  const { reply: mapped } = await client.createConnection({
    accountId,
    body: {
      name: 'Mapped',
      srcConnectorId: localFolder.id,
      destConnectorId: audiences,
      srcConnectionConfig: { files: 'people.csv' },
      destConnectionConfig: { advertiserId: '1' },
    },
  })
  const { reply: ranges } = await client.createConnection({
    accountId,
    body: {
      name: 'Ranges',
      srcConnectorId: connectorBySlug('postgresql').id,
      destConnectorId: localFolder.id,
      srcConnectionConfig: { table: 'people', syncMode: 'Incremental', markerColumn: 'changed' },
    },
  })
  await client.updateConnectionStatus({ accountId, id: ranges.id, body: { action: 'activate' } })
  await client.createUpload({
    accountId,
    query: { name: 'customers.csv' },
    body: new Blob(['email\nada@example.com\n']),
  })
  await client.createAlertRule({ body: { name: 'Broken ones', conditions: { connectionBroken: true } } })
  await client.createClient({ body: { name: 'Nightly jobs', scopes: ['accounts:read'] } })
  await client.inviteUser({ body: { email: 'robin@example.com', name: 'Robin Vale', role: 'viewer' } })
  return {
    ...scene,
    draftId: draft.id,
    replacesId: replaces.id,
    mappedId: mapped.id,
    rangesId: ranges.id,
  }
}

/** Every dialog, drawer and menu of the console, with the steps that open it. */
export const dialogs: readonly Dialog[] = [...shell, ...organization, ...connections, ...connectors]
