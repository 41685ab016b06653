import { defineConnector, text } from '@penstock/connector'
import { writeFields } from '@penstock/connector/files/definition'
import { fileDelivery, fileSource } from '../kit/file-store.ts'
import { localFolderPlatform } from './platform.ts'

/** Files in a folder of the machine that this service runs on. */
export const localFolder = defineConnector({
  slug: 'local-folder',
  name: 'Local folder',
  platform: localFolderPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads and writes files in a folder of the machine that this service runs on.',
  actions: ['read', 'write'],
  notes:
    'Only folders that the operator of this service allows can be used. Files that are read together must have the same columns. Each transfer writes a new file, which gets its name when it is complete. A transfer that is cancelled or fails leaves a file with the rows that were accepted.',
  tested: 'The file system of the machine that ran the tests, which was Linux.',
  secrets: {
    folder: text({
      label: 'Folder',
      description: 'Absolute path of an existing folder that the operator allows, or of a folder in it',
      required: true,
    }),
  },
  source: fileSource(
    () => import('./read.ts'),
    {
      files: text({
        label: 'Files',
        description:
          'Name of a file in the folder, or a pattern in which * matches any characters: people.csv, exports/*.csv.gz',
        required: true,
      }),
    },
    { files: async (context) => (await import('./discover.ts')).discoverFiles(context) },
  ),
  destination: {
    fields: {
      subfolder: text({
        asked: true,
        label: 'Subfolder',
        description:
          'Subfolder in which files are written; it is created if it is missing. By default the folder itself',
      }),
      prefix: text({ label: 'Prefix', description: 'Prefix for the names of written files' }),
      ...writeFields,
    },
    deliver: fileDelivery(
      () => import('./write.ts'),
      () => import('./check.ts'),
    ),
    discover: { subfolder: async (context) => (await import('./discover.ts')).discoverFolders(context) },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
