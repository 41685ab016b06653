import { scopeNames } from '@penstock/wire'
import type { FastifyInstance } from 'fastify'
import { createLinks } from '../documents/links.ts'
import { answerPage, type BrowserPage } from './browser-pages.ts'

/** The documents by which OAuth clients find out where tokens are issued, and for what. */

const serverPath = '/.well-known/oauth-authorization-server'
const resourcePath = '/.well-known/oauth-protected-resource'

/** The address of the metadata of `/mcp` (RFC 9728), which a client without a valid token is sent to. */
export const mcpResourceMetadataUrl = (publicUrl: string): string => `${publicUrl}${resourcePath}/mcp`

/**
 * Serves the metadata of the authorization server (RFC 8414), and of the API and `/mcp` as protected resources (RFC 9728).
 * If the public URL has a path, the documents are there with the path at the end as well: these RFCs put `/.well-known`
 * between the host and the path, and a proxy can send such addresses here.
 */
export function serveOauthMetadata(app: FastifyInstance, publicUrl: string): void {
  const links = createLinks(publicUrl)
  const config = { operation: 'oauthMetadata' }
  const server = {
    issuer: publicUrl,
    // Without a grant type that uses it, it is not required, but the MCP SDK refuses metadata without it.
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    token_endpoint: `${publicUrl}/oauth/token`,
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    scopes_supported: scopeNames,
    service_documentation: `${publicUrl}/docs/guides/access`,
  }
  // Without `scopes_supported`: MCP clients ask for all that are listed, which clients with fewer scopes cannot have.
  const resource = (url: string, name: string, guide: string) => ({
    resource: url,
    resource_name: name,
    authorization_servers: [publicUrl],
    bearer_methods_supported: ['header'],
    resource_documentation: `${publicUrl}/docs/guides/${guide}`,
  })
  const api = resource(publicUrl, 'Penstock API', 'access')
  const mcp = resource(`${publicUrl}/mcp`, 'Penstock MCP server', 'mcp')
  for (const path of new Set(['', links.contract('')])) {
    app.get(`${serverPath}${path}`, { config }, async () => server)
    app.get(`${resourcePath}${path}`, { config }, async () => api)
    app.get(`${resourcePath}${path}/mcp`, { config }, async () => mcp)
  }
  app.get('/oauth/authorize', { config }, (_, reply) =>
    answerPage<BrowserPage>(
      reply,
      links,
      { refusedTitle: signInPage.title, pageOf: () => signInPage },
      async () => signInPage,
    ),
  )
}

/** For the person that a client sends here although no response type is supported. */
const signInPage: BrowserPage = {
  status: 400,
  title: 'No sign-in for applications',
  message:
    'This service issues tokens to client credentials only. Create client credentials, and enter them in the application that sent you here.',
  next: undefined,
}
