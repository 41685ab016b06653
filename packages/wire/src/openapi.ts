import about from '../package.json' with { type: 'json' }
import { answersOf, componentExamples, componentHeaders, componentResponses } from './openapi/answers.ts'
import { componentParameters, parametersOf, requestBodyOf } from './openapi/requests.ts'
import { componentSchemas, type Json } from './openapi/schemas.ts'
import { basePath, type Operation } from './operation.ts'
import { operations } from './operations.ts'

export { exampleRefusal } from './openapi/examples.ts'

const description = `Moves data between marketing, advertising and data platforms. An organization owns sub-accounts; connectors are added to a sub-account, configured, and paired in connections.

**Begin** with *Get an access token*, and send the token with every other request: \`Authorization: Bearer <token>\`.

**Answers** have an envelope: \`statusCode\` (equal to the HTTP status), \`statusMessage\` and \`response\`, the payload. Only the token travels without one.

**Refusals** use the same envelope. \`statusMessage\` says what happened and what to do, \`response.error\` is a code for programs, and \`response.details\` lists every field error of the request at once.

**Lists** are cut by \`size\` and \`offset\`. \`X-Total-Count\` is the number of entries, \`Link\` has the addresses of the other pages.

**Changes** can carry \`If-Match\` with the \`ETag\` that was read, so that no change is lost. **Repeated POSTs** can carry an \`Idempotency-Key\`, so that a retry does not create a second resource.

**Times** are Unix seconds. **Identifiers** are 16 lowercase hexadecimal characters. Unknown query parameters are ignored, unknown fields of a body are refused.`

const tags: { readonly [T in Operation['tag']]: string } = {
  Token: 'Authentication: a bearer token for client credentials.',
  Connectors: 'The catalogue, and the connectors that a sub-account has added and configured.',
  Accounts: 'The sub-accounts of the organization. Each has its own connectors and connections.',
  Connections: 'Pairs of a source connector and a destination connector.',
  Transfers: 'Transfers with their record counts, previews and schedules.',
  Reports: 'Volume by day and month.',
  Clients: 'Client credentials with scopes, and session tokens for one sub-account.',
  Audit: 'Who did what, when and from where.',
  Users: 'People with roles, how they sign in, and their sessions.',
}

/**
 * Builds the OpenAPI 3.1 document of the whole interface from the table of operations.
 * @param serverUrl where the service is reached, without a trailing slash
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
    security: [{ bearer: [] }, { session: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The `accessToken` of *Get an access token*.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-penstock_session',
          description:
            'The session of a person in a browser, from *Sign in*. The cookie is called `penstock_session` where the service is not reached by https at the root of a host. Requests that are not GET or HEAD also need the header `X-CSRF-Token`, from *Get who asks*.',
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
