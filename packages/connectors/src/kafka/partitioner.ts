/** The hash of keys that the Java client has: MurmurHash2 with its seed. */
export function murmur2(bytes: Uint8Array): number {
  const multiply = 0x5bd1e995
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let hash = 0x9747b28c ^ bytes.length
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    let word = Math.imul(view.getInt32(at, true), multiply)
    word = Math.imul(word ^ (word >>> 24), multiply)
    hash = Math.imul(hash, multiply) ^ word
  }
  const rest = bytes.length - at
  if (rest === 3) hash ^= (bytes[at + 2] as number) << 16
  if (rest >= 2) hash ^= (bytes[at + 1] as number) << 8
  if (rest >= 1) hash = Math.imul(hash ^ (bytes[at] as number), multiply)
  hash = Math.imul(hash ^ (hash >>> 13), multiply)
  return hash ^ (hash >>> 15)
}

/** The partition of a message with this key. */
export const partitionOf = (key: Uint8Array, partitions: number): number => (murmur2(key) & 0x7fffffff) % partitions
