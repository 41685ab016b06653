import { defineConnector, text } from '@penstock/connector'
import { fileSource } from '../kit/file-store.ts'
import { sftp } from './platform.ts'
import { signIn } from './sign-in.ts'

const move = () => import('./move.ts')

/** Files of an SFTP server of your choice. */
export const sftpSource = defineConnector({
  slug: 'sftp-source',
  name: 'SFTP Source',
  platform: sftp,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads files from an SFTP server: CSV, JSON, Excel, Parquet, Avro or DuckDB, compressed with gzip, zstd, bzip2 or not.',
  actions: ['get'],
  notes:
    'For a directory, the files directly in it are read in the order of their names, without hidden ones. All files should have the same columns. If a file changes while it is being read, the transfer fails. Without a host key fingerprint, set the host key check to first-use: each connection then accepts the first key, and later only this one. A directory may have 100,000 entries, and an encrypted OpenSSH key at most 1,024 rounds.',
  tested:
    'OpenSSH 9.2 from Debian, and a server of SFTP version 3 made with ssh2, both over an unstable connection; servers that violate the protocols of SSH and SFTP.',
  api: { version: 'SFTP version 3 over SSH 2.0', ends: 'no end is announced' },
  servers: ['hostname'],
  secrets: {
    ...signIn,
  },
  source: fileSource(
    move,
    {
      path: text({ asked: true, label: 'Path', description: 'A file on the server, or a directory', required: true }),
      pattern: text({
        asked: true,
        label: 'Pattern',
        description: 'Files of a directory to read, such as *.csv; * matches any characters, ? matches one',
      }),
    },
    { path: async (context) => (await import('./discover.ts')).discover(context) },
  ),
  check: async (context) => (await move()).check(context),
})
