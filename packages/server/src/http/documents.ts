import { basePath } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import type { FastifyInstance } from 'fastify'

/** What people and their tools read: the contract, its pages, a page for each connector and platform, and the logos. */
export function serveDocuments(app: FastifyInstance, publicUrl: string): void {
  const contract = openApiDocument(publicUrl)
  app.get(`${basePath}/openapi.json`, { config: { operation: 'openapi' } }, async () => contract)
}
