import { asConnectorError } from '@penstock/connector'
import { type ErrorCode, errors, type FieldError, limits, type TransferError } from '@penstock/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAway, isTooSlow, TooManyBytes } from '../db/errors.ts'
import { ShareExhausted } from '../db/shares.ts'
import { Refusal } from '../refusal.ts'

/** Every error answer is made here: the envelope of section 2.1 around a refusal. */

/** When a client should come back after an answer of 503, or once its connections are too many. */
export const retrySeconds = 2

export type ErrorEnvelope = {
  statusCode: number
  statusMessage: string
  response: { error: ErrorCode; requestId: string; details: readonly FieldError[]; cause?: TransferError }
}

export function errorEnvelope(
  code: ErrorCode,
  requestId: string,
  fieldErrors: readonly FieldError[] = [],
  cause?: TransferError,
): ErrorEnvelope {
  const { status, message } = errors[code]
  return {
    statusCode: status,
    statusMessage: message,
    response: {
      error: code,
      requestId,
      details: fieldErrors.slice(0, limits.fieldErrorsMax).map(shorten),
      ...(cause ? { cause } : {}),
    },
  }
}

/** An error can name a key of any length that the caller invented. A refusal must stay short. */
const shorten = ({ field, message }: FieldError): FieldError => ({
  field: field.length > limits.errorFieldLengthMax ? `${field.slice(0, limits.errorFieldLengthMax)}…` : field,
  message,
})

/** Answers with a refusal. */
export function replyRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status } = errors[refusal.code]
  if (status === 401 && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer')
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
  return reply.code(status).send(errorEnvelope(refusal.code, request.id, refusal.fieldErrors, refusal.cause))
}

/** Our codes for what Fastify refuses. Any other error of the client is an invalid request. */
const frameworkRefusals: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
}

/** Turns a thrown error into a refusal. Undefined if it is a defect of Penstock. */
export function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (isOutOfFiles(error)) return new Refusal('overloaded', [], retrySeconds)
  if (error instanceof ShareExhausted) return new Refusal('rate_limited', [], retrySeconds)
  if (error instanceof TooManyBytes) return new Refusal('answer_too_large', [])
  if (isTooSlow(error)) return new Refusal('too_slow', [])
  if (isAway(error)) return new Refusal('unavailable', [], retrySeconds)
  const missing = asConnectorError(error)
  if (missing?.code === 'connector_missing') {
    return new Refusal('connector_unavailable', [{ field: 'connector', message: missing.message }], retrySeconds)
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  const known = typeof code === 'string' ? frameworkRefusals[code] : undefined
  if (known) return new Refusal(known, [])
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Refusal('invalid_request', [{ field: 'body', message: 'cannot be read as JSON' }])
  }
  return undefined
}

/** Whether this process, or the machine, has reached its limit of open files and sockets. */
function isOutOfFiles(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOutOfFiles)
  const { code } = error as { code?: unknown }
  return code === 'EMFILE' || code === 'ENFILE'
}
