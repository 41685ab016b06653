import { createHash } from 'node:crypto'

const blockBytes = 4 << 20

/** Dropbox's hash of a content: SHA-256 of the SHA-256 of each 4 MiB, in hexadecimal digits. */
export function contentHash(bytes: Uint8Array): string {
  const whole = createHash('sha256')
  for (let at = 0; at < bytes.length; at += blockBytes) {
    whole.update(
      createHash('sha256')
        .update(bytes.subarray(at, at + blockBytes))
        .digest(),
    )
  }
  return whole.digest('hex')
}
