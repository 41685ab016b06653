import {
  type Check,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type DiscoveredPage,
  type DiscoveryContext,
} from '@penstock/connector'
import { assertConnectivity } from '../../platform-api/call.ts'
import { type Api, openApi } from '../api/api.ts'
import { askCheck } from '../api/ask-check.ts'
import { columnsOf, rowOf } from '../api/records.ts'
import type { ApiDefinition, ApiStream } from '../definition/definition.ts'
import { pageAt } from '../definition/names-page.ts'
import { definitionOf } from '../definition/parse-definition.ts'
import type { TemplateValues } from '../definition/template.ts'
import { type ApiPage, pageReader } from './pages.ts'
import { partitionsOf } from './partitions.ts'
import { spanOf, streamOf, valuesOf, windowsIn } from './plan.ts'

const dayMs = 86_400_000

/** Lists the streams of the definition. */
export async function discoverStreams({ secrets, search, cursor, size }: DiscoveryContext): Promise<DiscoveredPage> {
  const names = Object.keys(definitionOf({ secrets }).streams)
  return pageAt(
    names.filter((name) => name.toLowerCase().includes(search.toLowerCase())),
    cursor,
    size,
    (value) => ({
      value,
      kind: 'table',
    }),
  )
}

/** Lists the columns of a stream: those of the definition, or of its first page. */
export async function discoverStreamColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { settings, search, cursor, size, withSamples } = context
  if (settings.stream === undefined) throw new ConnectorError('invalid_setting', 'Choose a stream first.')
  const definition = definitionOf(context)
  const stream = streamOf(definition, settings.stream)
  const { items } = await firstPage(context, definition, stream)
  const columns = stream.columns ?? columnsOf(items)
  const rows = withSamples ? items.slice(0, 5).map((item) => rowOf(item, columns)) : []
  const found = columns.filter((name) => name.toLowerCase().includes(search.toLowerCase()))
  return pageAt(found, cursor, size, (value) => ({
    value,
    kind: 'column',
    ...(withSamples && { samples: rows.map((row) => row[columns.indexOf(value)] ?? null) }),
  }))
}

/** Asks for the first page of the first stream. */
export const check: Check = checkSteps(
  [
    'connectivity',
    async (context) => {
      openApi(context)
      return assertConnectivity(context, new URL(String(context.secrets.url)).origin)
    },
  ],
  [
    'authentication',
    async (context) => {
      const definition = definitionOf(context)
      if (definition.check) {
        await askCheck(context, definition.check)
        return 'The API answered the request of check.'
      }
      const [name] = Object.keys(definition.streams)
      if (name === undefined) return 'The definition has no check, so the credentials are tried when rows are sent.'
      const { items } = await firstPage(context, definition, streamOf(definition, name))
      return `The first page of the stream ${name} has ${items.length} records.`
    },
  ],
)

/** The first page of the first partition; of a stream with a cursor and no start date, of the last day. */
async function firstPage(
  context: ConnectorContext,
  definition: ApiDefinition,
  stream: ApiStream,
): Promise<Pick<ApiPage, 'items'>> {
  const api = openApi(context)
  const values = await sampleValues(api, context, definition, stream)
  return values ? pageReader(api, stream, values)(undefined) : { items: [] }
}

/**
 * Values for templates in one request: of the first partition and, of a stream with a cursor and no start date, of the last day.
 * `undefined` if there are no partitions. Throws what the requests for the partitions throw.
 */
export async function sampleValues(
  api: Api,
  context: ConnectorContext,
  definition: ApiDefinition,
  stream: ApiStream,
): Promise<TemplateValues | undefined> {
  const untilMs = Date.now()
  const yesterday = new Date(untilMs - dayMs).toISOString().slice(0, 10)
  const full = { settings: { startDate: yesterday, ...context.settings, syncMode: 'Full' } }
  const span = spanOf(full, stream, undefined, untilMs)
  const [partition] = await partitionsOf({ api, definition, span, context: full, sample: true }, stream)
  if (stream.partitions && partition === undefined) return undefined
  return valuesOf(partition, windowsIn(stream, span)[0], untilMs)
}
