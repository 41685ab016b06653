import { type ConnectorContext, checkSteps, type Inspect, inspectBy } from '@penstock/connector'
import { readOptionsOf } from '@penstock/connector/files'
import { discard } from '../object-stores/answers.ts'
import { checkReading } from '../object-stores/check-reading.ts'
import { objectNameOf } from '../object-stores/place.ts'
import { azureBlobs } from './azure-blobs.ts'
import { azureBlocks } from './azure-blocks.ts'
import { type AzureClient, connectToAzure, makeAzureClient } from './azure-client.ts'
import { containerOf, type Located, locate } from './container.ts'

const checkConnectivity = async (context: ConnectorContext): Promise<string> =>
  `${await connectToAzure(context, containerOf(context))} answers.`

/** Distinguishes a signature that does not allow to list from one that is not accepted. */
async function signIn(context: ConnectorContext): Promise<string> {
  const container = containerOf(context)
  const query = { ...(container.name === '' ? {} : { restype: 'container' }), comp: 'list', maxresults: '1' }
  const takes = /^Authorization(Permission|ResourceType)Mismatch$/
  await discard(await makeAzureClient(context, container).request({ query, permission: 'list', takes }))
  return 'The credentials are accepted.'
}

const later = 'What the credentials allow is checked when a connection has a container.'

/** The location in a setting. Without the setting: the container of the credentials, if they are for one container. */
function located(context: ConnectorContext, given: unknown, label: string): Located | undefined {
  if (given !== undefined) return locate(context, given, label)
  const container = containerOf(context)
  return container.name === '' ? undefined : { container, path: '' }
}

async function mayRead(context: ConnectorContext): Promise<string> {
  const { settings } = context
  const found = located(context, settings.blobUri, 'The blob URI')
  if (!found) return later
  return checkReading(azureBlobs(clientOf(context, found)), found.path, readOptionsOf(settings).format)
}

/** Sends one block and does not commit it. That needs the same rights as a transfer, and nothing becomes visible. */
async function mayWrite(context: ConnectorContext): Promise<string> {
  const found = located(context, context.settings.outputPath, 'The output path')
  if (!found) return later
  const probe = { startedTime: new Date().toISOString(), transferId: 'check' }
  const folder = found.path.slice(0, found.path.lastIndexOf('/') + 1)
  const blob = objectNameOf(folder, probe, 'csv')
  const sink = azureBlocks(clientOf(context, found), { blob, contentType: 'text/csv', transferId: 'check' })
  await sink.writePart({ number: 0, offset: 0, bytes: Buffer.from('check') }, [])
  return `Blobs can be written to the container ${found.container.name}.`
}

const clientOf = (context: ConnectorContext, { container }: Located): AzureClient => makeAzureClient(context, container)

/** Looks whether blobs can be written where the settings say. */
export const inspect: Inspect = inspectBy(mayWrite)

export const checkSource = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  ['permissions', mayRead],
)
export const checkDestination = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  ['permissions', mayWrite],
)
