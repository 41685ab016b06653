import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { checkDatabase } from '../db/readiness.ts'
import { asTyped } from '../own-command.ts'

/** `/healthz`: this process runs. `/readyz`: it can serve, since the database is there and its schema is current. */
export function serveHealth(app: FastifyInstance, database: Database, isDraining: () => boolean): void {
  app.get('/healthz', { config: { operation: 'healthz', isProbe: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { operation: 'readyz', isProbe: true } }, async (_, reply) => {
    const problem = isDraining() ? 'The service is stopping.' : await checkDatabase(database)
    if (problem)
      return reply
        .code(503)
        .header('retry-after', '2')
        .send({ status: 'unavailable', problem: asTyped(problem) })
    return { status: 'ok' }
  })
}
