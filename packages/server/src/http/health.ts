import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { checkDatabase } from '../db/readiness.ts'

/** `/healthz`: this process runs. `/readyz`: it can serve, since the database is there and its schema is current. */
export function serveHealth(app: FastifyInstance, database: Database, isDraining: () => boolean): void {
  app.get('/healthz', { config: { operation: 'healthz' } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { operation: 'readyz' } }, async (_, reply) => {
    const problem = isDraining() ? 'The service is stopping.' : await checkDatabase(database)
    if (problem) return reply.code(503).header('retry-after', '2').send({ status: 'unavailable', problem })
    return { status: 'ok' }
  })
}
