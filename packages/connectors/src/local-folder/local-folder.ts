import { defineConnector, text } from '@penstock/connector'
import { fileBatch, readFields, whyNotPartsOfFiles, writeFields } from '@penstock/connector/files/definition'
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
      description: 'Absolute path of a folder that the operator allows, or of one within it; it must exist',
      required: true,
    }),
  },
  source: {
    fields: {
      files: text({
        label: 'Files',
        description:
          'Name of a file in the folder, or a pattern in which * matches any characters of a name: people.csv, exports/*.csv.gz',
        required: true,
      }),
      ...readFields,
    },
    open: async (context) => (await import('./read.ts')).open(context),
    columnsByReading: true,
    discover: {
      files: async (context) => (await import('./discover.ts')).discoverFiles(context),
      sheet: async (context) => (await import('./read.ts')).discoverWorkbook(context),
      columns: async (context) => (await import('./read.ts')).discoverColumns(context),
    },
  },
  destination: {
    fields: {
      subfolder: text({
        label: 'Subfolder',
        description:
          'Subfolder in which files are written; it is created if it is missing. By default the folder itself',
      }),
      prefix: text({ label: 'Prefix', description: 'Prefix of the names of written files' }),
      ...writeFields,
    },
    deliver: {
      batch: fileBatch,
      whyNotParts: whyNotPartsOfFiles,
      open: async (context) => (await import('./write.ts')).open(context),
      rejectionsOf: async (context) => (await import('@penstock/connector/files')).fileRejections(context),
      inspect: async (context) => (await import('./check.ts')).inspect(context),
    },
    discover: { subfolder: async (context) => (await import('./discover.ts')).discoverFolders(context) },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
