/// <reference path="./bcrypt-pbkdf.d.ts" />
import { createDecipheriv, createHash, type DecipherGCM } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import bcrypt from 'bcrypt-pbkdf'

/** An encrypted OpenSSH key, in its parts. */
export type LockedKey = {
  /** As the file names it: `aes256-ctr`. */
  readonly cipher: string
  readonly salt: Buffer
  /** How often the passphrase is mixed. */
  readonly rounds: number
  /** The encrypted content, and its authentication tag if the cipher has one. */
  readonly content: Buffer
  readonly proof: Buffer
}

/** The ciphers that ssh-keygen encrypts with, as OpenSSL calls them, with the bytes of their keys. */
const ciphers: Readonly<Record<string, readonly [name: string, keyBytes: number, ivBytes: number]>> = {
  'aes128-ctr': ['aes-128-ctr', 16, 16],
  'aes192-ctr': ['aes-192-ctr', 24, 16],
  'aes256-ctr': ['aes-256-ctr', 32, 16],
  'aes128-cbc': ['aes-128-cbc', 16, 16],
  'aes192-cbc': ['aes-192-cbc', 24, 16],
  'aes256-cbc': ['aes-256-cbc', 32, 16],
  'aes128-gcm@openssh.com': ['aes-128-gcm', 16, 12],
  'aes256-gcm@openssh.com': ['aes-256-gcm', 32, 12],
  '3des-cbc': ['des-ede3-cbc', 24, 8],
}

/**
 * Decrypts the private part of an OpenSSH key. The library could do so, but would block everything else for seconds. Here,
 * other work gets its turn after each round.
 * @returns undefined if the passphrase does not decrypt it, or if its cipher is unknown
 * @throws the reason of the signal when it is aborted
 */
export async function unlock(
  { cipher, salt, rounds, content, proof }: LockedKey,
  passphrase: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const [name, keyBytes, ivBytes] = ciphers[cipher] ?? []
  if (name === undefined || keyBytes === undefined || ivBytes === undefined || passphrase === '') return undefined
  const made = await derive(passphrase, salt, keyBytes + ivBytes, rounds, signal)
  try {
    const decipher = createDecipheriv(name, made.subarray(0, keyBytes), made.subarray(keyBytes)).setAutoPadding(false)
    if (name.endsWith('gcm')) (decipher as DecipherGCM).setAuthTag(proof)
    const opened = Buffer.concat([decipher.update(content), decipher.final()])
    // The same random number twice: only the right key makes them equal.
    return opened.subarray(0, 4).equals(opened.subarray(4, 8)) ? opened : undefined
  } catch {
    return undefined
  }
}

const sha512 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The function `bcrypt_pbkdf` of OpenBSD: blocks of 32 bytes, whose bytes are spread over the result. */
async function derive(passphrase: string, salt: Buffer, bytes: number, rounds: number, signal: AbortSignal) {
  const derived = Buffer.alloc(bytes)
  const stride = Math.ceil(bytes / bcrypt.HASHSIZE)
  const password = sha512(Buffer.from(passphrase))
  for (let block = 0; block < stride; block++) {
    const number = Buffer.alloc(4)
    number.writeUInt32BE(block + 1)
    const mixed = Buffer.alloc(bcrypt.HASHSIZE)
    const last = Buffer.alloc(bcrypt.HASHSIZE)
    for (let round = 0; round < rounds; round++) {
      bcrypt.hash(password, round === 0 ? sha512(salt, number) : sha512(last), last)
      for (let at = 0; at < mixed.length; at++) mixed[at] = (mixed[at] ?? 0) ^ (last[at] ?? 0)
      await setImmediate()
      signal.throwIfAborted()
    }
    for (let at = 0; at * stride + block < bytes && at < mixed.length; at++)
      derived[at * stride + block] = mixed[at] ?? 0
  }
  return derived
}
