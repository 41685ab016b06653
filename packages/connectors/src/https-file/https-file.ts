import { defineConnector, secret, select, text } from '@penstock/connector'
import { fileSource } from '../kit/file-store.ts'
import { httpsFilePlatform } from './platform.ts'

const read = () => import('./read.ts')

/** A file on any web server. */
export const httpsFile = defineConnector({
  slug: 'https-file',
  name: 'HTTPS File',
  platform: httpsFilePlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads a file from a web server: CSV, JSON, Excel, Parquet, Avro or DuckDB, compressed with gzip, zstd, bzip2 or not.',
  actions: ['get'],
  notes:
    'After an interruption, reading resumes at the last byte if the server supports range requests, and starts over otherwise. A file without ETag and Last-Modified is read twice, so that parts of two versions are never mixed. At most five redirects are followed; credentials are not sent to another server.',
  tested: 'Our own web server, with and without ranges, without TLS, on the machine that ran the tests.',
  secrets: {
    url: text({
      label: 'URL',
      description: 'URL of the file, or of a folder in which each connection selects a file; with https://',
      required: true,
      binds: ['bearerToken', 'password', 'secretQuery'],
    }),
    authentication: select({
      keepsState: 'credential',
      label: 'Authentication',
      description: 'How requests are authenticated',
      options: ['none', 'bearer token', 'user name and password'],
      labels: { none: 'None', 'bearer token': 'Bearer token', 'user name and password': 'User name and password' },
      default: 'none',
    }),
    bearerToken: secret({
      label: 'Bearer token',
      description: 'Token that is sent in the Authorization header of each request',
      required: true,
      when: { authentication: 'bearer token' },
    }),
    username: text({
      keepsState: 'credential',
      label: 'User name',
      description: 'User of HTTP basic authentication',
      required: true,
      when: { authentication: 'user name and password' },
    }),
    password: secret({
      label: 'Password',
      description: 'Password of this user',
      required: true,
      when: { authentication: 'user name and password' },
    }),
    secretQuery: secret({
      label: 'Secret query',
      description: 'The part of the URL after the question mark, if it is secret, such as a signature',
    }),
  },
  source: fileSource(read, {
    path: text({
      asked: true,
      label: 'Path',
      description: 'Name of a file in the folder of the URL, or a relative path; empty for the URL itself',
    }),
  }),
  check: async (context) => (await read()).check(context),
})
