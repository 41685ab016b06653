import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { limits } from '@penstock/wire'
import { refuse } from '../refusal.ts'
import { commonPasswords } from './common-passwords.ts'

/**
 * Passwords as argon2id digests, in the PHC string format: the parameters stand in each, so that they can be raised. People
 * with the same e-mail address in several organizations have the same salt: one run of argon2id answers for all of them, and
 * its time does not say how many there are.
 */

export type Parameters = { readonly memoryKib: number; readonly passes: number; readonly lanes: number }
/** OWASP Password Storage Cheat Sheet, argon2id. */
const recommended: Parameters = { memoryKib: 19_456, passes: 2, lanes: 1 }
const saltBytes = 16
const digestBytes = 32

/** Concurrent digests. Each takes a thread of the pool, which file access and DNS lookups need too. */
const atOnce = 2
/** Requests that wait for a digest, in total and from one address. More requests are refused. */
const waitingMax = 100
const waitingOfAddressMax = 10

export type Passwords = {
  /**
   * @param like a digest for the same e-mail address, whose salt is reused; undefined if there is no such digest
   * @param address the network address of the caller
   */
  digest(password: string, like: string | undefined, address: string): Promise<string>
  /** Which of the digests match the password. Without digests, it does the same work. */
  matches(password: string, digests: readonly string[], address: string): Promise<boolean[]>
  /** Whether a digest was made with other parameters than digests are made with now. */
  isOutdated(digest: string): boolean
}

const compute = promisify(argon2)

type Parsed = Parameters & { readonly salt: Buffer; readonly digest: Buffer }
const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

function parse(text: string): Parsed {
  const [, memoryKib, passes, lanes, salt, digest] = phc.exec(text) ?? []
  if (salt === undefined || digest === undefined) throw new Error('A stored password digest cannot be read')
  return {
    memoryKib: Number(memoryKib),
    passes: Number(passes),
    lanes: Number(lanes),
    salt: Buffer.from(salt, 'base64'),
    digest: Buffer.from(digest, 'base64'),
  }
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const print = ({ memoryKib, passes, lanes, salt, digest }: Parsed): string =>
  `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(digest)}`

export const hasSameSalt = (one: string, other: string): boolean => parse(one).salt.equals(parse(other).salt)

/** @param parameters how much work a digest is */
export function createPasswords(parameters: Parameters = recommended): Passwords {
  /** Digest that a password is compared with if the person has no digest. */
  const noDigest: Parsed = { ...parameters, salt: randomBytes(saltBytes), digest: randomBytes(digestBytes) }
  let running = 0
  const waiting: { readonly address: string; readonly go: () => void }[] = []
  const inTurn = async <T>(address: string, work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      const ofAddress = waiting.filter((one) => one.address === address).length
      if (waiting.length >= waitingMax || ofAddress >= waitingOfAddressMax) refuse('rate_limited', [], 1)
      await new Promise<void>((go) => waiting.push({ address, go }))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next.go()
      else running--
    }
  }
  const run = (
    password: string,
    { memoryKib, passes, lanes, salt }: Omit<Parsed, 'digest'>,
    address: string,
  ): Promise<Buffer> =>
    inTurn(address, () =>
      compute('argon2id', {
        message: Buffer.from(password.normalize('NFKC')),
        nonce: salt,
        memory: memoryKib,
        passes,
        parallelism: lanes,
        tagLength: digestBytes,
      }),
    )
  return {
    async digest(password, like, address) {
      const made = { ...parameters, salt: like === undefined ? randomBytes(saltBytes) : parse(like).salt }
      return print({ ...made, digest: await run(password, made, address) })
    },
    async matches(password, digests, address) {
      const parsed = digests.map(parse)
      const kindOf = ({ memoryKib, passes, lanes, salt }: Parsed) =>
        [memoryKib, passes, lanes, salt.toString('base64')].join()
      const kinds = Map.groupBy(parsed.length > 0 ? parsed : [noDigest], kindOf)
      const computed = new Map<string, Buffer>()
      for (const [kind, [first = noDigest]] of kinds) computed.set(kind, await run(password, first, address))
      return parsed.map((one) => timingSafeEqual(computed.get(kindOf(one)) ?? noDigest.digest, one.digest))
    },
    isOutdated(digest) {
      const { memoryKib, passes, lanes } = parse(digest)
      return memoryKib !== parameters.memoryKib || passes !== parameters.passes || lanes !== parameters.lanes
    },
  }
}

/**
 * Error of a new password. Undefined if it is valid. The rules are from NIST SP 800-63B: a minimum length, no common passwords,
 * and no rules about kinds of characters.
 */
export function errorOfPassword(
  password: string,
  { email, organizationName }: { email: string; organizationName: string },
): string | undefined {
  const normal = password.normalize('NFKC')
  const length = [...normal].length
  if (length < limits.passwordLengthMin || length > limits.passwordLengthMax) {
    return `must have ${limits.passwordLengthMin} to ${limits.passwordLengthMax} characters`
  }
  const lower = normal.toLowerCase()
  const trimmed = lower.replaceAll(/[^\p{L}]+/gu, '')
  if (commonPasswords.has(lower) || /^(.{1,4})\1+.{0,3}$/su.test(lower)) return 'is too common: pick another one'
  for (const known of [email, email.split('@')[0] ?? '', organizationName]) {
    const letters = known.toLowerCase().replaceAll(/[^\p{L}]+/gu, '')
    if (lower === known.toLowerCase() || (letters !== '' && trimmed === letters)) {
      return 'must not be your e-mail address or the name of your organization: pick another one'
    }
  }
  return undefined
}
