import { digest, each, listOf, nonEmptyText, objectOf, oneOf } from '../../body-schema.ts'
import {
  type Asked,
  changeMembers,
  entityRoute,
  header,
  jsonBodies,
  onlyAt,
  pageOf,
  startRoutes,
} from '../../platform-routes.ts'
import type { PlatformServer, Reply } from '../../platform-server.ts'

/** Example Connector, written from its published documentation. It refuses digests that begin with `99999999`. */
export type ExampleConnectorServer = PlatformServer & { readonly audiences: Audience[] }

type Audience = { readonly id: string; readonly name: string; readonly members: Set<string> }

const isAudience = objectOf({ name: nonEmptyText }, ['name'])
const isChange = objectOf({ operation: oneOf('add remove'), people: listOf(objectOf(each('email phone', digest))) }, [
  'operation',
  'people',
])
const refusal = (status: number): Reply => ({ status, json: { message: 'may quote jane@example.com' } })

export async function startExampleConnector(): Promise<ExampleConnectorServer> {
  const audiences: Audience[] = []
  const shown = ({ id, name }: Audience) => ({ id, name })
  const account = '/v1/accounts/12345'
  return startRoutes(
    {
      open: { 'GET /': { text: '' } },
      demands: [
        header('authorization', 'Bearer the-access-token', refusal(401)),
        onlyAt(/^\/v1\/accounts\/([^/]+)/, '12345', refusal(403)),
        jsonBodies(refusal(415)),
      ],
      routes: {
        'GET /v1/me': { json: { id: '1' } },
        [`GET ${account}`]: { json: { id: '12345' } },
        [`GET ${account}/audiences`]: ({ query }) => {
          const { page, next } = pageOf(audiences, query.get('cursor'))
          return { json: { audiences: page.map(shown), ...(next !== undefined && { next: String(next) }) } }
        },
        [`POST ${account}/audiences`]: ({ body }) => {
          if (!isAudience(body)) return refusal(400)
          const made = { id: String(700 + audiences.length), name: String(body.name), members: new Set<string>() }
          audiences.push(made)
          return { json: shown(made) }
        },
        [`GET ${account}/audiences/{id}`]: entityRoute(audiences, refusal(404), (one) => ({ json: shown(one) })),
        [`POST ${account}/audiences/{id}/members`]: entityRoute(audiences, refusal(404), change),
      },
      unknown: refusal(404),
    },
    { audiences },
  )
}

function change({ members }: Audience, { body }: Asked): Reply {
  const { operation, people } = body as { operation: string; people: Record<string, string>[] }
  if (!isChange(body) || people.some((one) => Object.values(one).some((text) => text.startsWith('99999999')))) {
    return refusal(400)
  }
  changeMembers(
    members,
    operation === 'add',
    people.map((one) => JSON.stringify(one)),
  )
  return { json: { accepted: people.length } }
}
