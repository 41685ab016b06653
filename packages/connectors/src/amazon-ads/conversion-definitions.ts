import type { ConnectorContext } from '@penstock/connector'
import type { EventDestination } from '../kit/event-facts.ts'
import { isObject, type JsonObject, listIn, textIn } from '../platform-api/json.ts'
import { pagesOf } from '../platform-api/polling.ts'
import type { Read } from '../platform-api/rows/events.ts'
import { openAmazonAds } from './amazon-api.ts'
import { conversionsApi } from './api.ts'

/** A conversion that an advertiser has defined; events are imported under one. */
type ConversionDefinition = {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly source: string
}

const mediaType = 'application/vnd.dspconversiondefinition.v1+json'

/** Reads all conversion definitions of the advertiser account. */
export async function listDefinitions(context: ConnectorContext): Promise<ConversionDefinition[]> {
  const client = await openAmazonAds(context, conversionsApi(context))
  const definitions: ConversionDefinition[] = []
  const read = async (nextToken: string | undefined) => {
    const { json } = await client.askObject({
      path: '/list',
      method: 'POST',
      repeatable: true,
      headers: { accept: mediaType, 'content-type': mediaType },
      body: { maxResults: 100, ...(nextToken === undefined ? {} : { nextToken }) },
    })
    return { items: listIn(json.conversionDefinitions), next: textIn(json.nextToken) }
  }
  for await (const { items } of pagesOf(read)) {
    for (const item of items.filter(isObject)) {
      const id = textIn(item.conversionDefinitionId)
      if (id === undefined) continue
      const [name, type, source] = [item.name, item.conversionType, item.source].map((value) => textIn(value) ?? '')
      definitions.push({ id, name: name ?? '', type: type ?? '', source: source ?? '' })
    }
  }
  return definitions
}

/**
 * Creates the function that finds the definition of an event: the definition that the row names, else the only one of its
 * source and type, or of several the one with its name.
 */
export const definitionFinder: NonNullable<EventDestination['lookUp']> = async (context) => {
  const definitions = await listDefinitions(context)
  return (event) => (event.conversionDefinitionId === undefined ? withDefinition(event, definitions) : { read: event })
}

function withDefinition(event: JsonObject, definitions: readonly ConversionDefinition[]): Read<JsonObject> {
  const { '@source': source, '@type': type, '@name': name } = event
  const found = definitions.filter((definition) => definition.source === source && definition.type === type)
  const [only, another] = found.length > 1 ? found.filter((definition) => definition.name === name) : found
  if (only !== undefined && another === undefined) return { read: { ...event, conversionDefinitionId: only.id } }
  const reason =
    found.length === 0
      ? 'The advertiser has no conversion definition of this source and type; create one in its Events Manager.'
      : 'The advertiser has several conversion definitions of this source and type; map conversionDefinitionId, or eventName with the name of one.'
  return { wrong: reason, field: 'conversionType' }
}
