import type { FastifyInstance } from 'fastify'
import type { IdentityTokens } from '../identity-tokens/identity-tokens.ts'

/** How long others may keep these documents, in seconds. A key is published for longer than that before it signs. */
const keptSeconds = 300

/**
 * Serves the documents by which clouds verify identity tokens (OpenID Connect Discovery 1.0, section 4; RFC 7517). This service
 * has no other part of OpenID Connect.
 */
export function serveIdentityTokens(app: FastifyInstance, { issuer, keys }: IdentityTokens): void {
  const config = { operation: 'identityTokens' }
  const headers = { 'cache-control': `public, max-age=${keptSeconds}` }
  const provider = {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    // Required by the standard. Nobody signs in here: jobs get their tokens in this service.
    authorization_endpoint: `${issuer}/oauth/authorize`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'],
  }
  app.get('/.well-known/openid-configuration', { config }, (_, reply) => reply.headers(headers).send(provider))
  app.get('/.well-known/jwks.json', { config }, async (_, reply) => reply.headers(headers).send({ keys: await keys() }))
}
