import { boolean, column, defineConnector, secret, text } from '@penstock/connector'
import { usualPartBytes } from '@penstock/connector/files/definition'
import { signIn } from '../sftp/sign-in.ts'
import { liveRamp } from './platform.ts'

/** Personal data, matched to people by LiveRamp. */
export const liverampIdMatch = defineConnector({
  slug: 'liveramp-id-match',
  name: 'LiveRamp ID Match and Retrieval',
  platform: liveRamp,
  dataType: 'ID match',
  dataTypeCategory: 'identity management',
  status: 'preview',
  description: 'Leaves files with personal data on the SFTP server of LiveRamp, which matches it to people.',
  actions: ['put'],
  notes:
    'From LiveRamp’s public documents “Formatting Column-Based Files”, “Formatting Identifiers” and “Naming Files for Uploading” (docs.liveramp.com): the header, the columns of names and addresses, and the names of files. To be confirmed with LiveRamp: the user and the folder below /uploads, that the file is mapped as its header says (AUDIENCEKEY, EMAIL1, EMAIL2, PHONE1 and PHONE2 follow LiveRamp’s rule for headers), and that the data is of the United States; for other countries, LiveRamp wants other headers and a private key. Each transfer writes one CSV file, always with the same columns; its name begins with PII. Values are written unchanged: all e-mail addresses of a column must be plain, or all the same digest. Rows by which LiveRamp could match no one are rejected: without an audience key, or without an e-mail address, a phone number and a whole name and address. Until it is complete, a file is hidden and its name ends in .partial. LiveRamp reports nothing back: rows count as accepted when they are on its server. RampIDs are not retrieved: LiveRamp keeps them, and uses them for your audience.',
  tested: 'A server of SFTP version 3 made with ssh2, and the documented layout of files; not LiveRamp itself.',
  api: { version: 'files by SFTP version 3 over SSH 2.0', ends: 'no end is announced' },
  secrets: {
    ...signIn,
    hostname: { ...signIn.hostname, description: 'Name of the SFTP server of LiveRamp', default: 'files.liveramp.com' },
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Not needed for files: client ID for API access',
    }),
    clientSecret: secret({
      label: 'Secret key',
      description: 'Not needed for files: secret key of this client ID',
    }),
  },
  destination: {
    fields: {
      path: text({
        asked: true,
        label: 'Path',
        description: 'Directory below /uploads from which LiveRamp collects the files of the audience',
        required: true,
      }),
      gzip: boolean({
        keepsState: 'transport',
        label: 'Compress with gzip',
        description: 'Compress files. Their names then end in .csv.gz',
        default: false,
      }),
    },
    records: {
      AUDIENCEKEY: column({ description: 'Your own ID of the person, which no one else has', required: true }),
      FIRSTNAME: column({ description: 'First name, without middle names' }),
      LASTNAME: column({ description: 'Last name' }),
      ADDRESS1: column({ description: 'Street and house number' }),
      ADDRESS2: column({ description: 'Further line of the address' }),
      CITY: column({ description: 'City' }),
      STATE: column({ description: 'State' }),
      ZIP: column({ description: 'ZIP code, with five or nine digits and no hyphen' }),
      EMAIL1: column({ description: 'E-mail address' }),
      EMAIL2: column({ description: 'Another e-mail address' }),
      PHONE1: column({ description: 'Phone number' }),
      PHONE2: column({ description: 'Another phone number' }),
    },
    deliver: {
      batch: () => ({ rowsMax: 20_000, bytesMax: usualPartBytes }),
      open: async (context) => (await import('./identifier-files.ts')).write(context),
      rejectionsOf: async () => (await import('./identifier-files.ts')).rejectedBeforeWriting,
      inspect: async (context) => (await import('../sftp/move.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('../sftp/move.ts')).check(context),
})
