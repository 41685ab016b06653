import { type ConnectorContext, ConnectorError, checkSteps, type Inspect, inspectBy } from '@penstock/connector'
import { readOptionsOf } from '@penstock/connector/files'
import { checkReading } from '../object-stores/check-reading.ts'
import { objectNameOf } from '../object-stores/place.ts'
import { connectToDropbox, openDropbox } from './dropbox-client.ts'
import { dropboxFiles } from './dropbox-files.ts'
import { pathIn } from './paths.ts'

async function signIn(context: ConnectorContext): Promise<string> {
  await openDropbox(context).ask('users/get_current_account', null)
  return 'Dropbox accepts the credentials.'
}

/**
 * Begins an upload, which is never finished and which Dropbox forgets, and looks whether the folder of the file is one.
 * Nothing can be seen of that.
 */
async function mayWrite(context: ConnectorContext): Promise<string> {
  const client = openDropbox(context)
  await client.send('files/upload_session/start', { close: false }, Buffer.from('check'))
  const probe = { startedTime: new Date().toISOString(), transferId: 'check' }
  const name = objectNameOf(pathIn(context.settings.outputPath), probe, 'csv')
  const files = dropboxFiles(client)
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    if (await files.find(name.slice(0, at))) {
      throw new ConnectorError(
        'invalid_address',
        'A folder of the output path is a file. Choose another path, or end it like the name of a file, such as .csv.',
      )
    }
  }
  return 'The app may write files.'
}

async function permission(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.path !== undefined) {
    return checkReading(dropboxFiles(openDropbox(context)), pathIn(settings.path), readOptionsOf(settings).format)
  }
  if (settings.fileFormat !== undefined) return mayWrite(context)
  return 'What the app may do is checked when a connection uses it.'
}

export const check = checkSteps(
  ['connectivity', connectToDropbox],
  ['authentication', signIn],
  ['permissions', permission],
)

/** Looks whether a file can be written where the settings say. */
export const inspect: Inspect = inspectBy(mayWrite)
