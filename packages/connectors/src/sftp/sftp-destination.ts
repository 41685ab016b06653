import { defineConnector, text } from '@penstock/connector'
import { usualPartBytes, writeFields } from '@penstock/connector/files/definition'
import { fileDelivery } from '../kit/file-store.ts'
import { sftp } from './platform.ts'
import { signIn } from './sign-in.ts'

const move = () => import('./move.ts')

/** Files on an SFTP server of your choice. */
export const sftpDestination = defineConnector({
  slug: 'sftp-destination',
  name: 'SFTP Destination',
  platform: sftp,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Writes files to a directory on an SFTP server.',
  actions: ['write'],
  notes:
    'Rows may have any columns. The directory must exist; it is not created. Without a host key fingerprint, set the host key check to first-use: each connection then accepts the first key, and later only this one. Each transfer writes one file. Until it is complete, it is hidden and its name ends in .partial; an attempt that continues after a crash begins with a copy of it. A transfer that is cancelled or fails leaves a file with the rows that were accepted.',
  tested:
    'OpenSSH 9.2 from Debian, and a server of SFTP version 3 made with ssh2, both over an unstable connection; servers that violate the protocols of SSH and SFTP.',
  api: { version: 'SFTP version 3 over SSH 2.0', ends: 'no end is announced' },
  servers: ['hostname'],
  secrets: {
    ...signIn,
  },
  destination: {
    fields: {
      path: text({
        asked: true,
        label: 'Path',
        description: 'Directory on the server into which files are written; it must exist',
        required: true,
      }),
      ...writeFields,
    },
    deliver: {
      ...fileDelivery(move, move),
      // Every batch is a part: rows that wait here would learn late that the server is gone.
      batch: () => ({ rowsMax: 20_000, bytesMax: usualPartBytes }),
    },
    discover: { path: async (context) => (await import('./discover.ts')).discover(context, true) },
  },
  check: async (context) => (await move()).check(context),
})
