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
  description: 'Puts files that say which user belongs to which segments on the SFTP server of Nexxen.',
  actions: ['put'],
  notes:
    'Nexxen must first approve the data contract, that is its configuration and taxonomy files. Each transfer writes one file: tab-separated, without a header, the identifier and then the category IDs with commas between. Its name is the data provider ID, the time and the transfer, and ends in .txt or .txt.gz; where the contract demands another name, ask Nexxen to accept this one. A file holds identifiers of one kind, though IDFA and AAID may be together: use a connection for each other kind. Identifiers are written as they come, so e-mail addresses must be hashed before, and rows with plain ones are rejected. A file is hidden, with .partial at its end, until it is whole; a transfer without a row leaves none. Nexxen collects new files every hour and reports nothing back here: rows are accepted once they are on its server. Without a host key fingerprint, set the host key check to first-use: then each connection accepts the first key and later no other.',
  tested:
    'A server of plain SFTP 3 made with ssh2, over a connection that breaks, and the file layout that is known of Nexxen; not Nexxen itself.',
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
    username: text({ label: 'Username', description: 'User name that Nexxen gave you', required: true }),
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
        label: 'Path',
        description: 'Directory on the server that Nexxen set aside for you',
        required: true,
      }),
      dataProviderId: text({
        label: 'Data provider ID',
        description: 'Number that Nexxen gave you as a data provider; names of files begin with it',
        required: true,
      }),
      gzip: boolean({
        label: 'Compress with gzip',
        description: 'Whether files are compressed; their names then end in .txt.gz',
        default: false,
      }),
    },
    records: {
      userIdentifier: column({
        description: 'Who it is; written first in the row, and of the same kind throughout a file',
        required: true,
        identifiers: ['Cookie', 'IDFA', 'AAID', 'IP', 'HEM', 'UID2.0', 'RampID', 'LUID', 'ID5'],
      }),
      categoryIds: column({
        description:
          'Segments of the person: IDs from the lowest level of the taxonomy with commas between; written second',
        required: true,
      }),
    },
    deliver: {
      batch: () => ({ rowsMax: 20_000, bytesMax: usualPartBytes }),
      open: async (context) => (await import('./segment-files.ts')).write(context),
      inspect: async (context) => (await import('../sftp/move.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('../sftp/move.ts')).check(context),
})
