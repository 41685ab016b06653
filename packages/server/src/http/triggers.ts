import { identifierPattern, limits, type Transfer } from '@penstock/wire'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuse } from '../refusal.ts'
import { clientAddressOf } from './client-address.ts'
import { readIdempotencyKey } from './idempotency.ts'

/**
 * The addresses of triggers, at which `POST` starts a transfer. They are no operations: the secret in the address is the credential,
 * and the body can be anything, such as the payload of a webhook.
 */

/** Uses a trigger. The module of transfers implements it, and refuses. */
export type UseTrigger = (request: {
  readonly id: string
  readonly secret: string
  readonly body: Buffer
  readonly authorization: string | undefined
  readonly idempotencyKey: string | undefined
  readonly address: string
  readonly requestId: string
}) => Promise<{ readonly transfer: Transfer } | { readonly ignored: string }>

const wellFormedId = new RegExp(identifierPattern)
const bodyBytesMax = limits.bodyBytesMax

/** Serves `POST /trigger/{id}/{secret}`. Answers 202 with the transfer, or 200 if the event starts none. */
export function serveTriggers(app: FastifyInstance, use: UseTrigger): void {
  // A separate scope, because no other address accepts every media type.
  void app.register(async (own) => {
    own.removeAllContentTypeParsers()
    own.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: bodyBytesMax },
      async (_: FastifyRequest, body: Buffer) => body,
    )
    own.post<{ Params: { id: string; secret: string } }>(
      '/trigger/:id/:secret',
      { config: { operation: 'useTrigger' } },
      async (request, reply) => {
        const { id, secret } = request.params
        if (!wellFormedId.test(id)) refuse('not_found')
        const result = await use({
          id,
          secret,
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
          authorization: request.headers.authorization,
          idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']?.toString()),
          address: clientAddressOf(request),
          requestId: request.id,
        })
        const isStarted = 'transfer' in result
        const statusCode = isStarted ? 202 : 200
        const statusMessage = isStarted ? 'Transfer started' : 'No transfer started'
        const response = isStarted
          ? { started: true, transferId: result.transfer.id, connectionId: result.transfer.connectionId }
          : { started: false, reason: result.ignored }
        return reply.code(statusCode).send({ statusCode, statusMessage, response })
      },
    )
  })
}
