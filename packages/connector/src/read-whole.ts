import { ConnectorError } from './connector-error.ts'
import { egressBounds } from './egress/bounds.ts'

/**
 * Reads an answer to its end.
 * @param from who answers, for the message: `Amazon S3`
 * @param bytesMax bytes that it may have; 16 MiB unless said otherwise
 * Throws `response_too_large`, what the egress throws, and the reason of the signal.
 */
export async function readWhole(
  response: Response,
  from: string,
  bytesMax: number = egressBounds.answerBytes,
): Promise<Buffer> {
  // One buffer, since an answer can come in as many pieces as it has bytes.
  let whole = Buffer.allocUnsafe(16 << 10)
  let bytes = 0
  // Leaving the loop cancels what is still to come.
  for await (const piece of response.body ?? []) {
    if (bytes + piece.length > bytesMax) {
      const message = `${from} sent an answer of more than ${bytesMax} bytes, which is larger than any that it should send. Check the address.`
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
