import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { LookUp } from '../kit/lookup-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { keyOf, openAnswer, sealRequest } from './envelope.ts'
import { type Identifier, type IdentityItem, identifiers, resultOf } from './identity-items.ts'

/** Opens the identity map: one request has the values of all kinds, each kind answered in its order. */
export function openMap(short: string, client: PlatformClient, { secrets }: ConnectorContext): LookUp<IdentityItem> {
  const key = keyOf(secrets.clientSecret)
  return async (items) => {
    const places = Map.groupBy(items.keys(), (at) => items[at]?.by ?? 'email')
    const values = (by: Identifier) => (places.get(by) ?? []).map((at) => items[at]?.value ?? '')
    const sealed = sealRequest(key, Object.fromEntries(identifiers.map((by) => [by, values(by)])), Date.now())
    const { text, bytesSent: bytes } = await client.ask({
      method: 'POST',
      path: '/v3/identity/map',
      headers: { 'content-type': 'text/plain' },
      body: sealed.text,
      repeatable: true,
    })
    const opened = openAnswer(key, sealed, text)
    const body = objectIn(opened.body ?? opened)
    const results = new Array<ReturnType<typeof resultOf>>(items.length)
    for (const [by, of] of places) {
      const answered = listIn(body[by])
      if (answered.length !== of.length) throw incomplete(short)
      for (const [n, at] of of.entries()) results[at] = resultOf(short, answered[n])
    }
    return { bytes, results: results.map((one) => one ?? incompleteOne(short)) }
  }
}

const incomplete = (short: string): ConnectorError =>
  new ConnectorError('malformed_response', `${short} did not return an answer for each value.`)

function incompleteOne(short: string): never {
  throw incomplete(short)
}
