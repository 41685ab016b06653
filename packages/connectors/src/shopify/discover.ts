import type { Discovered, DiscoveredPage, DiscoveryContext, Row } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { readSample } from './read.ts'
import { openShopify } from './sign-in.ts'
import { columnsOf, streamOf } from './stream-query.ts'
import { typesOf } from './stream-rows.ts'

/** The columns of a stream, with some of their values if the caller is allowed to read records. */
export async function discoverStreamColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { stream } = streamOf(context.settings)
  const types = typesOf(stream)
  const rows: Row[] = []
  if (context.withSamples) for await (const chunk of readSample(openShopify(context), stream)) rows.push(...chunk.rows)
  const columns = columnsOf(stream).map((value, at): Discovered => {
    const type = types[at]?.kind
    const isKey = value === 'id' || stream.columns.length === 1
    return {
      value,
      kind: 'column',
      ...(type !== undefined && { type }),
      ...(isKey && { key: true }),
      ...(context.withSamples && { samples: rows.map((row) => row[at] ?? null) }),
    }
  })
  return pageOfAll(columns, context)
}
