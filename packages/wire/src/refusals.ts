import { type ErrorCode, errors } from './errors.ts'
import type { Operation } from './operation.ts'

/** Every operation can return these errors: they occur before the operation is known, or in the service itself. */
const always: readonly ErrorCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'stored_value_unreadable',
  'too_slow',
  'answer_too_large',
  'headers_too_large',
  'too_many_connections',
  'internal',
  'overloaded',
  'unavailable',
]

/**
 * Every error code that an operation can return: the codes that follow from its shape, and its own codes. In the order of the
 * table of errors, by status.
 */
export function refusalsOf(operation: Operation): ErrorCode[] {
  const { method, actsIn } = operation
  const namesResource = operation.path.includes('{id}')
  const codes = new Set([...always, ...(operation.refusals ?? [])])
  const add = (condition: boolean, ...more: ErrorCode[]) => {
    if (condition) for (const code of more) codes.add(code)
  }
  add(actsIn !== 'public', 'unauthorized', 'rate_limited')
  add(operation.scope !== undefined || operation.person === true, 'forbidden')
  add(actsIn !== 'public' && !operation.beforeSecondFactor, 'second_factor_required')
  add(actsIn !== 'public' && method !== 'GET', 'csrf_token_invalid')
  add(actsIn === 'account' || actsIn === 'organization or account', 'connector_unavailable')
  add(actsIn === 'account', 'account_required')
  add(actsIn === 'account' || actsIn === 'organization or account', 'organization_account_not_allowed', 'not_found')
  add(namesResource, 'not_found')
  // A body that the operation does not accept is also read before it is refused.
  add(method !== 'GET', 'payload_too_large', 'unsupported_media_type')
  add(operation.concurrency === 'if-match', 'precondition_failed')
  add(takesIdempotencyKey(operation), 'idempotency_key_reused')
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.has(code))
}

/** Whether an operation accepts an `Idempotency-Key`. */
export function takesIdempotencyKey(operation: Operation): boolean {
  return operation.method === 'POST' && writes(operation) && !operation.unrepeatable
}

/** Whether an operation runs in one transaction, because it changes something. */
export function writes({ method, actsIn, reads, ownTransaction }: Operation): boolean {
  return method !== 'GET' && actsIn !== 'public' && !reads && !ownTransaction
}
