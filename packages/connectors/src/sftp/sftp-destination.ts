import { defineConnector, number, secret, text } from '@penstock/connector'
import { sftp } from './platform.ts'

/** Files on an SFTP server of your choice. */
export const sftpDestination = defineConnector({
  slug: 'sftp-destination',
  name: 'SFTP Destination',
  platform: sftp,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Writes files to a directory on an SFTP server of your choice.',
  actions: ['write'],
  notes:
    'Rows may have any columns. The directory is not created, it has to be there. Sign-in is by key alone, never by password. Failures that pass are tried again, and large files may be sent in parts.',
  secrets: {
    hostname: text({ label: 'Hostname', description: 'Name or IP address of the server', required: true }),
    port: number({
      label: 'Port',
      description: 'Port on which the server listens',
      required: true,
      default: 22,
      min: 1,
      max: 65535,
    }),
    username: text({ label: 'Username', description: 'User who signs in to the server', required: true }),
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
        description: 'Directory on the server into which files are written; it must exist',
        required: true,
      }),
    },
  },
})
