import about from '../package.json' with { type: 'json' }
import { type EventType, eventSchema, events, eventTypeNames } from './events.ts'
import { answersOf, componentExamples, componentHeaders, componentResponses } from './openapi/answers.ts'
import { componentParameters, parametersOf, requestBodyOf } from './openapi/requests.ts'
import { componentSchemas, type Json, plain } from './openapi/schemas.ts'
import { basePath, type Operation } from './operation.ts'
import { operations } from './operations.ts'
import { scopes } from './scopes.ts'

export { exampleRefusal } from './openapi/examples.ts'

const description = `Moves data between marketing, advertising and data platforms. An organization owns sub-accounts; connectors are added to a sub-account, configured, and paired in connections.

**Begin** with *Get an access token*, and send the token with every other request: \`Authorization: Bearer <token>\`.

**Answers** have an envelope: \`statusCode\` (equal to the HTTP status), \`statusMessage\` and \`response\`, the payload. Only the response with the token has no envelope.

**Refusals** use the same envelope. \`statusMessage\` says what happened and what to do, \`response.error\` is a code for programs, and \`response.details\` lists all field errors of the request.

**Lists** have pages, with \`size\` and \`offset\`. \`X-Total-Count\` is the number of entries, and \`Link\` contains the addresses of the other pages. A search of connections counts up to 10,000: if there are more, \`Link\` has no last page.

**Changes** can carry \`If-Match\` with the \`ETag\` that you read, so that no change is lost. **Repeated POSTs** can carry an \`Idempotency-Key\`, so that a retry does not create a second resource.

**Times** are Unix seconds. **Identifiers** are 16 lowercase hexadecimal characters. Unknown query parameters are ignored, unknown fields of a body are refused.`

const tags: { readonly [T in Operation['tag']]: string } = {
  Token: 'Authentication: a bearer token for client credentials.',
  Connectors: 'The catalogue, and the connectors that a sub-account has added and configured.',
  Accounts: 'The sub-accounts of the organization. Each has its own connectors and connections.',
  Connections: 'Pairs of a source connector and a destination connector.',
  Transfers: 'Transfers with their record counts, previews and schedules.',
  Reports: 'Volume by day and month.',
  Clients: 'Client credentials with scopes, and session tokens for one sub-account.',
  Webhooks: 'Addresses to which events are sent, signed by Standard Webhooks, and their deliveries.',
  'Connect links': 'Single-use pages on which your customers configure connectors, and their branding.',
  Alerts: 'Rules that detect failures, their incidents, and messages about them.',
  Streams: 'Events that this service receives, as a source of connections, and the keys of their senders.',
  Uploads: 'Files that people upload, as a source of connections.',
  Audit: 'Who did what, when and from where.',
  Users: 'People with roles, how they sign in, and their sessions.',
}

/**
 * Builds the OpenAPI 3.1 document of the whole interface from the table of operations.
 * @param serverUrl public address of the service, without a trailing slash
 */
export function openApiDocument(serverUrl: string): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Penstock API',
      version: about.version,
      summary: about.description,
      description,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache License 2.0', identifier: about.license },
    },
    servers: [{ url: serverUrl, description: 'This service' }],
    externalDocs: {
      description: 'The connectors, their fields and their records',
      url: `${serverUrl}/docs/connectors`,
    },
    security: [{ bearer: [] }, { oauth2: [] }, { session: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: paths(),
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The `accessToken` of *Get an access token*.' },
        oauth2: {
          type: 'oauth2',
          description: 'The same token through OAuth 2.0 client credentials (RFC 6749), for libraries and tools.',
          flows: { clientCredentials: { tokenUrl: `${serverUrl}/oauth/token`, scopes } },
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-penstock_session',
          description:
            'The session of a person in a browser, from *Sign in*. If the address of the service has a path, the name ends with `-` and that path (`__Host-penstock_session-tools`); over plain http it has no `__Host-`. Requests that are not GET or HEAD also need the header `X-CSRF-Token`, from *Get the caller*.',
        },
      },
      schemas: componentSchemas(),
      parameters: componentParameters(),
      headers: componentHeaders,
      responses: componentResponses(Object.values(operations)),
      examples: componentExamples(),
    },
  }
}

function paths(): Json {
  const paths: Record<string, Json> = {}
  for (const [operationId, operation] of Object.entries<Operation>(operations)) {
    const path = basePath + operation.path
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operationId, operation) }
  }
  return paths
}

/** The requests that webhooks receive, one for each type of event. */
function webhooks(): Json {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })
  const parameters = [
    header('webhook-id', 'Identifier of the event: the same in every attempt and every replay'),
    header('webhook-timestamp', 'When the request was signed, Unix time in seconds'),
    header(
      'webhook-signature',
      'Signatures by Standard Webhooks, separated by spaces: `v1,` and HMAC-SHA256 in base64',
    ),
  ]
  const requestOf = (type: EventType) => ({
    post: {
      operationId: `receive ${type}`.replaceAll(/[ ._](\w)/g, (_, letter: string) => letter.toUpperCase()),
      tags: ['Webhooks'],
      summary: events[type].when,
      description: `Sent to webhooks that receive the type \`${type}\`.`,
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema: plain(eventSchema(type)) } } },
      responses: { '2XX': { description: 'Accepted. After any other status, the event is sent again' } },
    },
  })
  return Object.fromEntries(eventTypeNames.map((type) => [type, requestOf(type)]))
}

function describe(operationId: string, operation: Operation): Json {
  const { exactlyOne, actsIn, scope, person, tag, summary } = operation
  const choice = exactlyOne ? ` Give exactly one of ${exactlyOne.map((name) => `\`${name}\``).join(' and ')}.` : ''
  const parameters = parametersOf(operation)
  const requestBody = requestBodyOf(operation)
  return {
    operationId,
    tags: [tag],
    summary,
    description: operation.description + choice + (scope ? ` Requires the scope \`${scope}\`.` : ''),
    ...(actsIn === 'public' ? { security: [] } : person ? { security: [{ session: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody ? { requestBody } : {}),
    responses: answersOf(operation),
  }
}
