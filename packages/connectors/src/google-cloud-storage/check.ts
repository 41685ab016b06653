import { type ConnectorContext, ConnectorError, checkSteps, type Inspect, inspectBy } from '@penstock/connector'
import { textOf } from '../object-stores/answers.ts'
import { placeOf } from '../object-stores/place.ts'
import { parseObject } from '../platform-api/json.ts'
import { accountOf, connectToGcs, makeGcsClient } from './gcs-client.ts'

const checkConnectivity = async (context: ConnectorContext): Promise<string> =>
  `${await connectToGcs(context)} answers.`

async function signIn(context: ConnectorContext): Promise<string> {
  const account = accountOf(context)
  await account.token()
  return `Google accepts the key of ${account.email}.`
}

/** Asks Google which permissions the service account has in the bucket. This reads and writes nothing. */
async function permission(
  context: ConnectorContext,
  uri: unknown,
  label: string,
  needed: readonly string[],
): Promise<string> {
  if (uri === undefined) return 'What the service account may do is checked when a connection has a bucket.'
  const client = makeGcsClient(context, placeOf(uri, 'gs', label).bucket)
  const path = `/iam/testPermissions?${needed.map((name) => `permissions=${name}`).join('&')}`
  const held = parseObject(await textOf(await client.request({ path, permission: needed.join(', ') }))).permissions
  const missing = needed.filter((name) => !Array.isArray(held) || !held.includes(name))
  if (missing.length === 0) return `The service account may do all that is needed in the bucket ${client.bucket}.`
  const message = `The service account lacks permissions in the bucket ${client.bucket}: ${missing.join(', ')}. Grant it a role that has them, such as Storage Object User.`
  throw new ConnectorError('permission_denied', message)
}

export const checkSource = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  [
    'permissions',
    (context) =>
      permission(context, context.settings.bucketUri, 'The bucket URI', [
        'storage.objects.list',
        'storage.objects.get',
      ]),
  ],
)

const mayWrite = (context: ConnectorContext): Promise<string> =>
  permission(context, context.settings.outputPath, 'The output path', [
    'storage.objects.create',
    'storage.objects.get',
    'storage.objects.delete',
  ])

export const checkDestination = checkSteps(
  ['connectivity', checkConnectivity],
  ['authentication', signIn],
  ['permissions', mayWrite],
)

/** Looks whether objects can be written where the settings say. */
export const inspect: Inspect = inspectBy(mayWrite)
