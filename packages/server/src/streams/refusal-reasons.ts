import type { StreamRefusal } from '@penstock/wire'
import { Refusal } from '../refusal.ts'

/** Why a request with events was refused, for people who look at the stream. Undefined for other kinds of errors. */
export function reasonOf(error: unknown): StreamRefusal | undefined {
  if (!(error instanceof Refusal)) return undefined
  const field = error.fieldErrors[0]?.field
  switch (error.code) {
    case 'unauthorized':
      return field === 'signature' ? 'bad_signature' : 'wrong_key'
    case 'forbidden':
      return field === 'address' ? 'wrong_address' : 'wrong_origin'
    case 'not_found':
      return 'turned_off'
    case 'rate_limited':
      return field === 'storage' ? 'storage_full' : field === 'key' ? 'busy' : 'over_rate'
    case 'topic_unavailable':
      return 'topic_unavailable'
    case 'overloaded':
      return 'busy'
    case 'payload_too_large':
      return 'too_large'
    case 'unsupported_media_type':
      return 'wrong_media_type'
    case 'invalid_request':
      return 'invalid_body'
    default:
      return undefined
  }
}
