import { boolean, defineConnector, secret, text } from '@penstock/connector'
import { writeFields } from '@penstock/connector/files/definition'
import { fileDelivery, fileSource } from '../kit/file-store.ts'
import { authorization } from './authorization.ts'
import { dropboxPlatform } from './platform.ts'

const files = () => import('./files.ts')

const teamSpace = boolean({
  label: 'Team space',
  description: 'Paths start at the team space instead of the folder of the member',
  default: false,
})

/** Files in a Dropbox. */
export const dropbox = defineConnector({
  slug: 'dropbox',
  name: 'Dropbox',
  platform: dropboxPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads CSV, JSON, Excel, Parquet, Avro and DuckDB files from a Dropbox, and saves the records of a transfer there as a file.',
  actions: ['read', 'write'],
  notes:
    'For a folder, only the files directly in it are read, in the order of their names. If a file is replaced while it is being read, the transfer fails. A written file appears when it is complete. An existing file with the same name is replaced; Dropbox keeps its previous version. If only a folder is given, the name consists of the time and the ID of the transfer. Until the file is complete, its last parts are in a hidden folder next to it, whose name begins with .penstock; so each part is sent twice. As the time of its last change, the file has the time at which the transfer started. A transfer that is cancelled or fails leaves a file with the rows that were accepted, with the time and the transfer in its name.',
  tested: 'Our own test server, which follows the published reference of version 2 of the API; not Dropbox itself.',
  api: { version: 'Dropbox API v2', ends: 'no end is announced' },
  authorization,
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Key of the app that you registered at Dropbox',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that app, from the same page',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token from the OAuth sign-in to Dropbox',
      required: true,
    }),
  },
  source: fileSource(
    files,
    {
      path: text({
        asked: true,
        label: 'Path',
        description: 'Folder, file or start of file names to read, such as /exports/people-',
        required: true,
      }),
      teamSpace,
    },
    { path: async (context) => (await files()).discover(context, 'path') },
  ),
  destination: {
    fields: {
      outputPath: text({
        asked: true,
        label: 'Output path',
        description:
          'Where the file is written: a folder, which is created if it is missing, or the name of a file; {{date}} is replaced by the date, and {{yyyy}}, {{MM}}, {{dd}}, {{HH}} by its parts. By default the top of the Dropbox, or of the folder of the app',
      }),
      teamSpace,
      ...writeFields,
    },
    deliver: fileDelivery(files, () => import('./check.ts')),
    discover: { outputPath: async (context) => (await files()).discover(context, 'outputPath', true) },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
