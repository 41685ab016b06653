import buildSerialiser from 'fast-json-stringify'
import type { FastifyInstance, FastifyReply } from 'fastify'

type Serialise = (value: unknown) => string

const made = new Map<unknown, Serialise>()

/**
 * Serialises replies by their schemas (invariant 7), each by a function that is created when the schema is first needed.
 * Creating all of them at the start, and the function of a refusal twice for each operation, took a fifth of the start's
 * processor time.
 */
export function serialiseBySchema(app: FastifyInstance): void {
  app.setSerializerCompiler(({ schema }) => {
    let serialise: Serialise | undefined
    return (value) => {
      if (!serialise) {
        serialise = made.get(schema) ?? (buildSerialiser(withNullable(schema) as object) as Serialise)
        made.set(schema, serialise)
      }
      return serialise(value)
    }
  })
}

/**
 * The schema with `nullable` instead of a union with null. The library generates code for `nullable`. For every other union it
 * compiles a validator, which took longer than the rest of a serialiser, and validates every value twice.
 */
function withNullable(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(withNullable)
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, withNullable(value)]),
  )
  if (!Array.isArray(anyOf)) return anyOf === undefined ? rest : { ...rest, anyOf }
  const others = anyOf.filter(({ type }) => type !== 'null')
  return others.length === 1 && anyOf.length === 2 ? { ...rest, ...others[0], nullable: true } : { ...rest, anyOf }
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
