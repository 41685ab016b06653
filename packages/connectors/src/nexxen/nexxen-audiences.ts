import { boolean, column, defineConnector, number, secret, text } from '@penstock/connector'
import { usualPartBytes } from '@penstock/connector/files/definition'
import { hostKey } from '../sftp/sign-in.ts'
import { nexxen } from './platform.ts'

/** Segment files for Nexxen, left on its SFTP server. */
export const nexxenAudiences = defineConnector({
  slug: 'nexxen-audiences',
  name: 'Nexxen Audiences',
  platform: nexxen,
  dataType: 'custom file audiences',
  dataTypeCategory: 'audience activation',
  description: 'Uploads files with the segments of each user to the SFTP server of Nexxen.',
  actions: ['put'],
  notes:
    'Nexxen must first approve the data contract: its configuration and taxonomy files. Each transfer writes one tab-separated file without a header: the identifier, then the category IDs, separated by commas. Its name consists of the data provider ID, the time and the transfer, and ends in .txt or .txt.gz. If the contract requires another name, ask Nexxen to accept this one. A file contains identifiers of one kind, but IDFA and AAID may be mixed: use a separate connection for each other kind. Identifiers are written unchanged, so e-mail addresses must already be hashed; rows with plain ones are rejected. Until it is complete, a file is hidden and its name ends in .partial. A transfer without rows leaves no file. Nexxen collects new files every hour and reports nothing back: rows count as accepted when they are on its server. Without a host key fingerprint, set the host key check to first-use: each connection then accepts the first key, and later only this one.',
  tested:
    'A server of SFTP version 3 made with ssh2, over an unstable connection, and the known file layout of Nexxen; not Nexxen itself.',
  api: { version: 'files by SFTP version 3 over SSH 2.0', ends: 'no end is announced' },
  secrets: {
    hostname: text({
      label: 'Hostname',
      description: 'Name of the SFTP server of Nexxen',
      required: true,
      binds: ['sshPrivateKey'],
    }),
    port: number({
      label: 'Port',
      description: 'Port on which the server listens',
      required: true,
      min: 1,
      max: 65535,
      binds: ['sshPrivateKey'],
    }),
    username: text({
      keepsState: 'credential',
      label: 'Username',
      description: 'User name that Nexxen gave you',
      required: true,
    }),
    sshPrivateKey: secret({
      label: 'SSH private key',
      description: 'Private key of the user, without a passphrase',
      required: true,
    }),
    ...hostKey([]),
  },
  destination: {
    fields: {
      path: text({
        asked: true,
        label: 'Path',
        description: 'Directory on the server that Nexxen assigned to you',
        required: true,
      }),
      dataProviderId: text({
        label: 'Data provider ID',
        description: 'Data provider ID from Nexxen; file names begin with it',
        required: true,
      }),
      gzip: boolean({
        keepsState: 'transport',
        label: 'Compress with gzip',
        description: 'Compress files. Their names then end in .txt.gz',
        default: false,
      }),
    },
    records: {
      userIdentifier: column({
        description: 'Identifier of the person, the first value of each line; all in a file are of the same kind',
        required: true,
        identifiers: ['Cookie', 'IDFA', 'AAID', 'IP', 'HEM', 'UID2.0', 'RampID', 'LUID', 'ID5'],
      }),
      categoryIds: column({
        addresses: true,
        description:
          'Segments of the person: IDs from the lowest level of the taxonomy, separated by commas; the second value of each line',
        required: true,
      }),
    },
    deliver: {
      batch: () => ({ rowsMax: 20_000, bytesMax: usualPartBytes }),
      open: async (context) => (await import('./segment-files.ts')).write(context),
      rejectionsOf: async () => (await import('./segment-files.ts')).rejectedBeforeWriting,
      inspect: async (context) => (await import('../sftp/move.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('../sftp/move.ts')).check(context),
})
