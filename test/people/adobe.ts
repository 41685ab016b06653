import { gunzipSync } from 'node:zlib'
import { startS3TestServer } from '../../packages/connectors/test/s3-server.ts'
import { type Platform, type Started, saying, whole } from './compare.ts'
import { plain } from './rules.ts'

/** Files of traits, in a bucket. */
export const adobe: Platform = {
  slug: 'adobe-audience-manager',
  secrets: {},
  mapping: { userId: 'device_id', traits: { value: '77' }, removedTraits: null },
  start,
  origins: [],
  // Identifiers of an own data source go as they are.
  wants: ({ device }) => whole({ userId: device.kind === 'broken' ? device.cell : plain(device, () => device.cell) }),
  reads: () => [],
}

async function start(): Promise<Started> {
  const bucket = 'inbound'
  const s3 = await startS3TestServer(
    [bucket],
    [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
  )
  return {
    url: '',
    received: [],
    secrets: s3.secrets,
    settings: { outputPath: `s3://${bucket}/acme`, dataSourceId: '478' },
    files: async () => {
      const day = new Date().toISOString().slice(0, 10)
      const names = await s3.names(bucket, `acme/date=${day}/`)
      const texts = await Promise.all(names.map(async (name) => gunzipSync(await s3.read(bucket, name)).toString()))
      const lines = texts.flatMap((text) => text.split('\n').slice(0, -1))
      return lines.map((line) => saying({ userId: line.split('\t')[0] }))
    },
    close: () => s3.close(),
  }
}
