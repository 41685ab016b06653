import { column, defineConnector, number, secret, text } from '@penstock/connector'
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
    'Nexxen must first approve the data contract, that is its configuration and taxonomy files. Files are tab-separated without a header and end in .txt, .gz or .zip; IDFA and AAID may stand in one file. Nexxen collects new files every hour.',
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
        description: 'Number that Nexxen gave you as a data provider',
        required: true,
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
  },
})
