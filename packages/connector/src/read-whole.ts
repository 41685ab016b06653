import { ConnectorError } from './connector-error.ts'
import { egressBounds } from './egress/bounds.ts'

/**
 * Reads an answer to its end.
 * @param from name of the server, for the message: `Amazon S3`
 * @param bytesMax maximum bytes; 16 MiB by default
 * @throws `response_too_large`, errors of the egress, and the reason of the signal
 */
export async function readWhole(
  response: Response,
  from: string,
  bytesMax: number = egressBounds.answerBytes,
): Promise<Buffer> {
  // One buffer, because an answer can arrive in pieces of one byte.
  let whole = Buffer.allocUnsafe(16 << 10)
  let bytes = 0
  // Leaving the loop cancels the rest of the answer.
  for await (const piece of response.body ?? []) {
    if (bytes + piece.length > bytesMax) {
      const message = `${from} sent an answer of more than ${bytesMax} bytes, which is larger than expected. Check the address.`
      throw new ConnectorError('response_too_large', message)
    }
    if (bytes + piece.length > whole.length) {
      whole = Buffer.concat([whole.subarray(0, bytes)], Math.max(whole.length * 2, bytes + piece.length))
    }
    whole.set(piece, bytes)
    bytes += piece.length
  }
  return whole.subarray(0, bytes)
}
