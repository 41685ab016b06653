import buildSerialiser from 'fast-json-stringify'
import type { FastifyInstance, FastifyReply } from 'fastify'

type Serialise = (value: unknown) => string

const made = new Map<unknown, Serialise>()

/**
 * Has replies serialised by their schemas (invariant 7), each by a function that is made when the schema is first needed.
 * Making all of them at the start, and that of a refusal twice for each operation, took it a fifth of its processor time.
 */
export function serialiseBySchema(app: FastifyInstance): void {
  app.setSerializerCompiler(({ schema }) => {
    let serialise: Serialise | undefined
    return (value) => {
      if (!serialise) {
        serialise = made.get(schema) ?? (buildSerialiser(schema as object) as Serialise)
        made.set(schema, serialise)
      }
      return serialise(value)
    }
  })
}

/** A frozen reply never changes, so it is serialised once, not for each request. */
const written = new WeakMap<object, Buffer>()

/** Sends an answer whose reply, the key, never changes. */
export function sendLasting(reply: FastifyReply, key: object, payload: unknown): FastifyReply {
  let bytes = written.get(key)
  if (!bytes) {
    bytes = Buffer.from(String(reply.serialize(payload)))
    written.set(key, bytes)
  }
  return reply.type('application/json; charset=utf-8').send(bytes)
}
