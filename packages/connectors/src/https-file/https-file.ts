import { defineConnector, secret, select, text } from '@penstock/connector'
import { readFields } from '@penstock/connector/files/definition'
import { httpsFilePlatform } from './platform.ts'

/** A file on any web server. */
export const httpsFile = defineConnector({
  slug: 'https-file',
  name: 'HTTPS File',
  platform: httpsFilePlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads a file from a web server: CSV, NDJSON or Parquet, compressed with gzip or not.',
  actions: ['get'],
  notes:
    'After a break, reading resumes at the last byte where the server answers range requests, and starts over otherwise. A file that comes without ETag and Last-Modified is read twice, first to know its content, so that no parts of two files are taken for one. At most five redirects are followed; credentials are not sent on to another server.',
  tested: 'A web server of ours, with and without ranges, without TLS and on the machine of the tests.',
  secrets: {
    url: text({
      label: 'URL',
      description: 'Address of the file, or of a folder in which connections name a file; with https://',
      required: true,
      binds: ['bearerToken', 'password', 'secretQuery'],
    }),
    authentication: select({
      label: 'Authentication',
      description: 'How requests are authenticated',
      options: ['none', 'bearer token', 'user name and password'],
      default: 'none',
    }),
    bearerToken: secret({
      label: 'Bearer token',
      description: 'Token that each request carries in its Authorization header',
      required: true,
      when: { authentication: 'bearer token' },
    }),
    username: text({
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
      description: 'What follows the question mark of the URL where that is secret, such as a signature',
    }),
  },
  source: {
    fields: {
      path: text({
        label: 'Path',
        description: 'Name of a file in the folder of the URL, or a path from there; empty for the URL itself',
      }),
      ...readFields,
    },
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./read.ts')).check(context),
})
