import { defineConnector, secret, select, text } from '@penstock/connector'
import { readFields } from '@penstock/connector/files/definition'
import { sftp } from './platform.ts'
import { hostKey, server } from './sign-in.ts'

/** Files of an SFTP server of your choice. */
export const sftpSource = defineConnector({
  slug: 'sftp-source',
  name: 'SFTP Source',
  platform: sftp,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads files from an SFTP server: CSV, JSON, Excel, Parquet or Avro, compressed with gzip or zstd or not.',
  actions: ['get'],
  notes:
    'For a directory, the files directly in it are read in the order of their names, without hidden ones. All files should have the same columns. If a file changes while it is being read, the transfer fails. Without a host key fingerprint, set the host key check to first-use: each connection then accepts the first key, and later only this one. A directory may have 100,000 entries, and an encrypted OpenSSH key at most 1,024 rounds.',
  tested:
    'OpenSSH 9.2 from Debian, and a server of SFTP version 3 made with ssh2, both over an unstable connection; servers that violate the protocols of SSH and SFTP.',
  secrets: {
    ...server(['sshPrivateKey', 'passphrase', 'password']),
    authentication: select({
      label: 'Authentication',
      description: 'How the user signs in',
      options: ['private key', 'password'],
      labels: { 'private key': 'Private key', password: 'Password' },
      default: 'private key',
    }),
    sshPrivateKey: secret({
      label: 'SSH private key',
      description: 'Private key of the user, in OpenSSH or PEM format',
      required: true,
      when: { authentication: 'private key' },
    }),
    passphrase: secret({
      label: 'Passphrase',
      description: 'Passphrase of the private key, if it is encrypted',
      when: { authentication: 'private key' },
    }),
    password: secret({
      label: 'Password',
      description: 'Password of the user',
      required: true,
      when: { authentication: 'password' },
    }),
    // A private key proves who signs in and is never sent.
    ...hostKey(['password']),
  },
  source: {
    fields: {
      path: text({ label: 'Path', description: 'A file on the server, or a directory', required: true }),
      pattern: text({
        label: 'Pattern',
        description: 'Which files of a directory are read, such as *.csv; * matches any characters, ? matches one',
      }),
      ...readFields,
    },
    open: async (context) => (await import('./move.ts')).read(context),
    discover: {
      path: async (context) => (await import('./discover.ts')).discover(context),
      sheet: async (context) => (await import('./move.ts')).discoverWorkbook(context),
    },
  },
  check: async (context) => (await import('./move.ts')).check(context),
})
