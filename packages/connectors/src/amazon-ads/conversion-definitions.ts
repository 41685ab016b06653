import type { ConnectorContext } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, listIn, textIn } from '../platform-api/json.ts'
import { pagesOf } from '../platform-api/polling.ts'
import { clientIdOf } from './amazon-api.ts'

/** A conversion that an advertiser has defined; events are imported under one. */
export type ConversionDefinition = {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly source: string
}

const mediaType = 'application/vnd.dspconversiondefinition.v1+json'

/** The headers that name the client, the profile and the advertiser account, with the kind of content. */
export const accountHeaders = (context: ConnectorContext, type: string): Readonly<Record<string, string>> => ({
  accept: type,
  'content-type': type,
  'amazon-advertising-api-clientid': clientIdOf(context),
  'amazon-advertising-api-scope': textIn(context.secrets.apiScope) ?? '',
  'amazon-ads-accountid': textIn(context.secrets.accountId) ?? '',
})

/** The path of the conversion definitions of the advertiser account. */
export const definitionsPath = ({ secrets }: ConnectorContext): string =>
  `/accounts/${encodeURIComponent(textIn(secrets.accountId) ?? '')}/dsp/conversionDefinitions`

/** Reads all conversion definitions of the advertiser account. */
export async function listDefinitions(
  context: ConnectorContext,
  client: PlatformClient,
): Promise<ConversionDefinition[]> {
  const definitions: ConversionDefinition[] = []
  const read = async (nextToken: string | undefined) => {
    const { json } = await client.askObject({
      path: `${definitionsPath(context)}/list`,
      method: 'POST',
      repeatable: true,
      headers: accountHeaders(context, mediaType),
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
