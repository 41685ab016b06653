import { ConnectorError, secret, text, type Values } from '@penstock/connector'
import { filePreset } from '../kit/file-preset.ts'
import { theTradeDesk } from './platform.ts'

/** The raw event data stream (REDS) of The Trade Desk, as files in Amazon S3. */
export const theTradeDeskReds = filePreset({
  slug: 'the-trade-desk-reds',
  name: 'The Trade Desk Raw Event Data Stream',
  platform: theTradeDesk,
  dataType: 'raw events data stream',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description:
    'Reads the log of individual events of The Trade Desk from Amazon S3: impressions, clicks and video events.',
  notes:
    'Known in public: The Trade Desk delivers the streams to Amazon S3 once an hour, as tab-separated files compressed with gzip. To be confirmed with The Trade Desk: the bucket, the folder of each stream, the keys, and the columns in their order, which its partner portal has for each version of a stream; enter them in the connection. Use a connection for each stream. A transfer reads the files whose names come after the last one that was read, with their folders, so that the names must be in the order of time. A file that arrives later under an earlier name is not read.',
  tested: 'An S3 server from npm, fauxqs 2.4.1, with files of such a layout; not The Trade Desk itself.',
  api: { version: 'files in Amazon S3, by its REST API of 1 March 2006', ends: 'no end is announced' },
  secrets: {
    apiToken: secret({
      label: 'Token',
      description: 'Not needed for files: API token that you created in the developer portal of The Trade Desk',
    }),
  },
  source: {
    fields: {
      columns: text({
        label: 'Columns',
        description: 'Names of the columns of the stream in the order of the files, separated by commas',
        required: true,
      }),
    },
    layout: (settings) => ({ delimiter: 'tab', columns: columnsOf(settings) }),
    names: /^[^._]/,
    order: (name) => name,
  },
})

/** The names of the columns that a connection has. Throws `invalid_setting` if one is missing or is there twice. */
function columnsOf({ columns }: Values): string[] {
  const names = String(columns ?? '')
    .split(',')
    .map((name) => name.trim())
  if (names.every((name) => name !== '') && new Set(names).size === names.length) return names
  throw new ConnectorError('invalid_setting', 'The columns must be different names, separated by commas.')
}
