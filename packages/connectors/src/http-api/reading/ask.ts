import { type AskContext, type Asked, asConnectorError, ConnectorError } from '@penstock/connector'
import { explained, openApi } from '../api/api.ts'
import { columnsOf, rowOf } from '../api/records.ts'
import { definitionOf } from '../definition/parse-definition.ts'
import { sampleValues } from './discover.ts'
import { pageOf, requestOf } from './pages.ts'
import { streamOf } from './plan.ts'

/** Rows of an answer that are given, at most. */
const rowsMax = 100

/**
 * Sends the request of a stream once, for the page that is asked for. Throws `invalid_setting` if the stream is none of the definition,
 * `unexpected_response` if its partitions have no value, and what the network throws.
 */
export async function ask(context: AskContext): Promise<Asked> {
  const definition = definitionOf(context)
  const stream = streamOf(definition, context.settings.stream)
  const api = openApi(context)
  const isAddress = stream.pages?.by === 'link' || stream.pages?.by === 'url'
  const page = context.page !== undefined && isAddress ? api.nextAddress(stream, context.page) : context.page
  const isNumber = stream.pages?.by === 'page' || stream.pages?.by === 'offset'
  if (page !== undefined && isNumber && !/^\d{1,15}$/.test(page)) {
    throw new ConnectorError('invalid_setting', 'The page is not one of this stream; begin with the first one.')
  }
  const values = await sampleValues(api, context, definition, stream)
  if (!values) {
    throw new ConnectorError(
      'unexpected_response',
      'The other stream has no value for a partition, so nothing is asked.',
    )
  }
  const startMs = performance.now()
  const { url, answer } = await api.send(stream, requestOf(stream, page, values))
  const asked: Asked = {
    request: { method: stream.method, url },
    answer: { ...answer, durationMs: performance.now() - startMs },
  }
  try {
    return await explained(async () => {
      const usable = api.usable(stream, answer)
      if (!usable) return { ...asked, columns: [...(stream.columns ?? [])], rows: [] }
      const { items, next } = await pageOf(api, stream, usable, { cursor: page, values })
      const columns = stream.columns ?? columnsOf(items)
      return { ...asked, columns, rows: items.slice(0, rowsMax).map((item) => rowOf(item, columns)), next }
    })
  } catch (error) {
    const connectorError = asConnectorError(error)
    if (!connectorError) throw error
    return { ...asked, error: connectorError }
  }
}
