import { digest, each, listOf, nonEmptyText, objectOf, positiveNumber, wholeNumber } from '../../body-schema.ts'
import { header, keepFirst, startRoutes } from '../../platform-routes.ts'
import type { PlatformServer } from '../../platform-server.ts'

/** Example Connector, written from its published documentation. It refuses events named `Refused`. */
export type ExampleConnectorServer = PlatformServer & { readonly events: Map<string, Record<string, unknown>> }

const event = objectOf(
  {
    ...each('name id currency', nonEmptyText),
    time: wholeNumber,
    user: objectOf({ email: digest }),
    value: positiveNumber,
  },
  ['name', 'id', 'time'],
)
const isBody = objectOf({ events: listOf(event) }, ['events'])

export async function startExampleConnector(): Promise<ExampleConnectorServer> {
  const events: ExampleConnectorServer['events'] = new Map()
  return startRoutes(
    {
      open: { 'GET /': { text: '' } },
      demands: [header('authorization', 'Bearer the-access-token', { status: 401, json: {} })],
      routes: {
        'POST /v1/data_sets/12345/events': ({ body }) => {
          const { events: all } = body as { events: { id: string; name: string }[] }
          if (!isBody(body) || all.some(({ name }) => name === 'Refused')) return { status: 400, json: {} }
          for (const one of all) keepFirst(events, one.id, one)
          return { json: { accepted: all.length } }
        },
      },
      unknown: { status: 404, json: {} },
    },
    { events },
  )
}
